"""Counters of passkeys that do not grow: the key may have been copied."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from audit import log
from audit.events import Event
from identity.factors.models import Passkey
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from identity.users.notices import Notice, notify


@contextmanager
def reported(passkey: Passkey) -> Iterator[None]:
    """Record an anomaly of the counter that the block finds, and tell the user. The passkey stays."""
    try:
        yield
    except PasskeyRefused as refused:
        if refused.check is Reason.COUNTER:
            with transaction.atomic():
                log.record(Event.PASSKEY_COUNTER_ANOMALY, user_id=passkey.user_id, id=passkey.pk)
                notify(passkey.user, Notice.PASSKEY_ANOMALY)
        raise
