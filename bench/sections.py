"""The sections of docs/performance.md: each program writes its own, and leaves all else as it is."""

import re
from pathlib import Path
from typing import Final

import stage

PAGE: Final = stage.ROOT / "docs" / "performance.md"
_SECTION: Final = re.compile(r"<!-- ([a-z]+) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def merged(page: str, new: dict[str, str]) -> str:
    """Return the page with new sections in the place of those that have their names."""
    return _SECTION.sub(
        lambda found: f"<!-- {found[1]} -->\n{new.get(found[1], found[2].strip())}\n<!-- end -->\n", page
    )


def write(**new: str) -> Path:
    """Put these sections into the page."""
    PAGE.write_text(merged(PAGE.read_text(), new))
    return PAGE
