"""Agreeing to what an application asks for, or not."""

from django.db import transaction

from identity.sessions.models import Session
from interaction.journeys.pending import Pending
from oidc.grants import consents, requests
from oidc.provider import steps


@transaction.atomic
def allow(session: Session, pending: Pending) -> str:
    """Remember that the person agreed; return where the request goes on."""
    if requests.note_consent(pending.parked, session):
        consents.give(
            session.user,
            pending.application,
            steps.wanted_of(session.user, pending.asked),
            pending.asked.organization_id,
        )
    return pending.resume


def deny(pending: Pending) -> str:
    """End the request; return the address that tells the application."""
    requests.finish(pending.parked)
    return pending.asked.answer(error="access_denied", error_description="The user did not agree.")
