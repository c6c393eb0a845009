"""What of the machine makes passwords slower to check than they have to be."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.core.checks import CheckMessage, Info

from identity.core.examination import examined

# Linux, Documentation/admin-guide/mm/transhuge.rst: the mode in use stands in brackets.
_HUGE_PAGES: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@examined
def huge_pages() -> Iterator[CheckMessage]:
    """Say whether the 19 MiB that a password takes come in few pages or in thousands."""
    if _HUGE_PAGES.exists() and "[always]" not in _HUGE_PAGES.read_text():
        yield Info(
            "Linux gives programs huge pages only when they ask: a password takes about half as long again",
            hint=f"echo always > {_HUGE_PAGES}, and have the machine do so when it starts",
            id="machine.I001",
        )
