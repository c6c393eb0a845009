"""An uploaded file of users, and its import by the rules of ``import_users``."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from threading import Lock
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid, ServiceError
from identity.core.refusal_texts import fill
from identity.users.imported_hashes import REQUEST_BOUNDS
from management.imports import files, formats, own
from management.imports.formats import Format
from management.imports.importer import Importer, Options, Prepared, find_known
from management.imports.records import MemoryFile, Record, Unreadable

LARGEST: Final = 1_000_000  # bytes, below the limit on the body of a form
MOST_USERS: Final = 2_000  # one transaction, and some seconds of a request

Report = dict[str, Any]
# Checks and imports occupy a thread for seconds. A limit leaves threads for other requests.
_PLACES: Final = 2
_lock: Final = Lock()
_holders: Final[set[str]] = set()  # the administrators who have a place


class Busy(ServiceError):
    """This process checks or imports other files."""

    status = 503
    reason = "overloaded"
    message = gettext_noop("Other files are being checked or imported. Try again in a few seconds.")


class OwnImportRuns(Busy):
    """This process checks or imports another file of the same administrator."""

    status = 409
    reason = "import_running"
    message = gettext_noop(
        "Another file of yours is being checked or imported. Wait until that has finished, then try again."
    )


@contextmanager
def reserve(administrator_id: str) -> Iterator[None]:
    """Reserve a place for a check or an import. An administrator can have one, so others can import too.

    Raises:
        OwnImportRuns: the administrator has a place.
        Busy: all places are taken.

    """
    with _lock:
        if administrator_id in _holders:
            raise OwnImportRuns
        if len(_holders) >= _PLACES:
            raise Busy
        _holders.add(administrator_id)
    try:
        yield
    finally:
        with _lock:
            _holders.remove(administrator_id)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, and how to import it."""

    name: str
    content: bytes = field(repr=False)  # may contain password hashes
    format: str
    source: str
    drop_unknown_hashes: bool = False
    password_file: bytes = field(default=b"", repr=False)

    def dump(self) -> dict[str, Any]:
        """Return the upload as JSON values."""
        encoded = {
            name: base64.b64encode(getattr(self, name)).decode() for name in ("content", "password_file")
        }
        return asdict(self) | encoded


def load(stored: dict[str, Any]) -> Upload:
    """Return an upload from the result of its ``dump``."""
    decoded = {name: base64.b64decode(stored[name]) for name in ("content", "password_file")}
    return Upload(**stored | decoded)


@dataclass(frozen=True, slots=True)
class PreparedImport:
    """The valid users of a file, which are not stored yet."""

    upload: Upload
    importer: Importer
    users: Prepared
    problems: list[dict[str, Any]]

    @property
    def has_secrets(self) -> bool:
        """Whether users of the file have authenticators."""
        return self.importer.has_secrets

    def store(self) -> Report:
        """Store the users, unless it is a dry run, and return the numbers and the problems."""
        self.importer.store(self.users)
        problems = sorted(self.problems, key=lambda problem: problem["row"])
        return {"file": self.upload.name, **asdict(self.importer.summary), "problems": problems}


def prepare(upload: Upload, *, dry_run: bool = False) -> PreparedImport:
    """Return the valid users of a file.

    Raises:
        Invalid: the file cannot be read, or has no users or too many.

    """
    format_, records = _read(upload)
    problems: list[dict[str, Any]] = []
    options = Options(
        source=upload.source,
        dry_run=dry_run,
        drop_unknown_hashes=upload.drop_unknown_hashes,
        bounds=REQUEST_BOUNDS,
    )
    known = find_known(format_, records, upload.source)
    importer = Importer(format_, options, problems.append, known)
    return PreparedImport(upload, importer, importer.prepare(records), problems)


def _read(upload: Upload) -> tuple[Format, list[Record]]:
    format_ = _get_format(upload)
    try:
        # Messages begin with the name, and the form capitalizes the first word.
        file = MemoryFile(fill(gettext_noop("the file")), upload.content)
        if upload.format == "csv":
            _check_heading(file)
        records = list(islice(format_.read(file), MOST_USERS + 1))
    except Unreadable as refusal:
        raise Invalid("file", refusal.message) from None
    if not records:
        raise Invalid("file", gettext_noop("has no users."))
    if len(records) > MOST_USERS:
        raise Invalid(
            "file", gettext_noop("has more than 2,000 users. Use manage.py import_users for larger files.")
        )
    return format_, records


def _check_heading(file: MemoryFile) -> None:
    """Refuse an unknown column once, and not in each line.

    Raises:
        Invalid: a column is unknown.
        Unreadable: the heading is missing or cannot be read.

    """
    try:
        own.check_columns([name for name in files.csv_heading(file) if name])
    except Invalid as refusal:
        rule = gettext_noop("has an unknown column “%(name)s”; the columns are %(columns)s.")
        if refusal.field == own.LINE:
            rule = gettext_noop(
                "needs a first line with the names of its columns, separated by commas; the columns are "
                "%(columns)s."
            )
        raise Invalid("file", fill(rule, name=refusal.field, columns=own.COLUMNS)) from None


def _get_format(upload: Upload) -> Format:
    other = (
        MemoryFile(fill(gettext_noop("Password file")), upload.password_file)
        if upload.password_file
        else None
    )
    try:
        return formats.get_format(
            upload.format,
            firebase_parameters=other if upload.format == "firebase" else None,
            auth0_passwords=other if upload.format == "auth0" else None,
        )
    except Unreadable as refusal:
        raise Invalid("password_file", refusal.message) from None
