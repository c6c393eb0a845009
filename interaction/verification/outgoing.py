"""Messages on their way: written with what they speak of, sent after it by threads of the worker.

A request never waits for a mail server. A row is claimed for a while by whoever sends it;
when that worker dies, the claim runs out and another sends it.
"""

import logging
import threading
import time
from dataclasses import asdict
from typing import Final

import orjson
from django.db import DatabaseError, connections, transaction
from django.db.models import F

from audit import log
from audit.events import Event
from database.clock import DatabaseNow, seconds_ahead
from identity.core import expiry, records, tenancy
from identity.core.errors import ServiceError
from identity.encryption import keyring
from interaction.connectors import delivery
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message
from interaction.verification.models import OutgoingMessage

PURPOSE: Final = "outgoing messages"
_THREADS: Final = 2
_MOST_TRIES: Final = 2
_CLAIM_SECONDS: Final = 120  # longer than any provider may take
_RETRY_SECONDS: Final = 2
_POLL_SECONDS: Final = 20  # for what a worker that died left behind
_BATCH: Final = 20
_STOP_SECONDS: Final = 15
_TIDY_SECONDS: Final = 600
_TIDY_BATCHES: Final = 100

_logger = logging.getLogger(__name__)


def post(message: Message, *, silent: bool = False) -> None:
    """Write a message down in the transaction of the moment; it is sent once that commits.

    The message's id is the row's. A silent one is never sent, and costs the same.
    """
    tenant_id = tenancy.active_id()
    OutgoingMessage.objects.create(
        pk=message.id,
        silent=silent,
        due_at=DatabaseNow(),
        sealed=keyring.seal(
            orjson.dumps(asdict(message)), purpose=PURPOSE, bound_to=f"{tenant_id}/{message.id}"
        ),
    )
    transaction.on_commit(_senders.wake)


@transaction.atomic
def retry(row: OutgoingMessage) -> None:
    """Send a message now, with all its tries before it.

    Raises:
        records.Gone: it was sent or given up meanwhile.

    """
    if not OutgoingMessage.objects.filter(pk=row.pk).update(due_at=DatabaseNow(), tries=0):
        raise records.Gone
    log.record(Event.MESSAGE_RETRY, message_id=row.pk)
    transaction.on_commit(_senders.wake)


@transaction.atomic
def drop(row: OutgoingMessage) -> None:
    """Erase a message that is not to be sent.

    Raises:
        records.Gone: it was sent or given up meanwhile.

    """
    gone, _ = OutgoingMessage.objects.filter(pk=row.pk).delete()
    if not gone:
        raise records.Gone
    log.record(Event.MESSAGE_DROP, message_id=row.pk)


def send_due() -> bool:
    """Send what is due, of all tenants; tell whether something waits for another try."""
    again = False
    with tenancy.using(tenancy.EVERYWHERE):
        while batch := list(
            OutgoingMessage.objects.filter(due_at__lte=DatabaseNow())
            .select_related("tenant")
            .order_by("due_at")[:_BATCH]
        ):
            for row in batch:
                if _claim(row):
                    with tenancy.using(row.tenant.activated()):
                        again |= not _settle(row)
    return again


def _claim(row: OutgoingMessage) -> bool:
    """Take a row for a while, unless another sender was faster."""
    seen = OutgoingMessage.objects.filter(pk=row.pk, tries=row.tries, due_at__lte=DatabaseNow())
    return bool(seen.update(due_at=seconds_ahead(_CLAIM_SECONDS), tries=F("tries") + 1))


def _settle(row: OutgoingMessage) -> bool:
    """Send a row that was claimed; tell whether it is done with, one way or the other."""
    why = None if row.silent else _failure(row)
    this = OutgoingMessage.objects.filter(pk=row.pk)
    if why is not None and row.tries + 1 < _MOST_TRIES:
        this.update(due_at=seconds_ahead(_RETRY_SECONDS))
        return False
    with transaction.atomic():
        this.delete()
        if why is not None:
            log.record(Event.CODE_SEND, message_id=row.pk, result="failed", error="not_delivered", reason=why)
    return True


def _failure(row: OutgoingMessage) -> str | None:
    """Hand a message to its provider; return why that failed, if it did."""
    if row.tries >= _MOST_TRIES:
        return "the workers that tried to send it ended before they could"
    try:
        delivery.deliver(_opened(row))
    except keyring.UnknownKey:
        return "the key that it was sealed with is gone"
    except (ProviderError, ServiceError) as error:
        return str(error)
    return None


def _opened(row: OutgoingMessage) -> Message:
    return Message(
        **orjson.loads(keyring.unseal(row.sealed, purpose=PURPOSE, bound_to=f"{row.tenant_id}/{row.pk}"))
    )


class _Senders:
    """A few threads that send, in a process that serves."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._wakes: list[threading.Event] = []
        self._threads: list[threading.Thread] = []
        self._stopping = False
        self._tidy_at = 0.0

    def start(self) -> None:
        for index in range(self._number):
            wake = threading.Event()
            thread = threading.Thread(target=self._run, args=(wake,), name=f"sender-{index}", daemon=True)
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

    def _tidy_up(self) -> None:
        """Forget what is over, every ten minutes or so."""
        if time.monotonic() > self._tidy_at:
            self._tidy_at = time.monotonic() + _TIDY_SECONDS
            expiry.tidy(batches=_TIDY_BATCHES)

    def _run(self, wake: threading.Event) -> None:
        while not self._stopping:
            wait = _POLL_SECONDS
            try:
                if send_due():
                    wait = _RETRY_SECONDS
                self._tidy_up()
            except DatabaseError:
                _logger.warning("messages wait: the database is away")
            except Exception:
                # The thread has to outlive whatever a provider's library comes up with.
                _logger.exception("a message could not be sent")
            finally:
                # Idle, it holds none of the connections that requests need.
                connections.close_all()
            wake.wait(wait)
            wake.clear()


_senders: Final = _Senders(_THREADS)


def start() -> None:
    """Begin to send, in the process that calls it."""
    _senders.start()


def stop() -> None:
    """Finish what is being sent, and send no more."""
    _senders.stop()
