"""Records out of files: CSV and JSON lines one by one, a JSON document as a whole."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import orjson

from identity.core.errors import Invalid
from management.imports.records import Place, Raw, Unreadable

LARGEST_DOCUMENT: Final = 256 * 1024 * 1024  # bytes
_LONGEST_LINE: Final = 1024 * 1024  # bytes
_MARK: Final = b"\xef\xbb\xbf"


def begins_with(path: Path) -> str:
    """Return the first character that is no white space: ``[`` and ``{`` begin JSON."""
    with path.open("rb") as file:
        return file.read(1024).removeprefix(_MARK).lstrip()[:1].decode(errors="replace")


def json_lines(path: Path) -> Iterator[Raw]:
    """Read an object a line; empty lines count as lines alone."""
    row = 0
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            if line is not None and not line.strip():
                continue
            row += 1
            yield _object(Place(path.name, row, number), line)


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Return lines; none for one that is longer than a person can be."""
    while line := file.readline(_LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < _LONGEST_LINE:
            yield line.removeprefix(_MARK)
            continue
        while (rest := file.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _object(place: Place, line: bytes | None) -> Raw:
    if line is None:
        return Raw(place, refusal=Invalid("line", "must have at most 1 MiB"))
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
    """Read a JSON document, which takes about six times its size of memory.

    Raises:
        Unreadable: it has more than 256 MiB, or is no JSON.

    """
    if path.stat().st_size > LARGEST_DOCUMENT:
        raise Unreadable(f"{path.name} has more than 256 MiB: export fewer users a file")
    try:
        return orjson.loads(path.read_bytes().removeprefix(_MARK))
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"{path.name} is no JSON: line {error.lineno}, column {error.colno}") from None


def items(path: Path, values: Any) -> Iterator[Raw]:
    """Return what a list in a document holds.

    Raises:
        Unreadable: it is no list.

    """
    if not isinstance(values, list):
        raise Unreadable(f"{path.name} holds no list of users where one was expected")
    for number, value in enumerate(values, 1):
        yield _checked(Place(path.name, number), value)


def csv_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Raw]:
    """Read rows of CSV by the names of ``columns``, or of the first row. Empty cells are left out.

    Raises:
        Unreadable: there is no first row.

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
        return Raw(place, refusal=Invalid("line", f"must have {len(names)} columns, as the heading has"))
    value = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
    if any("\udc80" <= sign <= "\udcff" for cell in cells for sign in cell):
        return Raw(place, value, refusal=Invalid("line", "must be UTF-8"))
    return Raw(place, value)
