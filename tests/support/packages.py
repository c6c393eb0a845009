"""Packages that only the interoperability tests need: as locked, fetched once, kept outside the project."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

LOCKS = Path(settings.BASE_DIR) / "tests/interop"
BUILD_ARGON2 = "docs/deployment/build-argon2.sh"
_CI = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")


def lacking(what: str, how: str) -> None:
    """Skip for want of something, or fail where nothing may be lacking."""
    if os.environ.get("GATEHOUSE_REQUIRE_ALL") == "1":
        pytest.fail(f"there is no {what}, and GATEHOUSE_REQUIRE_ALL=1 asks for it")
    pytest.skip(f"there is no {what} ({how})")


def node_modules() -> Path:
    """Return the folder of the packages of ``package-lock.json``."""
    if shutil.which("npm") is None:
        lacking("npm", "Debian: apt install npm")
    return _kept("npm", LOCKS / "package-lock.json", _npm) / "node_modules"


def nextjs() -> Path:
    """Return the folder of the packages of Next.js."""
    if shutil.which("npm") is None:
        lacking("npm", "Debian: apt install npm")
    return _kept("nextjs", LOCKS / "nextjs/package-lock.json", _nextjs) / "node_modules"


def directus() -> Path:
    """Return the folder of Directus and its packages. The first time takes minutes: some are compiled."""
    for program in ("npm", "g++", "make"):
        if shutil.which(program) is None:
            lacking(program, f"Debian: apt install {program}")
    return _kept("directus", LOCKS / "directus/package-lock.json", _directus)


def argon2_builds() -> Path:
    """Return the folder that contains the folders of the builds of Argon2id."""
    if shutil.which("gcc") is None:
        lacking("gcc", "Debian: apt install gcc libc6-dev")
    lock = Path(settings.BASE_DIR) / "requirements-argon2.lock"
    return _kept("argon2-builds", lock, _argon2)


def python() -> Path:
    """Return a Python that has the packages of ``requirements.lock``, and nothing else."""
    return _kept("python", LOCKS / "requirements.lock", _venv) / "bin/python"


def _kept(kind: str, lock: Path, install: Callable[[Path], None]) -> Path:
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gatehouse-interop"
    place = cache / f"{kind}-{digest}"
    if not (place / "complete").exists():
        cache.mkdir(parents=True, exist_ok=True)
        # Two runs may be at it at once. What is made elsewhere and moved is never seen half done.
        made = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=cache))
        install(made)
        (made / "complete").touch()
        try:
            made.rename(place)
        except OSError:
            shutil.rmtree(made)
    return place


def _npm(place: Path) -> None:
    _copy_locks(LOCKS, place)
    # Clients are here without the frameworks that they extend (next-auth without Next.js).
    _run([*_CI, "--legacy-peer-deps"], cwd=place)


def _nextjs(place: Path) -> None:
    _copy_locks(LOCKS / "nextjs", place)
    _run([*_CI], cwd=place, seconds=600)


def _directus(place: Path) -> None:
    _copy_locks(LOCKS / "directus", place)
    _run([*_CI], cwd=place, seconds=1200)
    # It needs these three to start, and the registry has them as sources.
    _run(["npm", "rebuild", "--silent", "argon2", "isolated-vm", "sqlite3"], cwd=place, seconds=1800)


def _copy_locks(source: Path, place: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(source / name, place)


def _argon2(place: Path) -> None:
    _run([sys.executable, "-m", "venv", "--without-pip", place])
    script, lock = (f"{settings.BASE_DIR}/{name}" for name in (BUILD_ARGON2, "requirements-argon2.lock"))
    _run(["sh", script, place / "bin/python", lock], seconds=600)


def _venv(place: Path) -> None:
    # It is moved afterwards, so of its programs only Python is good.
    lock: list[str | Path] = ["--require-hashes", "-r", LOCKS / "requirements.lock"]
    if shutil.which("uv"):
        _run([sys.executable, "-m", "venv", "--without-pip", place])
        _run(["uv", "pip", "install", "--quiet", "--python", place / "bin/python", *lock])
    else:
        _run([sys.executable, "-m", "venv", place])
        _run([place / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *lock])


def _run(command: list[str | Path], cwd: Path | None = None, seconds: int = 300) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=seconds)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def debian_version(package: str) -> str:
    """Return the version of a package of Debian, without what Debian added to it."""
    done = subprocess.run(
        ["/usr/bin/dpkg-query", "--show", "--showformat=${Version}", package],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.partition(":")[2].rpartition("-")[0] or done.stdout.rpartition("-")[0]
