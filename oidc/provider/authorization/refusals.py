"""The errors of the authorization endpoint alone. The client gets them at its redirect URI.

A description names the parameter and the rule, and repeats no value that was sent.
"""

from oidc.provider.errors import InvalidRequest, OAuthError


class UnsupportedResponseType(OAuthError):
    """The response type is not ``code``."""

    code = "unsupported_response_type"
    description = "response_type must be code"


class InvalidScope(OAuthError):
    """The scope lacks ``openid``, so this is not a request of OpenID Connect."""

    code = "invalid_scope"
    description = "scope must contain openid"


class RequestNotSupported(OAuthError):
    """The request has a request object (OpenID Connect Core 3.1.2.6)."""

    code = "request_not_supported"
    description = "request is not supported"


class RequestUriNotSupported(OAuthError):
    """The request refers to a request object (OpenID Connect Core 3.1.2.6)."""

    code = "request_uri_not_supported"
    description = "request_uri is not supported"


class UnmetAuthenticationRequirements(OAuthError):
    """The sign-in is weaker than the request demands (OpenID Connect Core Error Code 1.0)."""

    code = "unmet_authentication_requirements"
    description = "the user did not sign in as strongly as the request demands"


class InvalidTarget(OAuthError):
    """The resource is unknown (RFC 8707 section 2)."""

    code = "invalid_target"
    description = "resource must be the indicator of an API"


class UnknownOrganization(InvalidRequest):
    """The organization is unknown, or the user does not belong to it."""

    description = "organization_id must name an organization of the user"


class LoginRequired(OAuthError):
    """The user is not signed in as the request demands (OpenID Connect Core 3.1.2.6)."""

    code = "login_required"
    description = "the user must sign in for this request"


class ConsentRequired(OAuthError):
    """The user has not consented (OpenID Connect Core 3.1.2.6)."""

    code = "consent_required"
    description = "the user must consent to this request"


class InteractionRequired(OAuthError):
    """The user has to see a page (OpenID Connect Core 3.1.2.6)."""

    code = "interaction_required"
    description = "the user must confirm this request on a page"


class AccessDenied(OAuthError):
    """The user refused (RFC 6749 section 4.1.2.1)."""

    code = "access_denied"
    description = "the user refused this request"


class UserNotAllowed(AccessDenied):
    """The user may not use the application: see ``oidc.applications.access``."""

    description = "the user may not use this application"
