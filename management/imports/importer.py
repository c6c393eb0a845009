"""The import of records as users, in batches, with a report of problems."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_noop
from rest_framework.exceptions import ParseError, ValidationError

from identity.core.errors import Invalid
from identity.core.refusal_texts import translate
from identity.factors import authenticators
from identity.factors.authenticators import ImportedSecret
from identity.users import importing
from identity.users.imported_hashes import IMPORT_BOUNDS, Bounds
from identity.users.importing import Traits
from identity.users.models import User
from identity.users.serializers import ImportedUserSerializer
from management.api import parsers
from management.imports.formats import Format
from management.imports.records import ForeignUser, LeftOut, Place, Record

_QUOTED: Final = 128  # characters of a foreign id that a report repeats
_OF_ANOTHER_USER: Final = gettext_noop(
    "belongs to another imported user: for a file of another system, use --source, or Source on the site; "
    "if all identifiers of this user have changed since, there is nothing to do"
)


@dataclass(slots=True)
class Summary:
    """The result of an import, in numbers of users."""

    imported: int = 0
    present: int = 0  # imported earlier
    refused: int = 0
    left_out: int = 0  # accounts that are not users, for example service accounts
    without_password: int = 0  # imported, but with an unsupported hash
    without_hash: int = 0  # imported, and the file has no hash


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with a record, for the report. It quotes no values, because they may be secret."""

    file: str
    row: int
    line: int | None
    id: str
    outcome: str
    field: str
    rule: str


@dataclass(frozen=True, slots=True)
class Options:
    """The options of an import."""

    source: str
    batch: int = 500
    dry_run: bool = False
    drop_unknown_hashes: bool = False
    bounds: Bounds = IMPORT_BOUNDS


Prepared = list[tuple[User, Record]]


