"""oauthlib runs the checks of an authorization request."""

from typing import Final

from oauthlib.common import Request
from oauthlib.oauth2.rfc6749.grant_types.authorization_code import code_challenge_method_s256
from oauthlib.openid.connect.core.grant_types import AuthorizationCodeGrant

from oidc.applications.models import Application
from oidc.provider.authorization import checks
from oidc.provider.validator import Validator


def _code() -> AuthorizationCodeGrant:
    grant = AuthorizationCodeGrant(Validator())
    # OAuth 2.1 section 4.1.1: S256 only; without a method oauthlib assumes "plain".
    grant.proxy_target._code_challenge_methods = {"S256": code_challenge_method_s256}  # noqa: SLF001
    grant.custom_validators.pre_auth.append(checks.check)
    return grant


_CODE: Final = _code()


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
