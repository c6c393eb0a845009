"""The refresh token grant (RFC 6749 section 6). Each use rotates the token's family."""

from dataclasses import dataclass
from typing import Final

from oauthlib.oauth2 import RefreshTokenGrant

from audit.events import Event
from audit.models import Entry
from database import batching
from database.batching import Work
from oidc.grants import families, known_applications, rotation
from oidc.grants.families import FoundFamily
from oidc.grants.known_applications import KnownApplication
from oidc.grants.models import RefreshFamily
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
from oidc.provider.errors import InvalidGrant
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

PARAMETERS: Final = frozenset(("refresh_token", "scope", "resource", "organization_id"))
FLOW: Final = RefreshTokenGrant
EVENT: Final = Event.TOKEN_REFRESH
_NOT_ACCEPTED: Final = "The refresh token has expired, was revoked or was used before."


@dataclass(frozen=True, slots=True)
class FoundToken:
    """A refresh token that we issued: its family, and the generation that was presented."""

    family: FoundFamily
    generation: int


def find_client(request: TokenRequest, client_id: str) -> FoundClient | None:
    """Return the client with this id, and the presented refresh token if it was issued to this client."""
    token = families.parse_token(request["refresh_token"])
    if token is not None and client_authentication.is_well_formed(client_id):
        family = families.find(token.family_id, client_id=client_id)
        if family is not None:
            client = Client(family.row.application, family.default_key_id, family.own_key_id)
            return FoundClient(client, FoundToken(family, token.generation))
    client_only = client_authentication.find(client_id)
    return FoundClient(client_only) if client_only else None


def find_known(request: TokenRequest, known: KnownApplication) -> Work[FoundClient | None]:
    """Return the presented refresh token if it was issued to the known application, which has not changed."""
    token = families.parse_token(request["refresh_token"])
    if token is None:
        return None
    family = yield from known_applications.find_family(token.family_id, known)
    if family is None:
        return None
    client = Client(known.row, family.default_key_id, family.own_key_id)
    return FoundClient(client, FoundToken(family, token.generation))


def find_refreshable_token(request: AuthenticatedRequest) -> FoundToken:
    """Return the presented refresh token.

    Raises:
        InvalidGrant: the token was not issued to this client, or its family has ended or expired.

    """
    token = request.presented
    if not isinstance(token, FoundToken) or not token.family.is_refreshable:
        raise InvalidGrant
    return token


def handle(request: AuthenticatedRequest) -> Granted:
    """Rotate the family. A retry in the grace period gets the newest token again; a replay ends the family.

    Raises:
        InvalidGrant: the token was replayed or is no longer valid, the user may not use the application,
            or revoked the consent.
        errors.InvalidRequest: the resource or organization is unknown or not available to this user,
            or it or the application requires a stronger sign-in. Nothing was used up.
        errors.TooManyScopes: the scopes are too many for a token. Nothing was used up.
        SigningKey.DoesNotExist: the signing key was deleted; the family was not rotated.

    """
    token = find_refreshable_token(request)
    # First of all: a replay ends the family even if the request is refused for another reason.
    if families.end_if_misused(token.family, token.generation):
        raise InvalidGrant(_NOT_ACCEPTED)
    family = token.family.row
    context, entry = batching.run(_decide(request, family))
    newest = families.rotate(family, token.generation, entry)
    if newest is None:
        raise InvalidGrant(_NOT_ACCEPTED)
    return Granted(context, newest, Repeatable(request, entry))


def grant_if_free(request: AuthenticatedRequest) -> Work[Granted | None]:
    """Rotate the family if its newest token was presented. Return None, with nothing written, otherwise.

    Return None, too, if a custom claim is too large, which has to be recorded. This never waits for another
    request that is changing the family.

    Raises:
        errors.OAuthError: as ``handle``. Nothing was written.
        SigningKey.DoesNotExist: the signing key was deleted; the family was not rotated.

    """
    token = find_refreshable_token(request)
    family = token.family.row
    if token.generation != family.generation:
        return None
    context, entry = yield from _decide(request, family)
    if context.facts.omitted:
        return None
    return Granted(context, family) if (yield from rotation.advance_if_free(family, entry)) else None


def _decide(request: AuthenticatedRequest, family: RefreshFamily) -> Work[tuple[GrantContext, Entry]]:
    """Return what a refreshable family grants, and the audit entry, unsaved."""
    yield from grant_access.check(family.user, family.application)
    target_demands.check_application(target_demands.get_strength(family), family.application)
    context = yield from signing_key.reserve((yield from _new_context(request, family)))
    yield from released_claims.prepare(context)  # so that after the rotation only signatures are missing
    return context, new_entry(request, context, user_id=family.user_id)


def _new_context(request: AuthenticatedRequest, family: RefreshFamily) -> Work[GrantContext]:
    parsed, application = request.parsed, request.application
    consent = yield from grant_consent.get_consent(application, family)
    original = grant_consent.get_identity_scopes(family, consent)
    requested = scopes.get_identity_scopes(parsed["scope"]) if parsed["scope"] else original
    return GrantContext(
        application=application,
        access_token_key_id=request.client.default_key_id,
        id_token_key_id=request.client.id_token_key_id,
        agreed_to_old_profile=consent is not None and consent.has_old_profile,
        # RFC 6749 section 6: a refresh may narrow the scope, never widen it.
        scopes=tuple(scope for scope in requested if scope in original),
        target=(
            yield from target.resolve_for_user(
                family.user,
                (parsed["scope"] or family.scope).split(),
                resource=parsed["resource"],
                organization_id=parsed["organization_id"],
                consent=consent,
                strength=target_demands.get_strength(family),
            )
        ),
        user=family.user,
        claims=claims_request.from_json(family.claims),
        sign_in=SignIn(family.session_id, family.auth_time, family.amr, family.acr),
        family_id=family.pk,
    )
