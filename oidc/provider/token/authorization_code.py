"""The authorization code grant at the token endpoint (RFC 6749 section 4.1.3, RFC 7636 section 4.6).

oauthlib calls ``find_live_or_used_code``, compares the verifier of PKCE with ``get_challenge``, and calls
``check_redirect_uri`` and ``handle``. With a plan, ``grant_if_free`` does all of this (see ``user_plans``).
"""

import hashlib
import hmac
import re
from typing import Final
from uuid import UUID

from oauthlib.oauth2 import AuthorizationCodeGrant

from audit.events import Event
from audit.models import Entry
from database import batching, ids
from database.batching import Work
from oidc.applications import redirect_uris
from oidc.grants import codes, families, known_applications, redemption, revocations
from oidc.grants.code_sign_ins import CodeSignIn
from oidc.grants.codes import FoundCode
from oidc.grants.consents import GrantedConsent
from oidc.grants.known_applications import KnownApplication
from oidc.grants.models import AuthorizationCode, RefreshFamily
from oidc.grants.redemption import IssuedTokens
from oidc.keys import jws
from oidc.provider import (
    claims_request,
    client_authentication,
    grant_access,
    grant_consent,
    released_claims,
    scopes,
    target,
    target_demands,
)
from oidc.provider.client_authentication import Client
from oidc.provider.errors import InvalidGrant, WrongVerifier
from oidc.provider.grant_context import GrantContext, SignIn
from oidc.provider.token import signing_key
from oidc.provider.token.issue_entry import new_entry
from oidc.provider.token.request import (
    AuthenticatedRequest,
    FoundClient,
    Granted,
    Repeatable,
    TokenRequest,
)

PARAMETERS: Final = frozenset(("code", "redirect_uri", "code_verifier", "resource", "organization_id"))
FLOW: Final = AuthorizationCodeGrant
EVENT: Final = Event.TOKEN_EXCHANGE
_VERIFIER: Final = re.compile(r"[A-Za-z0-9\-._~]{43,128}")


def find_client(request: TokenRequest, client_id: str) -> FoundClient | None:
    """Return the client with this id, and the presented code if it was issued to this client."""
    if client_authentication.is_well_formed(client_id):
        code = codes.find(request["code"], client_id=client_id)
        if code is not None:
            return FoundClient(Client(code.row.application, code.default_key_id, code.own_key_id), code)
    client = client_authentication.find(client_id)
    return FoundClient(client) if client else None


def find_known(request: TokenRequest, known: KnownApplication) -> Work[FoundClient | None]:
    """Return the presented code if it was issued to the known application, which has not changed."""
    code = yield from known_applications.find_code(request["code"], known)
    return FoundClient(Client(known.row, code.default_key_id, code.own_key_id), code) if code else None


def find_live_or_used_code(request: AuthenticatedRequest) -> AuthorizationCode:
    """Return the presented code. A code that was redeemed before is returned too; ``handle`` refuses it.

    Raises:
        InvalidGrant: the code was not issued to this client, the code or its session has expired, or the
            user's grants were ended meanwhile.

    """
    return _find_live_or_used_code(request).row


def _find_live_or_used_code(request: AuthenticatedRequest) -> FoundCode:
    code = request.presented
    if not isinstance(code, FoundCode) or not (code.is_live or code.row.consumed_at):
        raise InvalidGrant
    return code


def get_challenge(request: AuthenticatedRequest) -> str | None:
    """Return the challenge of the authorization request, or None if it had none."""
    return find_live_or_used_code(request).code_challenge or None


def check_redirect_uri(request: AuthenticatedRequest, redirect_uri: str) -> None:
    """Check that the URI is that of the authorization request (RFC 6749 section 4.1.3), and still registered.

    Raises:
        InvalidGrant: it is another URI, or no longer registered.

    """
    application = request.application
    if redirect_uri != find_live_or_used_code(request).redirect_uri:
        raise InvalidGrant("redirect_uri differs from the one in the authorization request.")
    if not redirect_uris.matches(redirect_uri, application.redirect_uris, application.type):
        raise InvalidGrant("redirect_uri is not registered for this application.")


def handle(request: AuthenticatedRequest) -> Granted:
    """Redeem the code, and create a refresh family if the application may refresh and got ``offline_access``.

    Raises:
        InvalidGrant: the code was redeemed before, the verifier is wrong, the user may not use the
            application, or the consent was revoked.
        errors.InvalidRequest: the resource or organization is unknown or not available to this user,
            or it or the application requires a stronger sign-in. Nothing was used up.
        errors.TooManyScopes: the scopes are too many for a token. Nothing was used up.
        SigningKey.DoesNotExist: the signing key was deleted; the code was not redeemed.

    """
    found = _find_live_or_used_code(request)
    code = found.row
    if not _is_verifier_valid(request, code):
        raise WrongVerifier
    if code.consumed_at is not None:
        raise _revoke_for_reuse(code)
    context, family, entry = batching.run(_decide(request, code))
    if not redemption.redeem(code, IssuedTokens(context.token_id, context.expires_at, family), entry):
        raise _revoke_for_reuse(code)
    if family is not None and found.is_user_at_limit:
        revocations.end_excess(user_id=code.user_id, application_id=code.application_id)
    # A native application has another port in each redirect URI, so no later request has the same bytes.
    is_repeatable = code.redirect_uri in request.application.redirect_uris
    return Granted(context, family, Repeatable(request, entry) if is_repeatable else None)


