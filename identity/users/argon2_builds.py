"""The builds of argon2-cffi-bindings for newer processors, which ``make argon2`` and the image add.

The wheel must run on every x86-64 processor, so it uses neither AVX2 nor AVX-512. Each build requires a level
of the x86-64 psABI.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PACKAGE: Final = "_argon2_cffi_bindings"
_CPUINFO: Final = Path("/proc/cpuinfo")
# What x86-64-v3 adds to x86-64-v2, and x86-64-v4 to x86-64-v3. Linux writes ``abm`` for LZCNT.
_V3: Final = frozenset({"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"})
_V4: Final = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
# From test.c of the reference implementation: password, salt, its hash with 256 KiB and two passes.
_PASSWORD: Final = b"password"
_SALT: Final = b"somesalt"
_HASH: Final = b"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"


class UnusableBuild(RuntimeError):
    """The build computes wrong hashes, or Python imports something else in its place."""


@dataclass(frozen=True, slots=True)
class Build:
    """A build, the folder that may contain it, and the flags of a processor that can run it."""

    name: str
    folder: Path
    flags: frozenset[str]

    def is_present(self) -> bool:
        """Return whether the folder contains a build."""
        return (self.folder / _PACKAGE).is_dir()


# The fastest first. docs/deployment/build-argon2.sh makes them.
BUILDS: Final = (
    Build("AVX-512", Path(sys.prefix) / "argon2-avx512", _V4),
    Build("AVX2", Path(sys.prefix) / "argon2-avx2", _V3),
)


def find_supported() -> list[Build]:
    """Return the builds that the processor can run, the fastest first; none on systems other than Linux."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", _CPUINFO.read_text(), re.MULTILINE)
    except OSError:
        return []
    if flags is None:
        return []
    supported = set(flags[1].split())
    return [build for build in BUILDS if supported >= build.flags]


def find_present() -> list[Build]:
    """Return the builds that are there and that the processor can run, the fastest first."""
    return [build for build in find_supported() if build.is_present()]


def load(folder: Path) -> None:
    """Make ``argon2`` use the build in a folder. Call this before anything imports ``argon2``.

    Raises:
        ImportError: the build cannot be imported.
        UnusableBuild: the build does not work.

    """
    sys.path.insert(0, str(folder))
    from argon2 import Type, low_level  # noqa: PLC0415 - it must be imported from the folder

    if not Path(sys.modules[_PACKAGE].__file__ or "").is_relative_to(folder):
        raise UnusableBuild("argon2 was imported from another folder")
    hashed = low_level.hash_secret(
        _PASSWORD, _SALT, time_cost=2, memory_cost=256, parallelism=1, hash_len=32, type=Type.ID
    )
    if hashed != _HASH:
        raise UnusableBuild("it computes wrong hashes")
