"""Reading records from files: CSV and JSON lines one by one, a JSON document as a whole."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import orjson

from identity.core.errors import Invalid
from management.imports.records import Place, Raw, Unreadable

MAX_DOCUMENT: Final = 256 * 1024 * 1024  # bytes
_MAX_LINE: Final = 1024 * 1024  # bytes
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def begins_with(path: Path) -> str:
    """Return the first character that is not white space; ``[`` and ``{`` begin JSON."""
    with path.open("rb") as file:
        return file.read(1024).removeprefix(_BYTE_ORDER_MARK).lstrip()[:1].decode(errors="replace")


def json_lines(path: Path) -> Iterator[Raw]:
    """Yield the object of each line. Empty lines are skipped, but count in line numbers."""
    row = 0
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            if line is not None and not line.strip():
                continue
            row += 1
            yield _object(Place(path.name, row, number), line)


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield lines, and None for a line that is too long."""
    while line := file.readline(_MAX_LINE):
        if line.endswith(b"\n") or len(line) < _MAX_LINE:
            yield line.removeprefix(_BYTE_ORDER_MARK)
            continue
        while (rest := file.readline(_MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _object(place: Place, line: bytes | None) -> Raw:
    if line is None:
        return Raw(place, refusal=Invalid("line", "must be at most 1 MiB"))
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return Raw(place, refusal=Invalid("line", "must be JSON"))
    return _checked(place, value)


def _checked(place: Place, value: Any) -> Raw:
    if not isinstance(value, dict):
        return Raw(place, refusal=Invalid("line", "must be a JSON object"))
    return Raw(place, value)


def document(path: Path) -> Any:
    """Read a JSON document, which takes memory of about six times its size.

    Raises:
        Unreadable: the file is larger than 256 MiB, or is not JSON.

    """
    if path.stat().st_size > MAX_DOCUMENT:
        raise Unreadable(f"{path.name} is larger than 256 MiB: export fewer users per file")
    try:
        return orjson.loads(path.read_bytes().removeprefix(_BYTE_ORDER_MARK))
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"{path.name} is not JSON: line {error.lineno}, column {error.colno}") from None


def items(path: Path, values: Any) -> Iterator[Raw]:
    """Yield the items of a list in a document.

    Raises:
        Unreadable: the value is not a list.

    """
    if not isinstance(values, list):
        raise Unreadable(f"{path.name} has no list of users where the format has one")
    for number, value in enumerate(values, 1):
        yield _checked(Place(path.name, number), value)


def csv_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Raw]:
    """Yield rows of CSV, named by ``columns`` or by the heading. Empty cells are left out.

    Raises:
        Unreadable: the heading is missing.

    """
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file)
        named = list(columns or next(reader, []))
        if not named:
            raise Unreadable(f"{path.name} has no heading")
        row = 0
        while True:
            row += 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield Raw(Place(path.name, row, reader.line_num), refusal=Invalid("line", "must be CSV"))
                continue
            if cells:
                yield _named(Place(path.name, row, reader.line_num), named, cells, exact=columns is None)


def _named(place: Place, names: list[str], cells: list[str], *, exact: bool) -> Raw:
    if exact and len(cells) != len(names):
        return Raw(place, refusal=Invalid("line", f"must have {len(names)} columns, like the heading"))
    value = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
    if any("\udc80" <= sign <= "\udcff" for cell in cells for sign in cell):
        return Raw(place, value, refusal=Invalid("line", "must be UTF-8"))
    return Raw(place, value)