def grant_if_free(request: AuthenticatedRequest) -> Work[Granted | None]:
    """Make oauthlib's checks and redeem the code. If it was used before, return None with nothing written.

    Return None, too, if a custom claim is too large, which has to be recorded, or if older families have to
    end. This never waits for another request that is changing the code.

    Raises:
        errors.OAuthError: as ``check_redirect_uri`` and ``handle``. Nothing was written.
        SigningKey.DoesNotExist: the signing key was deleted; the code was not redeemed.

    """
    found = _find_live_or_used_code(request)
    code = found.row
    check_redirect_uri(request, request.parsed["redirect_uri"])
    if not _is_verifier_valid(request, code):
        raise WrongVerifier
    if code.consumed_at is not None or found.is_user_at_limit:
        return None
    context, family, entry = yield from _decide(request, code)
    if context.facts.omitted:
        return None
    issued = IssuedTokens(context.token_id, context.expires_at, family)
    is_redeemed = yield from redemption.redeem_if_free(code, issued, entry)
    return Granted(context, family) if is_redeemed else None


def _decide(
    request: AuthenticatedRequest, code: AuthorizationCode
) -> Work[tuple[GrantContext, RefreshFamily | None, Entry]]:
    """Return what an unused code grants, and the family and the audit entry, unsaved."""
    yield from grant_access.check(code.user, code.application)
    sign_in = CodeSignIn.of_code(code)
    target_demands.check_application(target_demands.get_strength(sign_in), code.application)
    consent = yield from grant_consent.get_consent(request.application, code)
    context = yield from signing_key.reserve((yield from _new_context(request, code, sign_in, consent)))
    yield from released_claims.prepare(context)  # so that no read fails after the code is used up
    family = None
    if context.family_id is not None:
        family = families.new_family(
            family_id=context.family_id,
            application=context.application,
            sign_in=sign_in,
            scope=code.scope,
            claims=code.claims,
            consent_id=consent.id if consent else None,
            acr=code.acr,
        )
    return context, family, new_entry(request, context, user_id=code.user_id)


def _is_verifier_valid(request: AuthenticatedRequest, code: AuthorizationCode) -> bool:
    """Return whether the verifier is that of the challenge, and none was sent without a challenge.

    RFC 9700 section 4.8.2: a verifier without a challenge means that an attacker removed the challenge from
    the authorization request.
    """
    verifier = request.parsed.parameters.get("code_verifier")
    if not code.code_challenge:
        return verifier is None and not request.application.must_use_pkce
    if verifier is None or not _VERIFIER.fullmatch(verifier):
        return False
    # RFC 7636 section 4.6, S256
    challenge = jws.encode(hashlib.sha256(verifier.encode()).digest())
    return hmac.compare_digest(challenge.encode(), code.code_challenge.encode())


def _revoke_for_reuse(code: AuthorizationCode) -> InvalidGrant:
    """Revoke the tokens that were issued for a code, and return the error.

    OAuth 2.1 section 7.5.3: only after all other checks, or anyone who saw the code could revoke its tokens.
    """
    codes.revoke_issued(code)
    return InvalidGrant("The code was used before.")


def _new_context(
    request: AuthenticatedRequest,
    code: AuthorizationCode,
    sign_in: CodeSignIn,
    consent: GrantedConsent | None,
) -> Work[GrantContext]:
    parsed, application = request.parsed, request.application
    granted = tuple(grant_consent.get_identity_scopes(code, consent))
    return GrantContext(
        application=application,
        access_token_key_id=request.client.default_key_id,
        id_token_key_id=request.client.id_token_key_id,
        agreed_to_old_profile=consent is not None and consent.has_old_profile,
        scopes=granted,
        target=(
            yield from target.resolve_for_user(
                code.user,
                code.scope.split(),
                resource=parsed["resource"] or code.resource,
                organization_id=parsed["organization_id"] or code.organization_id,
                consent=consent,
                strength=target_demands.get_strength(sign_in),
            )
        ),
        user=code.user,
        claims=claims_request.from_json(code.claims),
        sign_in=SignIn(sign_in.session_id, sign_in.auth_time, sign_in.amr, code.acr),
        family_id=_new_family_id(request, granted),
        nonce=code.nonce,
    )


def _new_family_id(request: AuthenticatedRequest, granted: tuple[str, ...]) -> UUID | None:
    may_refresh = "refresh_token" in request.application.grant_types
    return ids.new() if may_refresh and scopes.OFFLINE_ACCESS in granted else None
