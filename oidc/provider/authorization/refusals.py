"""What only an authorization request is refused for."""

from oidc.provider.errors import OAuthError


class Unanswerable(Exception):
    """The client or its redirect URI is bad: tell the person, and redirect nowhere."""


class UnsupportedResponseType(OAuthError):
    """Only codes are issued."""

    code = "unsupported_response_type"
    description = "response_type must be code."


class InvalidScope(OAuthError):
    """The request is not one of OpenID Connect."""

    code = "invalid_scope"
    description = "The scope must contain openid."


class RequestNotSupported(OAuthError):
    """There is a request object (OpenID Connect Core 3.1.2.6)."""

    code = "request_not_supported"
    description = "The request parameter is not supported."


class RequestUriNotSupported(OAuthError):
    """There is a reference to a request object (OpenID Connect Core 3.1.2.6)."""

    code = "request_uri_not_supported"
    description = "The request_uri parameter is not supported."


class UnmetAuthenticationRequirements(OAuthError):
    """No sign-in here could satisfy what was asked for (OpenID Connect Core Error Code 1.0)."""

    code = "unmet_authentication_requirements"
    description = "There is no acr that a sign-in here could have."


class InvalidTarget(OAuthError):
    """The resource is unknown (RFC 8707 section 2)."""

    code = "invalid_target"
    description = "The resource is unknown."
