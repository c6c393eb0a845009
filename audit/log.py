"""Writing audit entries: ``record`` inside a transaction, ``attempt`` around an operation that may fail."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

from audit import context
from audit.events import Event
from audit.metrics import ENTRIES
from audit.models import Entry
from audit.typed import Typed
from database.statements import Insert

_MAX_TEXT: Final = 256
INSERT: Final = Insert(Entry)


def record(
    event: Event,
    *,
    user_id: UUID | str | None = None,
    application_id: UUID | str | None = None,
    **facts: object,
) -> None:
    """Write an entry in the transaction of what it records.

    Facts are JSON values, and never secrets. Strings are cut to 256 characters.
    """
    write(entry(event, user_id=user_id, application_id=application_id, **facts))


def write(new: Entry) -> None:
    """Write an entry that ``entry`` built."""
    INSERT(new)
    count(new)


def count(written: Entry) -> None:
    """Count an entry in the metrics, after a larger statement wrote it with ``INSERT``."""
    ENTRIES.labels(written.key, written.payload.get("result", "success")).inc()


def record_all(event: Event, many: Iterable[Mapping[str, Any]]) -> None:
    """Write an entry for each mapping of facts, as ``record`` does, in one statement."""
    entries = [entry(event, **facts) for facts in many]
    Entry.objects.bulk_create(entries)
    ENTRIES.labels(event.value, "success").inc(len(entries))


def entry(
    event: Event,
    *,
    user_id: UUID | str | None = None,
    application_id: UUID | str | None = None,
    **facts: object,
) -> Entry:
    """Build an unsaved entry, as ``record`` writes it."""
    origin = context.current()
    if origin.administrator_id is not None:
        facts["administrator_id"] = origin.administrator_id
    application_id = application_id or origin.application_id
    user_id = user_id or origin.user_id
    return Entry(
        tenant_id=origin.tenant_id,
        key=event.value,
        payload={name: _storable(value) for name, value in facts.items()},
        user_id=None if user_id is None else str(user_id),
        application_id=None if application_id is None else str(application_id),
        ip=origin.ip,
        user_agent=origin.user_agent,
        request_id=origin.request_id,
    )


def _storable(value: object) -> object:
    if isinstance(value, str):
        # PostgreSQL stores no NUL, and UTF-8 has no lone surrogates.
        return value.replace("\0", "").encode(errors="replace").decode()[:_MAX_TEXT]
    return str(value) if isinstance(value, UUID) else value


class Attempt:
    """A pending attempt, which writes exactly one entry when it ends."""

    def __init__(self, event: Event, facts: dict[str, object], typed: Typed | None = None) -> None:
        self.event = event
        self.facts = facts
        self.typed = typed
        self.user_id: UUID | str | None = None
        self.application_id: UUID | str | None = None
        self.recorded = False

    def set_identifier_known(self, is_known: bool) -> None:  # noqa: FBT001 - what the name says
        """Set whether the typed identifier is a user's; only then does the entry keep its text."""
        if self.typed:
            self.typed.is_known = is_known

    def succeeded(self) -> None:
        """Write the entry of success, in the transaction of what it records."""
        self._write(result="success")

    def success(self, **facts: str) -> Entry:
        """Build the success entry to insert as part of a larger SQL statement.

        Call ``mark_written`` after that statement has run.
        """
        return self._entry(**facts, result="success")

    def mark_written(self, written: Entry) -> None:
        """Mark the entry of success as written."""
        count(written)
        self.recorded = True

    def failed(self, error: str) -> None:
        """Write the entry of failure. Must not run in a transaction that is rolled back."""
        self._write(result="failed", error=error)

    def _write(self, **outcome: str) -> None:
        write(self._entry(**outcome))
        self.recorded = True

    def _entry(self, **outcome: str) -> Entry:
        typed = self.typed
        if typed and self.user_id is not None:
            typed.is_known = True
        identifier = typed.facts() if typed else {}
        new = entry(
            self.event,
            user_id=self.user_id,
            application_id=self.application_id,
            **{**identifier, **self.facts, **outcome},
        )
        new.identifier_key = typed.key if typed else None
        return new


@contextmanager
def attempt(event: Event, typed: Typed | None = None, /, **facts: object) -> Iterator[Attempt]:
    """Write an entry with the outcome of the block, also if its changes are rolled back.

    The block may call ``succeeded()`` in its own transaction. If it raises, the entry has the result
    ``failed`` and the error's ``reason``, and the error is raised again. ``typed`` is the identifier that was
    typed. The entry keeps its text if the block sets ``user_id``, calls ``set_identifier_known``, or raises
    an error with ``names_somebody``.
    """
    entry = Attempt(event, dict(facts), typed)
    try:
        yield entry
    except Exception as error:
        if typed and getattr(error, "names_somebody", False):
            typed.is_known = True
        entry.failed(str(getattr(error, "reason", "server_error")))
        raise
    if not entry.recorded:
        entry.succeeded()
