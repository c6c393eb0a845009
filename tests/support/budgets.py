"""What a request may cost in statements, by method and route: ``tests/budgets.tsv``."""

import re
from pathlib import Path
from typing import Final

from django.conf import settings

_PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")
_PAGE: Final = 4
TABLE = Path(settings.BASE_DIR) / "tests" / "budgets.tsv"
SEEN = Path(settings.VAR) / "statements.tsv"


def table() -> dict[str, int]:
    """Return how many statements each route may ask, by ``METHOD /route``."""
    return _read(TABLE)


def exceeded() -> list[str]:
    """Return which requests of this run cost more than their route may, or have no line."""
    allowed = table()
    paths: dict[str, int] = {}
    for route, statements in allowed.items():
        path = route.partition(" ")[2]
        paths[path] = max(statements, paths.get(path, 0))
    wrong = []
    for route, statements in sorted(_read(SEEN).items()):
        # A method that an address does not know is refused, with a page at most.
        others = paths.get(route.partition(" ")[2])
        most = allowed.get(route, -1 if others is None else max(others, _PAGE))
        if statements > most:
            wrong.append(f"{route}: {statements} statements, {most} in {TABLE.name}")
    return wrong


def _read(path: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        route, statements = _PARAMETER.sub(r":\1", line).rsplit("\t", 1)
        found[route] = max(int(statements), found.get(route, 0))
    return found
