"""Builds the documentation's site: gathers pages, has them rendered, and follows every link that came out.

The operations of the API were written to var/docs/operations before, by api.py, which needs Gatehouse itself.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import links
import pages

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = ROOT / "docs/site"
WORK: Final = ROOT / "var/docs"
SITE: Final = ROOT / "var/site"
_IF_THERE: Final = re.compile(r'# if there: ("(.+)",)')


def main() -> int:
    """Build var/site, or say what is wrong."""
    shutil.rmtree(WORK / "pages", ignore_errors=True)
    operations = WORK / "operations"
    shutil.copytree(operations, WORK / "pages/reference/api", ignore=shutil.ignore_patterns("*.txt"))
    problems = pages.gather(ROOT, WORK / "pages")
    problems += _configure(
        [f"reference/api/{name}" for name in (operations / "order.txt").read_text().split()]
    )
    if problems:
        return _refuse(problems)
    if subprocess.run(["zensical", "build", "--strict", "--clean"], cwd=WORK, check=False).returncode:  # noqa: S607 - of this environment
        return 1
    if problems := links.broken(WORK / "site"):
        return _refuse(problems)
    shutil.rmtree(SITE, ignore_errors=True)
    (WORK / "site").rename(SITE)
    print(f"The documentation is in {SITE.relative_to(ROOT)}/index.html")
    return 0


def _configure(operations: list[str]) -> list[str]:
    """Write the configuration; name the pages that the navigation promises and nobody wrote."""
    written = {str(path.relative_to(WORK / "pages")) for path in (WORK / "pages").rglob("*.md")}
    text = _IF_THERE.sub(
        lambda line: line[1] if line[2] in written else "", (HERE / "zensical.toml").read_text()
    )
    placed = set(_files(tomllib.loads(text)["project"]["nav"]))
    more = sorted(page for page in written - placed if not page.startswith(("reference/api/", "source/")))
    text = text.replace("# operations of the API", _lines(operations)).replace("# more", _lines(more))
    (WORK / "zensical.toml").write_text(text)
    return [f"the navigation names {page}, which is not there" for page in sorted(placed - written)]


def _files(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for inner in nav.values() if isinstance(nav, dict) else nav:
            yield from _files(inner)


def _lines(names: list[str]) -> str:
    return "\n        ".join(f'"{name}",' for name in names)


def _refuse(problems: list[str]) -> int:
    print("\n".join(problems), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
