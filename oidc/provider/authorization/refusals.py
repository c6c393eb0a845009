"""The errors of the authorization endpoint alone. The client gets them at its redirect URI."""

from oidc.provider.errors import OAuthError


class UnsupportedResponseType(OAuthError):
    """The response type is not ``code``."""

    code = "unsupported_response_type"
    description = "response_type must be code."


class InvalidScope(OAuthError):
    """The scope lacks ``openid``, so this is not a request of OpenID Connect."""

    code = "invalid_scope"
    description = "The scope must contain openid."


class RequestNotSupported(OAuthError):
    """The request has a request object (OpenID Connect Core 3.1.2.6)."""

    code = "request_not_supported"
    description = "The request parameter is not supported."


class RequestUriNotSupported(OAuthError):
    """The request refers to a request object (OpenID Connect Core 3.1.2.6)."""

    code = "request_uri_not_supported"
    description = "The request_uri parameter is not supported."


class UnmetAuthenticationRequirements(OAuthError):
    """The request demands an ``acr``, and no sign-in has one (OpenID Connect Core Error Code 1.0)."""

    code = "unmet_authentication_requirements"
    description = "There is no acr that a sign-in here could have."


class InvalidTarget(OAuthError):
    """The resource is unknown (RFC 8707 section 2)."""

    code = "invalid_target"
    description = "The resource is unknown."
