"""oauthlib calls the checks of an authorization request (see ``checks``)."""

from typing import Any, Final

from oauthlib.oauth2 import AuthorizationCodeGrant, FatalClientError, OAuth2Error

from oidc.provider import oauthlib_errors
from oidc.provider.authorization import checks
from oidc.provider.authorization.checks import ClientRequest, SentRequest
from oidc.provider.errors import Unanswerable
from oidc.provider.validator import OAuthRequest, Validator


def run(request: SentRequest) -> ClientRequest:
    """Make all checks of a request, and return it with its client.

    Raises:
        Unanswerable: the client or its redirect URI is invalid or cannot be read, so no response may be
            sent to it.
        OAuthError: another check failed.

    """
    checks.check_addressing(request)
    oauth = OAuthRequest("/oidc/authorize", "GET", request.sent.select(checks.PARAMETERS))
    oauth.stage = request
    try:
        _FLOW.validate_authorization_request(oauth)
    except FatalClientError as error:
        # client_id or redirect_uri is missing, or is not a URI.
        raise Unanswerable(oauthlib_errors.describe(error)) from None
    except OAuth2Error as error:
        raise oauthlib_errors.translate(error) from None
    checked: ClientRequest = oauth.stage
    return checked


def _run_answered_checks(oauth: Any) -> dict[str, object]:
    for check in checks.ANSWERED:
        check(oauth.stage)
    return {}


def _new_flow() -> AuthorizationCodeGrant:
    flow = AuthorizationCodeGrant(Validator())
    flow.custom_validators.pre_auth.append(_run_answered_checks)
    return flow


_FLOW: Final = _new_flow()
