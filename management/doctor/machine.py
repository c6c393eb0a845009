"""The check of a Linux setting that slows down password hashing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.core.checks import CheckMessage, Info

from identity.core.doctor_checks import doctor_check

# Linux, Documentation/admin-guide/mm/transhuge.rst: the current mode is in brackets.
_HUGE_PAGES: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@doctor_check
def huge_pages() -> Iterator[CheckMessage]:
    """Check that Linux gives huge pages to the 19 MiB that hashing a password takes."""
    if _HUGE_PAGES.exists() and "[always]" not in _HUGE_PAGES.read_text():
        yield Info(
            "Linux gives huge pages only to programs that request them: hashing a password takes about 50% "
            "longer",
            hint=f"run echo always > {_HUGE_PAGES}, now and at every boot",
            id="machine.I001",
        )
