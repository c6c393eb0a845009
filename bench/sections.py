"""The generated sections of pages, and the files of single runs in bench/results."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.processes import BENCH, ROOT

PAGE: Final = ROOT / "docs" / "performance.md"
RESULTS: Final = BENCH / "results"
_SECTION: Final = re.compile(r"<!-- ([a-z]+) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def merged(page: str, new: dict[str, str]) -> str:
    """Return the page with the new sections in place of those with the same names."""
    return _SECTION.sub(
        lambda match: f"<!-- {match[1]} -->\n{new.get(match[1], match[2].strip())}\n<!-- end -->\n", page
    )


def update_page(page: Path = PAGE, /, **sections: str) -> None:
    """Replace these sections of a page, docs/performance.md by default, and keep all other text."""
    page.write_text(merged(page.read_text(), sections))
    print(f"Wrote {page.relative_to(ROOT)}.")


def write_result(name: str, title: str, text: str) -> str:
    """Write the results of a run to a file of today; return its link for the page."""
    date = datetime.now(tz=UTC).date().isoformat()
    path = RESULTS / f"{date}-{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"# {title}, {date}\n\n{text}\n")
    print(f"Wrote {path.relative_to(ROOT)}.")
    return f"../{path.relative_to(ROOT)}"
