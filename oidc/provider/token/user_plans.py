"""Plans for codes and refreshes: what was decided about the request and its client, for the next one like it.

A plan is made when a request has passed all steps (see ``endpoint``), and used for a request of the same
tenant with the same bytes, except the secret, whose digest must be the same, and what is presented: the
refresh token, or the code and its verifier. The statement that reads the code or the family proves the plan:
it finds it only if the application and its secret are as they were. What is granted now is decided by the
functions of the last step, as without a plan.

A plan issues tokens only for an unused code or the newest refresh token of a refreshable family, and only if
nothing is refused. Otherwise nothing is written, and the request passes all steps: a replay, a retry, a lost
race, a refusal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from django.db import IntegrityError

from database.batching import Work
from oidc.applications import client_secrets
from oidc.grants.known_applications import KnownApplication
from oidc.keys.models import SigningKey
from oidc.provider.errors import OAuthError
from oidc.provider.token import authorization_code, plan_store, refresh_token
from oidc.provider.token.raw_request import PRESENTED, RawTokenRequest
from oidc.provider.token.request import AuthenticatedRequest, Granted, TokenRequest, UserGrant

_GRANTS: Final[Mapping[str, UserGrant]] = {
    "authorization_code": authorization_code,
    "refresh_token": refresh_token,
}


@dataclass(frozen=True, slots=True)
class UserPlan:
    """The parsed request, without credentials and what is presented, and the application and its secret.

    ``presented`` has the names of what is presented.
    """

    form: bytes
    secret_digest: str
    request: TokenRequest
    presented: frozenset[str]
    known: KnownApplication
    size: int


def grant(plan: UserPlan, sent: RawTokenRequest) -> Work[Granted | None]:
    """Redeem the code or rotate the family, or return None if the request must pass all steps."""
    if sent.presented.keys() != plan.presented:
        return None
    module, known = _GRANTS[plan.request.grant_type], plan.known
    parsed = replace(plan.request, parameters={**plan.request.parameters, **sent.presented})
    found = yield from module.find_known(parsed, known)
    if found is None:  # it is unknown, or the plan outdated: the next request that succeeds replaces the plan
        return None
    request = AuthenticatedRequest(
        parsed, found.client, found.presented, is_secret_checked=known.secret is not None
    )
    try:
        return (yield from module.grant_if_free(request))
    except (OAuthError, IntegrityError, SigningKey.DoesNotExist):
        return None


def add(sent: RawTokenRequest, request: AuthenticatedRequest) -> None:
    """Make a plan of a request that passed all steps, if a later request can be compared with it."""
    parsed, application = request.parsed, request.application
    presented = {name: value for name, value in parsed.parameters.items() if name in PRESENTED}
    is_same = sent.presented == presented and sent.client_id == application.client_id
    if not is_same or request.is_secret_checked != bool(sent.secret):
        return
    secret = client_secrets.find(application, sent.secret) if sent.secret else None
    digest = client_secrets.digest(sent.secret) if sent.secret else plan_store.NO_SECRET
    if (secret.digest if secret else plan_store.NO_SECRET) != digest:
        return
    names = parsed.grant.PARAMETERS - PRESENTED
    kept = {name: value for name, value in parsed.parameters.items() if name in names}
    plan = UserPlan(
        form=sent.form,
        secret_digest=digest,
        request=TokenRequest(parsed.grant_type, parsed.grant, kept, authorization=None),
        presented=frozenset(presented),
        known=KnownApplication(application, secret),
        size=plan_store.measure(sent.form, digest, kept, *vars(application).values()),
    )
    plan_store.store(plan, sent)
