"""Writing audit entries: ``record`` inside a transaction, ``attempt`` around an operation that may fail."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final
from uuid import UUID

from audit import context
from audit.events import Event
from audit.metrics import ENTRIES
from audit.models import Entry
from audit.typed_identifiers import TypedIdentifier
from database import chains, ids, rows
from database.chains import Chain
from database.statements import Insert

_MAX_TEXT: Final = 256
_MAX_ROWS: Final = 5_000  # in memory at once
INSERT: Final = Insert(Entry)


def record(
    event: Event,
    chain: Chain | None = None,
    /,
    *,
    user_id: UUID | str | None = None,
    application_id: UUID | str | None = None,
    about: object = None,
    **facts: object,
) -> None:
    """Write an entry in the transaction or the chain of the change that it records.

    ``user_id`` and ``application_id`` say who acted. ``about`` is the id of a user whose role or membership
    changed: the entry is then one of this user's (``of_subject``). Facts are JSON values and must not be
    secrets. Strings are cut to 256 characters.
    """
    write(new_entry(event, user_id=user_id, application_id=application_id, about=about, **facts), chain)


def write(new: Entry, chain: Chain | None = None) -> None:
    """Write an entry that ``new_entry`` built, with the other writes of ``chain`` if there is one."""
    with chains.joined(chain) as writes:
        writes.insert(INSERT, new)
        writes.then(lambda: count(new))


def count(written: Entry) -> None:
    """Count an entry in the metrics. Call it if a larger statement wrote the entry with ``INSERT``."""
    ENTRIES.labels(written.key, written.payload.get("result", "success")).inc()


def get_columns(written: Entry) -> dict[str, Any]:
    """Return the columns of an entry, for ``get_changed_columns``."""
    return {name: value for name, value in vars(written).items() if name != "_state"}


def get_changed_columns(
    columns: Mapping[str, Any], *, ip: str, user_agent: str, request_id: str, **facts: object
) -> dict[str, Any]:
    """Return the columns in which the entry about another request differs from ``columns``.

    The facts are those of ``columns``, with ``facts`` added or replaced.
    """
    return {
        "id": ids.new(),
        "ip": ip,
        "user_agent": context.clean_user_agent(user_agent),
        "request_id": request_id,
        "payload": {**columns["payload"], **facts},
    }


def count_repeated(columns: Mapping[str, Any]) -> None:
    """Count an entry in the metrics. Call it after inserting ``columns`` with their changes."""
    ENTRIES.labels(columns["key"], columns["payload"].get("result", "success")).inc()


def record_all(event: Event, all_facts: Iterable[Mapping[str, Any]]) -> None:
    """Write an entry for each mapping of facts, thousands in one statement."""
    remaining = iter(all_facts)
    while entries := [new_entry(event, **facts) for facts in islice(remaining, _MAX_ROWS)]:
        Entry.objects.bulk_create(entries)
        ENTRIES.labels(event.value, "success").inc(len(entries))


def new_entry(
    event: Event,
    *,
    user_id: UUID | str | None = None,
    application_id: UUID | str | None = None,
    about: object = None,
    **facts: object,
) -> Entry:
    """Return the unsaved entry that ``record`` would write."""
    origin = context.current()
    if origin.administrator_id is not None:
        facts["administrator_id"] = origin.administrator_id
    if origin.application_id and application_id and str(application_id) != origin.application_id:
        facts["caller_id"] = origin.application_id
    if origin.is_trial:
        facts["is_test"] = True
    application_id = application_id or origin.application_id
    user_id = user_id or origin.user_id
    return rows.new(
        Entry,
        tenant_id=origin.tenant_id,
        key=event.value,
        payload={name: _storable(value) for name, value in facts.items()},
        user_id=None if user_id is None else str(user_id),
        application_id=None if application_id is None else str(application_id),
        ip=origin.ip,
        user_agent=origin.user_agent,
        request_id=origin.request_id,
        identifier_key=None if about is None else str(about),
    )


def _storable(value: object) -> object:
    if isinstance(value, str):
        # PostgreSQL stores no NUL, and UTF-8 has no lone surrogates.
        return value.replace("\0", "").encode(errors="replace").decode()[:_MAX_TEXT]
    return str(value) if isinstance(value, UUID) else value


class AuditedOperation:
    """An operation that may fail, which writes exactly one entry when it ends, unless it is postponed."""

    def __init__(self, event: Event, facts: dict[str, object], typed: TypedIdentifier | None = None) -> None:
        self.event = event
        self.facts = facts
        self.typed = typed
        self.user_id: UUID | str | None = None
        self.application_id: UUID | str | None = None
        # Whether the entry is written, or a later request writes it.
        self.is_settled = False

    def set_identifier_known(self, is_known: bool) -> None:  # noqa: FBT001 - what the name says
        """Set whether the typed identifier is a user's. Only then does the entry store it as text."""
        if self.typed:
            self.typed.is_known = is_known

    def record_success(self, chain: Chain | None = None, **facts: object) -> None:
        """Write the success entry, in the transaction or the chain of the change that it records.

        ``facts`` are added to this entry only: if the change fails, the failure entry does not have them.
        """
        self._write(chain, **facts, result="success")

    def record_failure(self, error: str) -> None:
        """Write the failure entry. Must not run in a transaction that is rolled back."""
        self._write(None, result="failed", error=error)

    def postpone(self) -> None:
        """Write no entry: a later request finishes the operation, and writes it."""
        self.is_settled = True

    def _write(self, chain: Chain | None, **outcome: object) -> None:
        with chains.joined(chain) as writes:
            write(self._entry(**outcome), writes)
            writes.then(lambda: setattr(self, "is_settled", True))

    def _entry(self, **outcome: object) -> Entry:
        typed = self.typed
        if typed and self.user_id is not None:
            typed.is_known = True
        identifier = typed.facts() if typed else {}
        new = new_entry(
            self.event,
            user_id=self.user_id,
            application_id=self.application_id,
            **{**identifier, **self.facts, **outcome},
        )
        new.identifier_key = typed.key if typed else None
        return new


@contextmanager
def attempt(
    event: Event, typed: TypedIdentifier | None = None, /, **facts: object
) -> Iterator[AuditedOperation]:
    """Write an entry with the outcome of the block, even if its changes are rolled back.

    The block may call ``record_success()`` in its own transaction. If it raises an error, the entry has the
    result ``failed`` and the error's ``reason`` and ``audit_facts``. ``typed`` is the typed identifier. The
    entry stores it as text if the block sets ``user_id``, calls ``set_identifier_known``, or raises an error
    with ``identifies_user``.
    """
    audited = AuditedOperation(event, dict(facts), typed)
    try:
        yield audited
    except Exception as error:
        if typed and getattr(error, "identifies_user", False):
            typed.is_known = True
        audited.facts |= getattr(error, "audit_facts", {})
        audited.record_failure(str(getattr(error, "reason", "server_error")))
        raise
    if not audited.is_settled:
        audited.record_success()
