"""Writing down what happened: ``record`` inside a transaction, ``attempt`` around a journey."""

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

_LONGEST_TEXT: Final = 256
INSERT: Final = Insert(Entry)


def record(
    event: Event,
    *,
    user_id: UUID | str | None = None,
    application_id: UUID | str | None = None,
    **facts: object,
) -> None:
    """Write one entry in the transaction of what it speaks of.

    Facts are JSON values and never secrets. Text from outside is cut at 256 characters.
    """
    write(entry(event, user_id=user_id, application_id=application_id, **facts))


def write(made: Entry) -> None:
    """Write an entry that ``entry`` made."""
    INSERT(made)
    count(made)


def count(made: Entry) -> None:
    """Count an entry that was written with ``INSERT``, as part of a larger statement."""
    ENTRIES.labels(made.key, made.payload.get("result", "success")).inc()


def record_all(event: Event, many: Iterable[Mapping[str, Any]]) -> None:
    """Write an entry for each of many things that happened at once, as ``record`` does, in one statement."""
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
    """Make an entry as ``record`` writes it, for who writes it with something else."""
    origin = context.current()
    if origin.administrator_id is not None:
        facts["administrator_id"] = origin.administrator_id
    application_id = application_id or origin.application_id
    user_id = user_id or origin.user_id
    return Entry(
        tenant_id=origin.tenant_id,
        key=event.value,
        payload={name: _tame(value) for name, value in facts.items()},
        user_id=None if user_id is None else str(user_id),
        application_id=None if application_id is None else str(application_id),
        ip=origin.ip,
        user_agent=origin.user_agent,
        request_id=origin.request_id,
    )


def _tame(value: object) -> object:
    if isinstance(value, str):
        # PostgreSQL stores no NUL, and UTF-8 has no lone surrogates.
        return value.replace("\0", "").encode(errors="replace").decode()[:_LONGEST_TEXT]
    return str(value) if isinstance(value, UUID) else value


class Attempt:
    """An attempt under way: ends with exactly one entry."""

    def __init__(self, event: Event, facts: dict[str, object], typed: Typed | None = None) -> None:
        self.event = event
        self.facts = facts
        self.typed = typed
        self.user_id: UUID | str | None = None
        self.application_id: UUID | str | None = None
        self.recorded = False

    def names_somebody(self, is_known: bool) -> None:  # noqa: FBT001 - what the name says
        """Say whether the identifier that was typed is somebody's: then the entry keeps its text."""
        if self.typed:
            self.typed.is_known = is_known

    def succeeded(self) -> None:
        """Write the entry of success, inside the transaction that makes it true."""
        self._write(result="success")

    def success(self, **facts: str) -> Entry:
        """Make the entry of success, for a statement that writes it; then say so with ``was_written``."""
        return self._entry(**facts, result="success")

    def was_written(self, made: Entry) -> None:
        """Note that the entry of success was written."""
        count(made)
        self.recorded = True

    def failed(self, error: str) -> None:
        """Write the entry of failure, outside of any transaction that is rolled back."""
        self._write(result="failed", error=error)

    def _write(self, **outcome: str) -> None:
        write(self._entry(**outcome))
        self.recorded = True

    def _entry(self, **outcome: str) -> Entry:
        typed = self.typed
        if typed and self.user_id is not None:
            typed.is_known = True
        said = typed.facts() if typed else {}
        made = entry(
            self.event,
            user_id=self.user_id,
            application_id=self.application_id,
            **{**said, **self.facts, **outcome},
        )
        made.identifier_key = typed.key if typed else None
        return made


@contextmanager
def attempt(event: Event, typed: Typed | None = None, /, **facts: object) -> Iterator[Attempt]:
    """Write down how the block ends, also when what it did is rolled back.

    The block calls ``succeeded()`` in its own transaction. When it raises, the entry says
    ``failed`` with the error's ``reason``, and the error goes on. ``typed`` is the identifier that
    somebody typed: its text is kept when the block sets ``user_id``, calls ``names_somebody``, or
    raises an error that has ``names_somebody``.
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
