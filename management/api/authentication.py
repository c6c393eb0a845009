"""Authentication of the management API: administrators and machine applications."""

from functools import partial
from typing import Final

from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from audit import context
from identity.rest.bearer_authentication import BearerAuthentication
from management.administrators import tokens
from management.administrators.models import Administrator
from management.api import permissions
from oidc.provider import client_principal
from oidc.provider.bearer import InvalidBearer
from oidc.provider.client_principal import ClientPrincipal, NotAClientToken

_REFUSAL: Final = "the token is invalid or expired: sign in again"

Caller = Administrator | ClientPrincipal


class ManagementAuthentication(BearerAuthentication):
    """Bearer tokens of administrators (HS256) and of machine applications (ES256)."""

    def find_caller(self, token: str, request: Request) -> Caller:
        """Return the caller of the token.

        Raises:
            AuthenticationFailed: the token is invalid.
            PermissionDenied: the token belongs to an end user.

        """
        caller = _caller(token, request)
        if isinstance(caller, Administrator):
            context.set_actor(administrator_id=caller.pk)
        else:
            context.set_actor(application_id=str(caller.application.pk))
        return caller


def _caller(token: str, request: Request) -> Caller:
    """Return the caller of a token. Tokens of administrators and of applications have different keys."""
    if tokens.is_of_administrator(token):
        try:
            return tokens.get_administrator(token)
        except tokens.InvalidToken:
            raise AuthenticationFailed(_REFUSAL) from None
    try:
        return client_principal.authenticate(token, partial(permissions.get_principal_query, request))
    except InvalidBearer:
        raise AuthenticationFailed(_REFUSAL) from None
    except NotAClientToken:
        raise PermissionDenied("the management API does not accept end users' tokens") from None
