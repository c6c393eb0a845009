"""The errors of the OAuth endpoints. ``error_responses`` has the response of each."""

from typing import ClassVar

from oidc.provider.scopes import MOST_BYTES


class OAuthError(Exception):
    """An error of RFC 6749 section 5.2: a code for programs and a description for developers."""

    code: ClassVar[str]
    status: ClassVar[int] = 400
    description = ""

    def __init__(self, description: str = "") -> None:
        self.description = description or self.description
        super().__init__(self.description)


class InvalidRequest(OAuthError):
    """A parameter is missing, malformed or repeated."""

    code = "invalid_request"
    description = "The request lacks a parameter or has one that is not valid."


class WrongMethod(InvalidRequest):
    """The endpoint only allows other methods."""

    status = 405

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed
        super().__init__(f"The method must be {' or '.join(allowed)}.")


class InvalidClient(OAuthError):
    """Client authentication failed. ``client_id`` is the one that was claimed."""

    code = "invalid_client"
    status = 401
    description = "The client is unknown or its credentials are wrong."

    def __init__(self, description: str = "", *, client_id: str) -> None:
        self.client_id = client_id
        super().__init__(description)


class InvalidGrant(OAuthError):
    """The authorization code or refresh token cannot be exchanged for tokens."""

    code = "invalid_grant"
    description = (
        "The code or refresh token is unknown, expired, used or revoked, or belongs to another client."
    )


class WrongVerifier(InvalidGrant):
    """PKCE failed."""

    description = "code_verifier does not match the code_challenge of the authorization request."


class UnauthorizedClient(OAuthError):
    """The client is authenticated, but may not do this."""

    code = "unauthorized_client"
    description = "The client may not use this grant type."


class UnsupportedGrantType(OAuthError):
    """The grant type is unknown."""

    code = "unsupported_grant_type"


class TooManyScopes(OAuthError):
    """The scopes of a token would make it too long for our endpoints to read."""

    code = "invalid_scope"
    description = f"The scopes of one token have at most {MOST_BYTES} bytes together: name fewer in scope."


class MissingToken(Exception):
    """The request has no access token."""

    def __init__(self) -> None:
        super().__init__("An access token is needed.")


class InsufficientScope(Exception):
    """The access token is valid, but lacks a scope."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__(f"The access token lacks the scope {scope}.")


class Unanswerable(Exception):
    """The request is invalid, and the browser may not be redirected. The text says why, for developers."""


class UnknownRedirectUri(Unanswerable):
    """The redirect URI in a parameter is not registered. In development, the page says which ones are."""

    def __init__(
        self, *, sent: str, registered: list[str], application_id: str, parameter: str = "redirect_uri"
    ) -> None:
        self.sent = sent
        self.registered = registered
        self.application_id = application_id
        self.parameter = parameter
        super().__init__(f"{parameter} is not registered for this application.")
