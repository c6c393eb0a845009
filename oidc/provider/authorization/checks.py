"""What oauthlib does not check of an authorization request."""

import re
from typing import Final

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
    for rule in (_request_objects, _response, _challenge, _max_age, _claims, _resource):
        rule(request)
    return {}


def _request_objects(request: Request) -> None:
    for name, error in (("request", RequestNotSupported), ("request_uri", RequestURINotSupported)):
        if getattr(request, name, None):
            # OpenID Connect Core 3.1.2.6. Nothing is fetched.
            raise error(request=request)


def _response(request: Request) -> None:
    if request.response_mode and request.response_mode not in {"query", "fragment"}:
        raise InvalidRequestError(description="response_mode must be query or fragment.", request=request)
    if request.response_type is not None and request.response_type != "code":
        raise UnsupportedResponseTypeError(description="response_type must be code.", request=request)


def _challenge(request: Request) -> None:
    challenge, method = request.code_challenge, request.code_challenge_method
    if challenge is None and method is not None:
        raise InvalidRequestError(description="code_challenge is missing.", request=request)
    if challenge is not None and not _CHALLENGE.fullmatch(challenge):
        raise InvalidRequestError(
            description="code_challenge must be 43 base64url characters.", request=request
        )


def _max_age(request: Request) -> None:
    if request.max_age and not _MAX_AGE.fullmatch(request.max_age):
        raise InvalidRequestError(description="max_age must be a number of seconds.", request=request)


def _claims(request: Request) -> None:
    """Put what was understood in the place of the text."""
    if not request.claims:
        return
    try:
        request.claims = claims_request.parse(request.claims)
    except claims_request.Malformed:
        raise InvalidRequestError(
            description="claims must be a JSON object in which no name comes twice.", request=request
        ) from None
    if claims_request.demands_acr(request.claims):
        # Core 5.5.1.1: the OP MUST treat that outcome as a failed authentication attempt.
        raise UnmetAuthenticationRequirements(request=request)


def _resource(request: Request) -> None:
    if request.resource is not None and not Resource.objects.filter(indicator=request.resource).exists():
        raise InvalidTarget(request=request)
