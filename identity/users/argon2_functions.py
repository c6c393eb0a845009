"""The functions of the hashing process, which commands call in their own process.

The functions import their libraries when they are called. Workers call none, and save a megabyte each.
"""

from collections.abc import Callable
from typing import Final

LIBSODIUM: Final = "libsodium"


def call(name: str, *arguments: object) -> bool | str:
    """Call one of the functions by its name, and return its result."""
    return _FUNCTIONS[name](*arguments)


def use_build(name: str) -> None:
    """Verify with a build from now on. ``argon2_builds.load`` must have loaded the build of this name."""
    _FUNCTIONS.update(verify=_verify_with_argon2, engine=lambda: describe_build(name))


def describe_build(name: str) -> str:
    """Return what ``engine`` returns if the build of this name hashes."""
    return f"argon2-cffi, built for {name}"


def _verify(password: str, encoded: str) -> bool:
    # libsodium is faster than the wheel of argon2-cffi.
    from nacl import exceptions, pwhash  # noqa: PLC0415

    try:
        return bool(pwhash.verify(encoded.encode(), password.encode()))
    except exceptions.InvalidkeyError:
        return False


def _verify_with_argon2(password: str, encoded: str) -> bool:
    from argon2 import Type, exceptions, low_level  # noqa: PLC0415

    try:
        return low_level.verify_secret(encoded.encode(), password.encode(), Type.ID)
    except exceptions.VerificationError:
        return False


def _encode(password: str, salt: str, passes: int, memory: int, parallelism: int) -> str:
    from argon2 import Type, low_level  # noqa: PLC0415

    return low_level.hash_secret(
        password.encode(),
        salt.encode(),
        time_cost=passes,
        memory_cost=memory,
        parallelism=parallelism,
        hash_len=32,
        type=Type.ID,
    ).decode()


_FUNCTIONS: Final[dict[str, Callable[..., bool | str]]] = {
    "verify": _verify,
    "encode": _encode,
    "engine": lambda: LIBSODIUM,
}
