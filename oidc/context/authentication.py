"""End users' access tokens at our own JSON endpoints."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound
from rest_framework.request import Request

from oidc.provider import bearer
from oidc.provider.bearer import ApplicationGone, InvalidBearer, Principal


class EndUserAuthentication(BaseAuthentication):
    """Bearer tokens that speak for a user."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        """Return who is behind the token; nobody without one.

        Raises:
            NotAuthenticated: the header has no token.
            AuthenticationFailed: the token is no good, or its user is.
            NotFound: its application is gone.

        """
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotAuthenticated
        try:
            return bearer.end_user(token.strip(), names=True), None
        except ApplicationGone:
            raise NotFound("application not found or invalid") from None
        except InvalidBearer as error:
            raise AuthenticationFailed(str(error)) from None

    def authenticate_header(self, request: Request) -> str:
        """Say how to come in (RFC 6750 section 3)."""
        return 'Bearer realm="gatehouse"'
