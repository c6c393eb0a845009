"""Authentication of end users by access token, for Gatehouse's own JSON endpoints."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound
from rest_framework.request import Request

from oidc.provider import bearer
from oidc.provider.bearer import ApplicationGone, InvalidBearer, Principal


class EndUserAuthentication(BaseAuthentication):
    """Authenticates the user of a bearer token."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        """Return the principal of the token, or None without an ``Authorization`` header.

        Raises:
            NotAuthenticated: the header has no bearer token.
            AuthenticationFailed: the token is invalid, or its user may not sign in.
            NotFound: its application was deleted.

        """
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotAuthenticated
        try:
            return bearer.authenticate(token.strip(), with_names=True), None
        except ApplicationGone:
            raise NotFound("application not found or invalid") from None
        except InvalidBearer as error:
            raise AuthenticationFailed(str(error)) from None

    def authenticate_header(self, request: Request) -> str:
        """Return the ``WWW-Authenticate`` challenge (RFC 6750 section 3)."""
        return 'Bearer realm="gatehouse"'
