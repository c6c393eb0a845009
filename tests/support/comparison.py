"""The notes that ``compared`` makes in the server of the run."""

from pathlib import Path
from typing import Any, Final

import orjson
from django.conf import settings

FILE: Final = "TEST_COMPARED_FILE"
SEEN: Final = Path(settings.VAR) / "compared.jsonl"


def lines() -> list[list[Any]]:
    """Return the notes: whether a surface answered a request, and the requests whose answers differed."""
    return [orjson.loads(line) for line in SEEN.read_bytes().splitlines()] if SEEN.exists() else []


def differences() -> list[list[Any]]:
    """Return the requests of this run that a surface and all steps answered differently."""
    return [line for line in lines() if line[0] == "differs"]
