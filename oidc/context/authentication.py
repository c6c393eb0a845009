"""Authentication of end users by access token, for Gatehouse's own JSON endpoints."""

from rest_framework.exceptions import AuthenticationFailed, NotFound
from rest_framework.request import Request

from identity.rest.bearer_authentication import BearerAuthentication
from oidc.provider import bearer
from oidc.provider.bearer import ApplicationGone, ContextPrincipal, InvalidBearer


class EndUserAuthentication(BearerAuthentication):
    """Authenticates the user of a bearer token."""

    def find_caller(self, token: str, request: Request) -> ContextPrincipal:
        """Return the principal of the token.

        Raises:
            AuthenticationFailed: the token is invalid, or its user may not sign in.
            NotFound: its application was deleted.

        """
        try:
            return bearer.authenticate_for_context(token)
        except ApplicationGone:
            raise NotFound("application not found or invalid") from None
        except InvalidBearer as error:
            raise AuthenticationFailed(str(error)) from None
