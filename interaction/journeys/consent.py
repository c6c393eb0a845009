"""Agreeing to what an application asks for, or not."""

import hashlib
import json

from django.db import transaction

from identity.sessions.models import Session
from interaction.journeys.pending import Pending
from oidc.grants import consents, requests
from oidc.grants.consents import ConsentRequest
from oidc.provider import steps


def show(session: Session, pending: Pending) -> ConsentRequest:
    """Return what the application asks for, and remember that the page shows it."""
    wanted = steps.get_wanted(session.user, pending.asked)
    shown = wanted.to_json() | {"user_id": str(session.user_id)}
    if shown != pending.parked.shown:
        requests.note_shown(pending.parked, shown)
    return wanted


def mark_of_shown(pending: Pending) -> str:
    """Return a text that stands for what the page showed last, empty before it showed anything."""
    if pending.parked.shown is None:
        return ""
    text = json.dumps(pending.parked.shown, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def is_shown(session: Session, pending: Pending, mark: str) -> bool:
    """Tell whether this is the page that was shown last, and to this person."""
    shown = pending.parked.shown
    if shown is None or shown.get("user_id") != str(session.user_id):
        return False
    return mark == mark_of_shown(pending)


@transaction.atomic
def allow(session: Session, pending: Pending) -> str:
    """Remember that the person agreed to what was shown; return where the request goes on."""
    shown = pending.parked.shown
    if shown is not None and requests.note_consent(pending.parked, session):
        # What was shown, and is still there to be granted.
        wanted = steps.get_wanted(session.user, pending.asked)
        consents.give(session.user, pending.application, wanted.limited_to(shown))
    return pending.resume


def deny(pending: Pending) -> str:
    """End the request; return the address that tells the application."""
    requests.finish(pending.parked)
    return pending.asked.answer(error="access_denied", error_description="The user did not agree.")