class Importer:
    """Imports records of one format into the active tenant."""

    def __init__(
        self,
        format_: Format,
        options: Options,
        report: Callable[[dict[str, Any]], None],
        known: dict[str, Traits] | None = None,
    ) -> None:
        """``known`` are users who were imported before, by id: all of them, or those among the records."""
        self.summary = Summary()
        self._format, self._options, self._report = format_, options, report
        self._known = importing.get_imported_users(options.source) if known is None else known
        self._checker = ImportedUserSerializer()
        self._secrets: dict[UUID, list[ImportedSecret]] = {}  # by the id of an unsaved user
        self._dropped: set[UUID] = set()  # ids of unsaved users whose hash is unsupported
        # The identifiers of earlier records: a dry run does not find them in the database.
        self._seen = importing.HeldKeys()

    def run(self, records: Iterable[Record]) -> Iterator[Summary]:
        """Import the records, and yield the summary after each batch is stored.

        Raises:
            Unreadable: the rest of a file cannot be read. Earlier batches stay imported.

        """
        remaining = iter(records)
        while batch := list(islice(remaining, self._options.batch)):
            self.store(self.prepare(batch))
            yield self.summary

    def prepare(self, batch: Iterable[Record]) -> Prepared:
        """Return the unsaved users of records, and report the records that have none."""
        return [(user, record) for record in batch if (user := self._new_user(record)) is not None]

    @property
    def has_secrets(self) -> bool:
        """Whether users that are prepared and not stored yet have authenticators."""
        return bool(self._secrets)

    def store(self, prepared: Prepared) -> None:
        """Insert users in one transaction, and report those whose identifiers another user has."""
        places = {user.pk: record for user, record in prepared}
        people = [user for user, _ in prepared]
        if self._options.dry_run:
            _, refused = importing.split_conflicts(people, self._seen)
        else:
            refused = self._insert(people)
        for user, refusal in refused:
            foreign_id = user.custom_data[importing.MARK]["id"]
            self._known.pop(foreign_id, None)
            self._report_problem(places[user.pk].place, foreign_id, "refused", refusal)
        self.summary.refused += len(refused)
        self.summary.imported += len(people) - len(refused)
        self._count_missing_passwords(people, {user.pk for user, _ in refused})
        self._secrets.clear()
        self._dropped.clear()

    def _count_missing_passwords(self, people: list[User], refused: set[UUID]) -> None:
        without = {user.pk for user in people if not user.password} - refused
        self.summary.without_password += len(without & self._dropped)
        self.summary.without_hash += len(without - self._dropped)

    @transaction.atomic
    def _insert(self, people: list[User]) -> list[tuple[User, Invalid]]:
        refused = importing.add(people)
        refused_ids = {user.pk for user, _ in refused}
        owners = [(user, self._secrets.pop(user.pk)) for user in people if user.pk in self._secrets]
        authenticators.add_imported((user, secrets) for user, secrets in owners if user.pk not in refused_ids)
        return refused

    def _new_user(self, record: Record) -> User | None:
        """Return the unsaved user of a record; None, with a report of the reason, if there is none."""
        foreign_id = ""
        try:
            if record.refusal is not None:
                raise record.refusal
            foreign_id = self._format.find_id(record.value)
            foreign = self._format.to_user(record.value)
            if foreign_id in self._known:
                self._check_same(foreign)
                self.summary.present += 1
                return None
            user = self._validate(foreign, record.place)
        except LeftOut as left_out:
            self.summary.left_out += 1
            self._report_problem(record.place, foreign_id, "left_out", Invalid("user", str(left_out)))
            return None
        except Invalid as refusal:
            self.summary.refused += 1
            self._report_problem(record.place, foreign_id, "refused", refusal)
            return None
        self._known[foreign_id] = importing.get_traits(foreign.fields)
        return user

    def _check_same(self, foreign: ForeignUser) -> None:
        """Check that a user is the imported one with the same id, as far as identifiers show.

        Raises:
            Invalid: the two have nothing in common, so the file is from another system.

        """
        if foreign.has_unique_id:
            return
        stored, sent = self._known[foreign.id], importing.get_traits(foreign.fields)
        if stored and sent and set(stored).isdisjoint(sent):
            raise Invalid("id", _OF_ANOTHER_USER)

    def _validate(self, foreign: ForeignUser, place: Place) -> User:
        encoded, dropped = "", None
        fields = _validate_fields(self._checker, foreign.fields)
        secrets = foreign.secrets()
        try:
            encoded = foreign.encoded(self._options.bounds) if foreign.encoded else ""
            user = self._build_user(fields, foreign, encoded)
        except Invalid as refusal:
            if not self._options.drop_unknown_hashes or refusal.field != "password_hash":
                raise
            dropped = refusal
            user = self._build_user(fields | {"password_hash": ""}, foreign, "")
        if dropped is not None:
            self._dropped.add(user.pk)
            self._report_problem(place, foreign.id, "without_password", dropped)
        if secrets:
            user.two_step = True
            self._secrets[user.pk] = secrets
        return user

    def _build_user(self, fields: dict[str, Any], foreign: ForeignUser, encoded: str) -> User:
        return importing.new_imported_user(
            fields,
            source=self._options.source,
            foreign_id=foreign.id,
            encoded=encoded,
            bounds=self._options.bounds,
        )

    def _report_problem(self, place: Place, foreign_id: str, outcome: str, refusal: Invalid) -> None:
        problem = Problem(
            str(place.file), place.row, place.line, foreign_id[:_QUOTED], outcome, refusal.field,
            translate(refusal.rule),
        )  # fmt: skip
        self._report({name: value for name, value in asdict(problem).items() if value is not None})


def find_known(format_: Format, records: Iterable[Record], source: str) -> dict[str, Traits]:
    """Return the traits of users who were imported before and are among the records, by their ids."""
    ids: set[str] = set()
    for record in records:
        if record.refusal is None:
            with suppress(LeftOut, Invalid):
                ids.add(format_.to_user(record.value).id)
    return importing.get_imported_users(source, set(filter(importing.is_id, ids)))


def _validate_fields(checker: ImportedUserSerializer, fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields that satisfy the rules of the management API.

    Raises:
        Invalid: a field breaks a rule.

    """
    try:
        parsers.check({name: value for name, value in fields.items() if name != "created_at"})
        checked: dict[str, Any] = checker.run_validation(fields)
    except ValidationError as error:
        name, rules = (
            next(iter(error.detail.items())) if isinstance(error.detail, dict) else ("line", error.detail)
        )
        while isinstance(rules, dict):
            rules = next(iter(rules.values()))
        raise Invalid(name, str(rules[0] if isinstance(rules, list) else rules).rstrip(".")) from None
    except ParseError as error:
        name, _, rule = str(error.detail).partition(": ")
        raise Invalid(name if rule else "line", rule or name) from None
    return checked
