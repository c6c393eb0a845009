"""What oauthlib does not check of an authorization request."""

import re
from typing import Any, Final

from oauthlib.common import Request
from oauthlib.oauth2 import InvalidRequestError, OAuth2Error, UnsupportedResponseTypeError
from oauthlib.openid.connect.core.exceptions import RequestNotSupported, RequestURINotSupported

from identity.resources.models import Resource
from oidc.provider import claims_request

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9\-_]{43}")
_MAX_AGE: Final = re.compile(r"[0-9]{1,9}")


class InvalidTarget(OAuth2Error):  # type: ignore[misc]  # oauthlib is untyped
    """The resource is unknown (RFC 8707 section 2)."""

    error = "invalid_target"
    description = "The resource is unknown."


class UnmetAuthenticationRequirements(OAuth2Error):  # type: ignore[misc]  # oauthlib is untyped
    """No sign-in here could satisfy what was asked for (OpenID Connect Core Error Code 1.0)."""

    error = "unmet_authentication_requirements"
    description = "There is no acr that a sign-in here could have."


def check(request: Request) -> dict[str, object]:
    """Check what oauthlib does not, once client and redirect URI are known to be good.

    Runs before oauthlib's own checks of the rest. A parameter without a value counts as left
    out (RFC 6749 section 3.1), save one of PKCE, which then is wrong rather than waived.
    """
    for name, error in (("request", RequestNotSupported), ("request_uri", RequestURINotSupported)):
        if getattr(request, name, None):
            # OpenID Connect Core 3.1.2.6. Nothing is fetched.
            raise error(request=request)
    if request.response_mode and request.response_mode not in {"query", "fragment"}:
        raise InvalidRequestError(description="response_mode must be query or fragment.", request=request)
    if request.response_type is not None and request.response_type != "code":
        raise UnsupportedResponseTypeError(description="response_type must be code.", request=request)
    challenge, method = request.code_challenge, request.code_challenge_method
    if challenge is None and method is not None:
        raise InvalidRequestError(description="code_challenge is missing.", request=request)
    if challenge is not None and not _CHALLENGE.fullmatch(challenge):
        raise InvalidRequestError(
            description="code_challenge must be 43 base64url characters.", request=request
        )
    if request.max_age and not _MAX_AGE.fullmatch(request.max_age):
        raise InvalidRequestError(description="max_age must be a number of seconds.", request=request)
    if request.claims:
        request.claims = _claims(request)
    if request.resource is not None and not Resource.objects.filter(indicator=request.resource).exists():
        raise InvalidTarget(request=request)
    return {}


def _claims(request: Request) -> dict[str, Any]:
    try:
        document = claims_request.parse(request.claims)
    except claims_request.Malformed:
        raise InvalidRequestError(
            description="claims must be a JSON object in which no name comes twice.", request=request
        ) from None
    if claims_request.demands_acr(document):
        # Core 5.5.1.1: the OP MUST treat that outcome as a failed authentication attempt.
        raise UnmetAuthenticationRequirements(request=request)
    return document
