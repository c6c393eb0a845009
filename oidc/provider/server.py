"""The three grants and the one response type, composed from oauthlib's parts.

Stands where the toolkit would put oauthlib's ready-made server, which also knows the
implicit, hybrid, password and device grants. Here an unknown grant is simply unknown.
"""

from typing import Any, Final

from oauthlib.common import Request
from oauthlib.oauth2 import BearerToken, ClientCredentialsGrant
from oauthlib.oauth2.rfc6749.grant_types.authorization_code import code_challenge_method_s256
from oauthlib.openid.connect.core.grant_types import AuthorizationCodeGrant, RefreshTokenGrant

from oidc.applications.models import Application
from oidc.grants import families
from oidc.provider import issuing, tokens
from oidc.provider.authorization import checks
from oidc.provider.validator import Validator


def _access_token(request: Request) -> str:
    return tokens.access_token(request.grant)


def _refresh_token(request: Request) -> str | None:
    family = request.refresh_family
    return families.text_of(family) if family else None


def _lifetime(request: Request) -> int:
    return int(request.grant.lifetime)


def _code() -> AuthorizationCodeGrant:
    grant = AuthorizationCodeGrant(_validator)
    # OAuth 2.1 section 4.1.1: S256 only; without a method oauthlib assumes "plain".
    grant.proxy_target._code_challenge_methods = {"S256": code_challenge_method_s256}  # noqa: SLF001
    grant.custom_validators.pre_auth.append(checks.check)
    grant.custom_validators.post_token.append(issuing.for_code)
    return grant


def _refresh() -> RefreshTokenGrant:
    grant = RefreshTokenGrant(_validator)
    grant.custom_validators.post_token.append(issuing.for_refresh)
    return grant


def _client_credentials() -> ClientCredentialsGrant:
    grant = ClientCredentialsGrant(_validator)
    grant.custom_validators.post_token.append(issuing.for_client_credentials)
    return grant


_validator: Final = Validator()
_bearer: Final = BearerToken(
    _validator,
    token_generator=_access_token,
    refresh_token_generator=_refresh_token,
    expires_in=_lifetime,
)
_CODE: Final = _code()

GRANTS: Final[dict[str, Any]] = {
    "authorization_code": _CODE,
    "refresh_token": _refresh(),
    "client_credentials": _client_credentials(),
}


def authorization_request(pairs: list[tuple[str, str]], known: Application | None = None) -> Request:
    """Return an authorization request that passed every check.

    ``known`` is an application that was read a moment ago, and need not be read again.

    Raises:
        oauthlib.oauth2.FatalClientError: the client or its redirect URI is bad: never redirect.
        oauthlib.oauth2.OAuth2Error: anything else, for the redirect URI of the request.

    """
    request = Request("/oidc/authorize", body=pairs)
    request.scopes = None
    request.known = known
    try:
        _CODE.validate_authorization_request(request)
    except Exception as error:
        error.request = request  # type: ignore[attr-defined]  # where to send the refusal
        raise
    return request


def token_response(
    pairs: list[tuple[str, str]], authorization: str | None, *, is_optimistic: bool
) -> tuple[Request, int, str]:
    """Answer a token request of a known grant: the request, an HTTP status and a JSON body.

    One that ``is_optimistic`` may go by what was true some time ago: only if it succeeds it is true now.

    Raises:
        remembered.Outdated: it is not, and nothing happened.

    """
    headers = {} if authorization is None else {"Authorization": authorization}
    request = Request("/oidc/token", "POST", body=pairs, headers=headers)
    request.scopes = (request.scope or "").split()
    request.is_optimistic, request.remembered = is_optimistic, None
    _, body, status = GRANTS[request.grant_type].create_token_response(request, _bearer)
    return request, status, body
