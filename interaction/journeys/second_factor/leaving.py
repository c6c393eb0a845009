"""Continuing without the second factor, or returning to the application that demands it."""

from dataclasses import replace
from typing import Final

from django.db import transaction

from audit import log
from audit.events import Event
from identity.factors import settings_of_users
from identity.factors.errors import FactorNotAllowed
from interaction.journeys.second_factor import starting, verifying
from interaction.journeys.second_factor.current_step import SecondStep
from interaction.journeys.second_factor.sign_ins import Continued, Outcome, Visit
from interaction.pending_sign_ins import services as pending_sign_ins
from oidc.grants import requests

_OFFER: Final = "tenant"  # the reason of an offer that is not repeated after the user has declined it


def skip(step: SecondStep) -> Outcome:
    """Continue without the second factor, if it is only offered. The tenant's offer is not made again.

    Raises:
        NothingPending: another request has finished the sign-in.
        FactorNotAllowed: the step cannot be skipped.

    """
    if not step.need.may_skip:
        raise FactorNotAllowed("this step cannot be skipped")
    if step.stored is None:
        return _decline_wish(step)
    with verifying.auditing_sign_in(step) as audited, transaction.atomic():
        if _OFFER in step.need.reasons:
            settings_of_users.skip_prompt(step.user)
        log.record(Event.MFA_SKIP, user_id=step.user.pk, id=step.user.pk)
        declined = replace(step.sign_in, skips=True)
        return starting.start_session_or_store(
            step.user, declined, experience=step.experience, visit=step.visit, audited=audited
        )


@transaction.atomic
def _decline_wish(step: SecondStep) -> Continued:
    if step.visit.pending:
        requests.record_wish_declined(step.visit.pending.row)
    log.record(Event.MFA_SKIP, user_id=step.user.pk, id=step.user.pk)
    return Continued(step.visit.next_url)


def cancel(step: SecondStep) -> str:
    """End a step that the application demands. Return the URL at which the application gets the error.

    Raises:
        NothingPending: another request has finished the sign-in.
        FactorNotAllowed: no application demands the second factor.

    """
    pending = step.visit.pending
    if not step.may_cancel or pending is None:
        raise FactorNotAllowed(
            "this step cannot be cancelled: no application or organization waits for it, or it can be skipped"
        )
    with transaction.atomic():
        if step.stored is not None:
            pending_sign_ins.finish(step.stored)
        requests.record_cancelled(pending.row)
    return pending.resume_url


def continue_unfulfilled(visit: Visit) -> str:
    """Record that the user can fulfil no wish of the request, so it asks no more. Return the next URL."""
    if visit.pending:
        requests.record_wish_declined(visit.pending.row)
    return visit.next_url
