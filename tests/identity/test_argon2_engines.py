"""Passwords are hashed with the fastest build of Argon2id that is there, runs on the processor, and works."""

import os
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import pytest

from identity.users import argon2_builds, argon2_functions, hashing_process, passwords
from tests.support import packages
from tests.support.cast import PASSWORD
from tests.support.doctor import examined

WHEEL = Path(str(find_spec("_argon2_cffi_bindings").origin)).parent  # type: ignore[union-attr]
BUILDS, CPUINFO = argon2_builds.BUILDS, argon2_builds._CPUINFO
FLAGS = "fpu sse2 ssse3 sse4_2 abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"
MORE_FLAGS = "avx512f avx512bw avx512cd avx512dq avx512vl"
# A stand-in for the build, which needs no compiler: another package around the wheel's library.
STAND_IN = f"__path__ = [{str(WHEEL)!r}]\nfrom ._ffi import ffi, lib\n"
WRONG = f"""
__path__ = [{str(WHEEL)!r}]
from ._ffi import ffi, lib as right
class lib:
    def __getattr__(self, name):
        return getattr(right, name)
    def argon2_hash(self, passes, *others):
        return right.argon2_hash(passes + 1, *others)
lib = lib()
"""


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hash in processes, as a server does, and note nothing about builds that failed before."""
    monkeypatch.setattr(hashing_process, "_enabled", Event())
    monkeypatch.setattr(hashing_process, "_failed_builds", set())
    hashing_process.enable()
    monkeypatch.setattr(passwords, "_queue", passwords.HashingQueue(running=1, waiting=8))
    yield
    hashing_process.end_processes()


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What Linux says of the processor: it has AVX2, and not AVX-512."""
    cpuinfo = tmp_path / "cpuinfo"
    describe(cpuinfo, FLAGS)
    monkeypatch.setattr(argon2_builds, "_CPUINFO", cpuinfo)
    return cpuinfo


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, processor: Path) -> dict[str, Path]:
    """Where the builds are expected, by name. They are not there."""
    builds = tuple(replace(build, folder=tmp_path / build.folder.name) for build in BUILDS)
    monkeypatch.setattr(argon2_builds, "BUILDS", builds)
    return {build.name: build.folder for build in builds}


@pytest.fixture
def folder(folders: dict[str, Path]) -> Path:
    """Where the build for AVX2 is expected. It is not there."""
    return folders["AVX2"]


def describe(cpuinfo: Path, flags: str) -> None:
    cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {flags} smep\nbugs\t\t:\n")


def put(folder: Path, code: str) -> None:
    (folder / "_argon2_cffi_bindings").mkdir(parents=True)
    (folder / "_argon2_cffi_bindings" / "__init__.py").write_text(code)


