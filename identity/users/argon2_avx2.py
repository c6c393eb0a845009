"""The build of argon2-cffi-bindings for processors with AVX2, which ``make argon2`` and the image add.

The wheel must run on every x86-64 processor, so it does not use AVX2. This build requires x86-64-v3.
"""

import re
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(sys.prefix) / "argon2-avx2"
_PACKAGE: Final = "_argon2_cffi_bindings"
_CPUINFO: Final = Path("/proc/cpuinfo")
# x86-64 psABI: what x86-64-v3 adds to x86-64-v2. Linux writes ``abm`` for LZCNT.
_FLAGS: Final = {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
# From test.c of the reference implementation: password, salt, its hash with 256 KiB and two passes.
_PASSWORD: Final = b"password"
_SALT: Final = b"somesalt"
_HASH: Final = b"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"


class UnusableBuild(RuntimeError):
    """The build computes wrong hashes, or Python imports something else in its place."""


def find() -> Path | None:
    """Return the folder of the build, or None if there is no build or the processor cannot run it."""
    return FOLDER if (FOLDER / _PACKAGE).is_dir() and is_supported() else None


def is_supported() -> bool:
    """Return whether the processor has the instructions of x86-64-v3; false on systems other than Linux."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", _CPUINFO.read_text(), re.MULTILINE)
    except OSError:
        return False
    return flags is not None and set(flags[1].split()) >= _FLAGS


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
