"""Redeeming the code of a trial in this process, and revoking what it was redeemed for.

The steps are those of the token endpoint. Instead of client authentication, the code has to be that of the
trial: its redirect URI, its PKCE challenge and its nonce. The tokens do not leave this process.
"""

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db import IntegrityError
from django.utils.translation import gettext_noop

from database import batching
from database.constraints import is_foreign_key_violation
from identity.core.refusal_texts import fill
from oidc.applications.models import Application
from oidc.grants import codes, consents
from oidc.grants.codes import FoundCode
from oidc.grants.models import AuthorizationCode
from oidc.keys import jws, signing
from oidc.keys.jws import Parsed
from oidc.keys.models import SigningKey
from oidc.provider import bearer, custom_claims, tokens, userinfo
from oidc.provider.errors import InsufficientScope, InvalidGrant
from oidc.provider.token import authorization_code, endpoint
from oidc.provider.token.request import AuthenticatedRequest, Granted, TokenRequest
from oidc.provider.trial import callback

_GRANT_TYPE: Final = "authorization_code"
ENDED: Final = "test_ended"


@dataclass(frozen=True, slots=True)
class TrialSecrets:
    """What only the trial knows: its state, nonce and PKCE verifier, and when it began."""

    state: str
    nonce: str
    verifier: str
    begun_at: datetime

    @property
    def challenge(self) -> str:
        """The PKCE challenge of the verifier (RFC 7636 section 4.2)."""
        return jws.encode(hashlib.sha256(self.verifier.encode()).digest())


@dataclass(slots=True)
class Received:
    """What an application would have received so far. The tokens are decoded, and no longer valid."""

    scopes: tuple[str, ...] = ()
    lifetime: int = 0
    has_refresh_token: bool = False
    id_token: Parsed | None = None
    access_token: Parsed | None = None
    userinfo: dict[str, Any] = field(default_factory=dict)
    userinfo_alg: str = ""
    userinfo_error: str = ""
    has_revoked_consent: bool = False


def redeem(application: Application, code: str, known: TrialSecrets, received: Received) -> None:
    """Redeem the code of a trial, store the decoded tokens in ``received``, and revoke them.

    Raises:
        OAuthError: the code is not that of the trial, or an application would not get tokens for it either.
        SigningKey.DoesNotExist: a signing key was deleted meanwhile.

    """
    request, row = _find(application, code, known)
    try:
        endpoint.check_grant_type(request)
        _note_tokens(_handle(request), received)
    finally:
        codes.end_trial(row, reason=ENDED)
        received.has_revoked_consent = consents.revoke_for_trial(row, given_since=known.begun_at)


def _find(
    application: Application, code: str, known: TrialSecrets
) -> tuple[AuthenticatedRequest, AuthorizationCode]:
    """Return the token request of a trial, and its code.

    Raises:
        InvalidGrant: there is no such code, or it was issued for another request than that of the trial.

    """
    sent = {"code": code, "redirect_uri": callback.get_uri(application), "code_verifier": known.verifier}
    parsed = TokenRequest(_GRANT_TYPE, authorization_code, sent, None, is_trial=True)
    found = authorization_code.find_client(parsed, application.client_id)
    if found is None or not isinstance(found.presented, FoundCode):
        raise InvalidGrant
    row = found.presented.row
    is_of_trial = (
        row.redirect_uri == sent["redirect_uri"]
        and secrets.compare_digest(row.code_challenge.encode(), known.challenge.encode())
        and secrets.compare_digest(row.nonce.encode(), known.nonce.encode())
    )
    if not is_of_trial:
        raise InvalidGrant(gettext_noop("The code belongs to another request."))
    return AuthenticatedRequest(parsed, found.client, found.presented, is_secret_checked=False), row


def _handle(request: AuthenticatedRequest) -> Granted:
    try:
        authorization_code.find_live_or_used_code(request)
        return endpoint.handle_grant(request)
    except IntegrityError as error:
        if not is_foreign_key_violation(error):
            raise
        # The user, the session or the application was deleted at the same time.
        raise InvalidGrant from None


def _note_tokens(granted: Granted, received: Received) -> None:
    context = granted.context
    received.scopes, received.lifetime = context.all_scopes, context.lifetime
    received.has_refresh_token = granted.family is not None
    access_token = tokens.build_access_token(context)
    received.access_token = signing.verify(access_token, typ=tokens.ACCESS_TOKEN_TYPE)
    if context.has_id_token:
        id_token = tokens.build_id_token(context, access_token)
        received.id_token = signing.verify(id_token, typ=tokens.ID_TOKEN_TYPE)
    custom_claims.record_omissions(context.application.pk, context.facts.omitted)
    _note_userinfo(access_token, context.application.client_id, received)


def _note_userinfo(access_token: str, client_id: str, received: Received) -> None:
    try:
        principal = bearer.authenticate(access_token)
        received.userinfo = batching.run(userinfo.build(principal))
        received.userinfo_alg = principal.userinfo_alg
        if principal.userinfo_alg:
            signed = tokens.build_userinfo_token(
                dict(received.userinfo), client_id=client_id, algorithm=principal.userinfo_alg
            )
            batching.run(signed)
    except (bearer.InvalidBearer, InsufficientScope) as error:
        received.userinfo_error = str(error)
    except SigningKey.DoesNotExist:
        received.userinfo_error = fill(
            gettext_noop("The tenant has no active key for %(algorithm)s."), algorithm=received.userinfo_alg
        )
