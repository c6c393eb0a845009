"""Checks of the implementation and the Linux setting on which the time of a password hash depends."""

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Final

from django.core.checks import CheckMessage, Info, Warning  # noqa: A004 - Django's name

from identity.core.doctor_checks import doctor_check
from identity.users import argon2_builds, argon2_functions, hashing_process

# Linux, Documentation/admin-guide/mm/transhuge.rst: the current mode is in brackets.
_HUGE_PAGES: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@doctor_check
def password_hashing() -> Iterator[CheckMessage]:
    """Report which implementation of Argon2id hashes passwords, and how it could be faster."""
    engine = hashing_process.find_engine()
    builds = argon2_builds.find_supported()
    faster = [*takewhile(lambda build: argon2_functions.describe_build(build.name) != engine, builds)]
    missing = [build.name for build in faster if not build.is_present()]
    yield Info(
        f"passwords are hashed with {engine}",
        hint=f"run make argon2, then restart: a build for {missing[0]} takes less CPU" if missing else "",
        id="machine.I002",
    )
    for build in faster:
        if build.is_present():
            yield Warning(
                f"the build of Argon2id in {build.folder} cannot be used",
                hint=f"remove {build.folder}, run make argon2, then restart",
                id="machine.W001",
            )
    if engine != argon2_functions.LIBSODIUM:
        return
    if _HUGE_PAGES.exists() and "[always]" not in _HUGE_PAGES.read_text():
        yield Info(
            "Linux gives huge pages only to programs that request them: hashing a password takes about 50% "
            "longer",
            hint=f"run echo always > {_HUGE_PAGES}, now and at every boot",
            id="machine.I001",
        )
