"""Refusing a user who may not use the application, and returning to the application."""

from identity.sessions.models import Session
from interaction.journeys.pending import Pending
from oidc.grants import requests
from oidc.provider.authorization import steps
from oidc.provider.authorization.refusals import UserNotAllowed
from oidc.provider.authorization.response import ClientResponse
from oidc.provider.authorization.steps import Step


def is_refused(session: Session, pending: Pending) -> bool:
    """Return whether the user may still not use the application, and nothing else has to come first."""
    return steps.next_step(pending.authorization, session, pending.row) is Step.NO_ACCESS


def leave(pending: Pending) -> ClientResponse:
    """End the request; return the response with the error ``access_denied``."""
    requests.finish(pending.row)
    return pending.authorization.build_error_response(UserNotAllowed())