@pytest.fixture(params=["a stand-in", "AVX2", "AVX-512"])
def build(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the only build, which the hashing processes use."""
    if request.param == "a stand-in":
        put(folder, STAND_IN)
        return "AVX2"
    [compiled] = [build for build in BUILDS if build.name == request.param]
    monkeypatch.setattr(argon2_builds, "BUILDS", (compiled,))
    monkeypatch.setattr(argon2_builds, "_CPUINFO", CPUINFO)
    if not argon2_builds.find_supported():
        pytest.skip("this processor cannot run it")
    if not compiled.is_present():
        if not os.environ.get("GATEHOUSE_THOROUGH"):
            pytest.skip("fetches packages: only with GATEHOUSE_THOROUGH=1, or after make argon2")
        elsewhere = replace(compiled, folder=packages.argon2_builds() / compiled.folder.name)
        monkeypatch.setattr(argon2_builds, "BUILDS", (elsewhere,))
    return compiled.name


class TestBuild:
    def test_it_hashes_if_it_is_there(self, build, processes):
        assert hashing_process.find_engine() == f"argon2-cffi, built for {build}"

    @pytest.mark.parametrize("password", [PASSWORD, "", "a\0b", "pässwörd 密码 🔑", "x" * 4096])
    def test_its_hashes_are_verified_by_the_others_and_theirs_by_it(self, build, processes, password):
        theirs = argon2_functions.call("encode", password, "a salt of any", 2, 19456, 1)
        its = hashing_process.encode(password, "a salt of any", (2, 19456, 1))

        assert its == theirs
        for name in ("_verify", "_verify_with_argon2"):
            verify = getattr(argon2_functions, name)
            assert (verify(password, its), verify(f"{password}x", its)) == (True, False)
        assert hashing_process.verify(password, str(theirs)) is True
        assert hashing_process.verify(f"{password}x", str(theirs)) is False

    @pytest.mark.parametrize(("kept", "more"), [(-1, ""), (None, "A"), (60, ""), (0, "")])
    def test_a_damaged_hash_is_of_no_password(self, build, processes, kept, more):
        stored = hashing_process.encode(PASSWORD, "a salt of any", (2, 19456, 1))

        assert hashing_process.verify(PASSWORD, f"{stored[:kept]}{more}") is False
        assert hashing_process.verify(PASSWORD, stored) is True

    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="page faults are read from /proc")
    def test_the_process_keeps_its_memory(self, build, processes):
        """Pages that are mapped for each hash cost as much time as a third of it."""
        hashing_process.verify(PASSWORD, hashing_process.encode(PASSWORD, "a salt of any", (2, 19456, 1)))
        faults = Path(f"/proc/{hashing_process._idle[-1].pid}/stat")
        before = int(faults.read_text().rpartition(")")[2].split()[7])

        hashing_process.encode(PASSWORD, "a salt of any", (2, 19456, 1))

        assert int(faults.read_text().rpartition(")")[2].split()[7]) - before < 1000


class TestOtherwise:
    def hash_and_verify(self) -> None:
        stored = passwords.hash_password(PASSWORD)
        assert passwords.verify(PASSWORD, stored) == (True, None)
        assert passwords.verify("wrong password", stored) == (False, None)

    def test_there_is_none(self, folder, processes, caplog):
        self.hash_and_verify()
        assert hashing_process.find_engine() == argon2_functions.LIBSODIUM
        assert not caplog.records

    @pytest.mark.parametrize("missing", FLAGS.split()[4:])
    def test_the_processor_cannot_run_it(self, folder, processes, processor, missing):
        put(folder, STAND_IN)
        describe(processor, " ".join(flag for flag in FLAGS.split() if flag != missing))

        assert argon2_builds.find_present() == []

    def test_a_processor_without_avx2_uses_libsodium(self, folder, processes, processor, caplog):
        put(folder, "raise SystemExit('it was tried')")
        describe(processor, FLAGS.replace(" avx2", ""))

        self.hash_and_verify()

        assert hashing_process.find_engine() == argon2_functions.LIBSODIUM
        assert not caplog.records

    @pytest.mark.parametrize("text", [None, "", "Features\t: fp asimd\n"])
    def test_what_says_nothing_of_the_processor_counts_as_no(self, folder, processor, text):
        put(folder, STAND_IN)
        processor.unlink()
        if text is not None:
            processor.write_text(text)

        assert argon2_builds.find_present() == []

    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            ("raise ImportError('compiled for something else')", "ImportError: compiled for something else"),
            ("raise SystemExit(3)", "its process ended with 3"),
            ("import os; os.kill(os.getpid(), 4)", "its process ended with -4"),
            ("ffi = lib = None", "AttributeError"),
            (WRONG, "it computes wrong hashes"),
            (
                "import sys; sys.path.pop(0); del sys.modules[__name__]; import " + WHEEL.name,
                "another folder",
            ),
        ],
        ids=["ImportError", "exit", "SIGILL", "empty", "wrong hashes", "another folder"],
    )
    def test_one_that_does_not_work_is_logged_once(self, folder, processes, caplog, code, reason):
        put(folder, code)

        self.hash_and_verify()
        hashing_process.end_processes()
        self.hash_and_verify()

        assert hashing_process.find_engine() == argon2_functions.LIBSODIUM
        [record] = caplog.records
        assert (record.name, record.levelname) == ("gatehouse.passwords", "ERROR")
        assert str(folder) in record.getMessage()
        assert reason in record.getMessage()


class TestFastest:
    """Two builds, of which the one for AVX-512 is faster."""

    @pytest.fixture(autouse=True)
    def both(self, folders, processes):
        for folder in folders.values():
            put(folder, STAND_IN)

    def test_a_processor_that_can_run_both_uses_the_faster_one(self, processor):
        describe(processor, f"{FLAGS} {MORE_FLAGS}")

        assert hashing_process.find_engine() == "argon2-cffi, built for AVX-512"

    @pytest.mark.parametrize("missing", MORE_FLAGS.split())
    def test_another_processor_uses_the_other_one(self, processor, missing):
        describe(processor, f"{FLAGS} {MORE_FLAGS}".replace(f" {missing}", ""))

        assert hashing_process.find_engine() == "argon2-cffi, built for AVX2"

    def test_if_it_does_not_work_the_other_one_is_used(self, folders, processor, address, caplog):
        describe(processor, f"{FLAGS} {MORE_FLAGS}")
        (folders["AVX-512"] / "_argon2_cffi_bindings" / "__init__.py").write_text(WRONG)

        assert hashing_process.find_engine() == "argon2-cffi, built for AVX2"
        [record] = caplog.records
        assert str(folders["AVX-512"]) in record.getMessage()
        found = examined()
        assert str(folders["AVX-512"]) in found["machine.W001"]["message"]
        assert found["machine.I002"]["fix"] == ""


class TestDoctor:
    def test_it_names_the_build(self, address, folder, processes):
        put(folder, STAND_IN)

        found = examined()

        assert found["machine.I002"]["message"] == "passwords are hashed with argon2-cffi, built for AVX2"
        assert not {"machine.I001", "machine.W001"} & set(found)

    def test_it_names_libsodium_and_how_to_build_the_other(self, address, folder, processes):
        found = examined()["machine.I002"]

        assert found["message"] == "passwords are hashed with libsodium"
        assert "make argon2" in found["fix"]

    def test_it_names_the_faster_build_that_is_missing(self, address, folder, processes, processor):
        put(folder, STAND_IN)
        describe(processor, f"{FLAGS} {MORE_FLAGS}")

        found = examined()

        assert found["machine.I002"]["message"] == "passwords are hashed with argon2-cffi, built for AVX2"
        assert found["machine.I002"]["fix"].startswith("run make argon2, then restart: a build for AVX-512")
        assert "machine.W001" not in found

    def test_it_promises_nothing_to_other_processors(self, address, folder, processes, processor):
        processor.unlink()

        assert examined()["machine.I002"]["fix"] == ""

    def test_it_warns_of_a_build_that_does_not_work(self, address, folder, processes):
        put(folder, "raise ImportError")

        found = examined()

        assert found["machine.I002"]["message"] == "passwords are hashed with libsodium"
        assert str(folder) in found["machine.W001"]["message"]
