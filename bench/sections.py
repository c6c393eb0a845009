"""The sections of docs/performance.md: each program writes its own, and leaves the others as they are."""

import re
from pathlib import Path
from typing import Final

import stage

TEMPLATE: Final = stage.BENCH / "page.md"
PAGE: Final = stage.ROOT / "docs" / "performance.md"
_SECTION: Final = re.compile(r"<!-- ([a-z]+) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def merged(template: str, page: str, new: dict[str, str]) -> str:
    """Return the page with new sections: prose from the template, all other sections as the page has them."""
    sections = {name: body.strip() for name, body in _SECTION.findall(page)} | new
    return _SECTION.sub(
        lambda found: f"<!-- {found[1]} -->\n{sections.get(found[1], found[2].strip())}\n<!-- end -->\n",
        template,
    )


def write(**new: str) -> Path:
    """Put these sections into the page."""
    page = PAGE.read_text() if PAGE.exists() else ""
    PAGE.write_text(merged(TEMPLATE.read_text(), page, new))
    return PAGE
