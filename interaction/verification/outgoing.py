"""The queue of outgoing messages: stored in the caller's transaction, sent by threads after the commit.

A request never waits for a mail server. A sender claims a row for two minutes; if its process dies,
the claim expires and another sender takes the row.
"""

import logging
import threading
import time
from collections.abc import Collection
from dataclasses import asdict
from typing import Final

import orjson
from django.db import DatabaseError, InterfaceError, close_old_connections, connections, transaction
from django.db.models import F, Q
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database.clock import DatabaseNow, seconds_ahead
from identity.core import expiry, records, tenancy
from identity.core.errors import ServiceError
from identity.encryption import keyring
from identity.limits import services as limits
from interaction.connectors import delivery
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message
from interaction.verification import notice_limits
from interaction.verification.models import OutgoingMessage
from interaction.verification.turns import Turns

PURPOSE: Final = "outgoing messages"
_THREADS: Final = 2
_MOST_TRIES: Final = 2
_CLAIM_SECONDS: Final = 120  # longer than any provider may take
_RETRY_SECONDS: Final = 2
_POLL_SECONDS: Final = 20  # finds the rows of processes that died
_STOP_SECONDS: Final = 15
_PURGE_SECONDS: Final = 600
_PURGE_BATCHES: Final = 100

_logger = logging.getLogger(__name__)
_turns: Final = Turns()


class BeingSent(ServiceError):
    """The message is being sent, so to send it now would send it twice."""

    status = 409
    reason = "being_sent"
    message = gettext_noop("the message is being sent: try again in two minutes")


def enqueue(message: Message, *, silent: bool = False) -> None:
    """Store a message in the current transaction; it is sent after the commit.

    The row has the message's id. A silent message is never sent, and takes the same time to store.
    """
    tenant_id = tenancy.active_id()
    OutgoingMessage.objects.create(
        pk=message.id,
        silent=silent,
        due_at=DatabaseNow(),
        sealed=keyring.encrypt(
            orjson.dumps(asdict(message)), purpose=PURPOSE, bound_to=f"{tenant_id}/{message.id}"
        ),
    )
    transaction.on_commit(_senders.wake)


@transaction.atomic
def retry(row: OutgoingMessage) -> None:
    """Make a message due now and reset its number of tries.

    Raises:
        BeingSent: a sender has claimed the message.
        records.Gone: the message was sent or has failed meanwhile.

    """
    rows = OutgoingMessage.objects.filter(pk=row.pk)
    # Others are claimed: they were tried, and are due when the claim expires.
    unclaimed = rows.filter(Q(tries=0) | Q(due_at__lte=seconds_ahead(_RETRY_SECONDS)))
    if not unclaimed.update(due_at=DatabaseNow(), tries=0):
        raise BeingSent if rows.exists() else records.Gone
    log.record(Event.MESSAGE_RETRY, message_id=row.pk)
    transaction.on_commit(_senders.wake)


@transaction.atomic
def drop(row: OutgoingMessage) -> None:
    """Delete a message without sending it.

    Raises:
        records.Gone: the message was sent or has failed meanwhile.

    """
    deleted, _ = OutgoingMessage.objects.filter(pk=row.pk).delete()
    if not deleted:
        raise records.Gone
    log.record(Event.MESSAGE_DROP, message_id=row.pk)


def send_due() -> bool:
    """Send the due messages of all tenants; return whether a message needs a retry."""
    needs_retry = False
    with tenancy.using(tenancy.EVERYWHERE):
        while True:
            with _turns.take(_claim_oldest) as row:
                if row is None:
                    return needs_retry
                with tenancy.using(row.tenant.to_active()):
                    needs_retry |= not _finish(row)


def _claim_oldest(passed_over: Collection[str]) -> OutgoingMessage | None:
    """Claim the message that has been due for the longest time, except those of some tenants."""
    due = OutgoingMessage.objects.filter(due_at__lte=DatabaseNow()).exclude(tenant__in=passed_over)
    oldest = due.select_related("tenant").order_by("due_at")
    while (row := oldest.first()) is not None:
        if _claim(row):
            return row
    return None


