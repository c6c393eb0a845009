"""Checks of the implementation and the Linux setting on which the time of a password hash depends."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.core.checks import CheckMessage, Info, Warning  # noqa: A004 - Django's name

from identity.core.doctor_checks import doctor_check
from identity.users import argon2_avx2, argon2_functions, hashing_process

# Linux, Documentation/admin-guide/mm/transhuge.rst: the current mode is in brackets.
_HUGE_PAGES: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@doctor_check
def password_hashing() -> Iterator[CheckMessage]:
    """Report which implementation of Argon2id hashes passwords, and how it could be faster."""
    engine = hashing_process.find_engine()
    is_slower = engine != argon2_functions.AVX2 and argon2_avx2.is_supported()
    yield Info(
        f"passwords are hashed with {engine}",
        hint="run make argon2, then restart: hashing a password takes a third less CPU" if is_slower else "",
        id="machine.I002",
    )
    if engine == argon2_functions.AVX2:
        return
    if argon2_avx2.find() is not None:
        yield Warning(
            f"the build of Argon2id in {argon2_avx2.FOLDER} cannot be used",
            hint=f"remove {argon2_avx2.FOLDER}, run make argon2, then restart",
            id="machine.W001",
        )
    if _HUGE_PAGES.exists() and "[always]" not in _HUGE_PAGES.read_text():
        yield Info(
            "Linux gives huge pages only to programs that request them: hashing a password takes about 50% "
            "longer",
            hint=f"run echo always > {_HUGE_PAGES}, now and at every boot",
            id="machine.I001",
        )
