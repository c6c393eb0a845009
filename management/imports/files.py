"""Functions that read records from CSV, JSON lines and JSON documents."""

import csv
import os
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from typing import IO, Any, Final

import orjson
from django.utils.translation import gettext_noop, ngettext_lazy

from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from management.imports.records import ImportFile, Place, Record, Unreadable

_COLUMNS: Final = ngettext_lazy(
    "must have %(count)s column, like the heading", "must have %(count)s columns, like the heading", "count"
)
MAX_DOCUMENT: Final = 256 * 1024 * 1024  # bytes
_MAX_LINE: Final = 1024 * 1024  # bytes
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def first_character(path: ImportFile) -> str:
    """Return the first character of a file that is not white space. It distinguishes JSON from CSV."""
    with path.open("rb") as file:
        return file.read(1024).removeprefix(_BYTE_ORDER_MARK).lstrip()[:1].decode(errors="replace")


def json_lines(path: ImportFile) -> Iterator[Record]:
    """Yield the object of each line. Empty lines are skipped, but the line numbers count them."""
    row = 0
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            if line is not None and not line.strip():
                continue
            row += 1
            yield _parse_line(Place(path.name, row, number), line)


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield each line; None for a line that is too long."""
    while line := file.readline(_MAX_LINE):
        if line.endswith(b"\n") or len(line) < _MAX_LINE:
            yield line.removeprefix(_BYTE_ORDER_MARK)
            continue
        while (rest := file.readline(_MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _parse_line(place: Place, line: bytes | None) -> Record:
    if line is None:
        return Record(place, refusal=Invalid("line", gettext_noop("must be at most 1 MiB")))
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return Record(place, refusal=Invalid("line", gettext_noop("must be JSON")))
    return _new_record(place, value)


def _new_record(place: Place, value: Any) -> Record:
    if not isinstance(value, dict):
        return Record(place, refusal=Invalid("line", gettext_noop("must be a JSON object")))
    return Record(place, value)


def document(path: ImportFile) -> Any:
    """Return a JSON document. Parsing takes about six times its size in memory.

    Raises:
        Unreadable: the file is larger than 256 MiB, or is not JSON.

    """
    try:
        return orjson.loads(content(path).removeprefix(_BYTE_ORDER_MARK))
    except orjson.JSONDecodeError as error:
        raise Unreadable(
            fill(
                gettext_noop("%(file)s is not JSON: line %(line)s, column %(column)s"),
                file=path.name,
                line=error.lineno,
                column=error.colno,
            )
        ) from None


def content(path: ImportFile) -> bytes:
    """Return the content of a file.

    Raises:
        Unreadable: the file is larger than 256 MiB.

    """
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) > MAX_DOCUMENT:
            raise Unreadable(
                fill(
                    gettext_noop("%(file)s is larger than 256 MiB: export fewer users per file"),
                    file=path.name,
                )
            )
        file.seek(0)
        return file.read()


def items(path: ImportFile, values: Any) -> Iterator[Record]:
    """Yield the items of a list in a JSON document as records.

    Raises:
        Unreadable: the value is not a list.

    """
    if not isinstance(values, list):
        raise Unreadable(
            fill(gettext_noop("%(file)s has no list of users: check the format"), file=path.name)
        )
    for number, value in enumerate(values, 1):
        yield _new_record(Place(path.name, number), value)


def csv_rows(path: ImportFile, columns: Sequence[str] | None = None) -> Iterator[Record]:
    """Yield the rows of a CSV file, without their empty cells. ``columns`` replaces a missing heading.

    Raises:
        Unreadable: the heading is missing or cannot be read.

    """
    with _open_csv(path) as file:
        reader = csv.reader(file)
        names = _read_heading(path, reader, columns)
        row = 0
        while True:
            row += 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield Record(
                    Place(path.name, row, reader.line_num),
                    refusal=Invalid("line", gettext_noop("must be CSV")),
                )
                continue
            if cells:
                yield _parse_row(
                    Place(path.name, row, reader.line_num), names, cells, has_heading=columns is None
                )


def csv_heading(path: ImportFile) -> list[str]:
    """Return the names of the columns of a CSV file.

    Raises:
        Unreadable: the heading is missing or cannot be read.

    """
    with _open_csv(path) as file:
        return _read_heading(path, csv.reader(file), None)


def _open_csv(path: ImportFile) -> TextIOWrapper:
    return TextIOWrapper(path.open("rb"), encoding="utf-8-sig", errors="surrogateescape", newline="")


def _read_heading(path: ImportFile, reader: Iterator[list[str]], columns: Sequence[str] | None) -> list[str]:
    try:
        names = list(columns or next(reader, []))
    except csv.Error:
        raise Unreadable(fill(gettext_noop("%(file)s is not CSV"), file=path.name)) from None
    if not names:
        raise Unreadable(
            fill(gettext_noop("%(file)s has no heading with the names of the columns"), file=path.name)
        )
    if not _is_utf8(names):
        raise Unreadable(fill(gettext_noop("%(file)s is not UTF-8: save it as CSV UTF-8"), file=path.name))
    return names


def _is_utf8(cells: list[str]) -> bool:
    return not any("\udc80" <= sign <= "\udcff" for cell in cells for sign in cell)


def _parse_row(place: Place, names: list[str], cells: list[str], *, has_heading: bool) -> Record:
    if has_heading and len(cells) != len(names):
        return Record(place, refusal=Invalid("line", fill(_COLUMNS, count=len(names))))
    value = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
    if not _is_utf8(cells):
        return Record(place, value, refusal=Invalid("line", gettext_noop("must be UTF-8")))
    return Record(place, value)
