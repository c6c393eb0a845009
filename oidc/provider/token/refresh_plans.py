"""Plans for refreshes: what was decided about the request and its client, for the next one like it.

A plan is made when a refresh has passed all steps (see ``endpoint``), and used for a request of the same
tenant with the same bytes, except the secret, whose digest must be the same, and the refresh token. The
statement that reads the family proves the plan: it finds the family only if the application and its secret
are as they were. What the family grants now is decided by the functions of the last step, as without a plan.

A plan issues tokens only to the newest refresh token of a live family, and only if nothing is refused.
Otherwise nothing is written, and the request passes all steps: a retry, a replay, a lost race, a refusal.
"""

from dataclasses import dataclass
from typing import Final

from django.db import IntegrityError

from database.together import Work
from oidc.applications import client_secrets
from oidc.grants import families, known_applications
from oidc.grants.known_applications import KnownApplication
from oidc.keys.models import SigningKey
from oidc.provider.client_authentication import Client
from oidc.provider.errors import OAuthError
from oidc.provider.token import plan_store, refresh_token
from oidc.provider.token.refresh_token import FoundToken
from oidc.provider.token.repeated import SentRequest
from oidc.provider.token.request import AuthenticatedRequest, Granted, TokenRequest


@dataclass(frozen=True, slots=True)
class RefreshPlan:
    """The parsed request, without credentials and refresh token, and the application and its secret."""

    form: bytes
    secret_digest: str
    request: TokenRequest
    known: KnownApplication
    size: int


def grant(plan: RefreshPlan, sent: SentRequest) -> Work[Granted | None]:
    """Rotate the family of a request, or return None if the request must pass all steps."""
    token = families.parse_token(sent.refresh_token)
    if token is None:
        return None
    family = yield from known_applications.find_family(token.family_id, plan.known)
    if family is None:  # an unknown token, or an outdated plan: the next request that succeeds replaces it
        return None
    presented = FoundToken(family, token.generation)
    request = AuthenticatedRequest(
        plan.request,
        Client(plan.known.row, family.active_key_id, family.own_key_id),
        presented,
        is_proven=plan.known.secret is not None,
    )
    try:
        return (yield from refresh_token.grant_newest(request, presented))
    except (OAuthError, IntegrityError, SigningKey.DoesNotExist):
        return None


def add(sent: SentRequest, granted: Granted) -> None:
    """Make a plan of a refresh that passed all steps, if a later request can be compared with it."""
    if granted.repeatable is None:
        return
    request = granted.repeatable.request
    parsed, application = request.parsed, request.application
    is_same = sent.refresh_token == parsed["refresh_token"] and sent.client_id == application.client_id
    if not is_same or request.is_proven != bool(sent.secret):
        return
    secret = client_secrets.find(application, sent.secret) if sent.secret else None
    digest = client_secrets.digest(sent.secret) if sent.secret else plan_store.NO_SECRET
    if (secret.digest if secret else plan_store.NO_SECRET) != digest:
        return
    kept = {name: value for name, value in parsed.parameters.items() if name in _REPEATED}
    plan = RefreshPlan(
        form=sent.form,
        secret_digest=digest,
        request=TokenRequest(parsed.grant_type, parsed.grant, kept, authorization=None),
        known=KnownApplication(application, secret),
        size=plan_store.measure(sent.form, digest, kept, *vars(application).values()),
    )
    plan_store.store(plan, sent)


_REPEATED: Final = refresh_token.PARAMETERS - {"refresh_token"}