def _claim(row: OutgoingMessage) -> bool:
    """Claim a row and return true, unless another sender was faster."""
    unclaimed = OutgoingMessage.objects.filter(pk=row.pk, tries=row.tries, due_at__lte=DatabaseNow())
    return bool(unclaimed.update(due_at=seconds_ahead(_CLAIM_SECONDS), tries=F("tries") + 1))


def _finish(row: OutgoingMessage) -> bool:
    """Send a claimed row and delete it; return false if it needs a retry."""
    reason = None if row.silent else _send(row)
    rows = OutgoingMessage.objects.filter(pk=row.pk)
    if reason is not None and row.tries + 1 < _MOST_TRIES:
        rows.update(due_at=seconds_ahead(_RETRY_SECONDS))
        return False
    with transaction.atomic():
        rows.delete()
        if reason is not None:
            failed = {"result": "failed", "error": "not_delivered", "reason": reason}
            log.record(Event.CODE_SEND, message_id=row.pk, **failed)
    return True


def _send(row: OutgoingMessage) -> str | None:
    """Send a message through its provider, unless it is one notice too many. Return why that failed."""
    if row.tries >= _MOST_TRIES:
        return "the servers that tried to send it stopped before they could"
    try:
        message = _decrypt(row)
        if not row.tries:
            notice_limits.count(message)
        delivery.deliver(message)
    except limits.TooMany:
        return None
    except keyring.UnknownKey:
        return "the key that encrypted it is missing"
    except (ProviderError, ServiceError) as error:
        return str(error)
    except (DatabaseError, InterfaceError):
        raise
    except Exception:  # it must not stop the messages behind this one
        _logger.exception("message %s could not be sent", row.pk)
        return "an unexpected error: the server's log has it"
    return None


def _decrypt(row: OutgoingMessage) -> Message:
    return Message(
        **orjson.loads(keyring.decrypt(row.sealed, purpose=PURPOSE, bound_to=f"{row.tenant_id}/{row.pk}"))
    )


class _Senders:
    """The threads of a server process that send messages."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._wakes: list[threading.Event] = []
        self._threads: list[threading.Thread] = []
        self._stopping = False
        self._purge_at = 0.0

    def start(self) -> None:
        for index in range(self._number):
            wake = threading.Event()
            interval = None if index else _POLL_SECONDS
            thread = threading.Thread(
                target=self._run, args=(wake, interval), name=f"sender-{index}", daemon=True
            )
            self._wakes.append(wake)
            self._threads.append(thread)
            thread.start()

    def wake(self) -> None:
        for wake in self._wakes:
            wake.set()

    def stop(self) -> None:
        self._stopping = True
        self.wake()
        for thread in self._threads:
            thread.join(_STOP_SECONDS)

    def _purge_expired(self) -> None:
        """Delete some expired rows, about every ten minutes."""
        if time.monotonic() > self._purge_at:
            self._purge_at = time.monotonic() + _PURGE_SECONDS
            expiry.purge_some(batches=_PURGE_BATCHES)

    def _run(self, wake: threading.Event, interval: float | None) -> None:
        """Send messages when they are enqueued. With an interval, look for due and expired rows too.

        A thread with an interval keeps its connection, which it needs often, or returns it to a pool.
        """
        while not self._stopping:
            wait = interval
            try:
                if send_due():
                    wait = _RETRY_SECONDS
                if interval is not None:
                    self._purge_expired()
            except DatabaseError:
                _logger.warning("messages wait: the database is not available")
            except Exception:
                _logger.exception("messages wait: an unexpected error")
            finally:
                if interval is not None:
                    close_old_connections()
                else:
                    # While idle, this thread must not hold a connection that requests need.
                    connections.close_all()
            wake.wait(wait)
            wake.clear()
        connections.close_all()


_senders: Final = _Senders(_THREADS)


def start() -> None:
    """Start the sender threads in this process."""
    _senders.start()


def stop() -> None:
    """Stop the sender threads after the messages that they are sending."""
    _senders.stop()
