"""Authentication of the management API: administrators and machine applications."""

from functools import partial
from typing import Final

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.request import Request

from audit import context
from management.administrators import tokens
from management.administrators.models import Administrator
from management.api import permissions
from oidc.provider import client_principal
from oidc.provider.bearer import InvalidBearer
from oidc.provider.client_principal import ClientPrincipal, NotAClientToken

_REFUSAL: Final = "the token is invalid or expired: sign in again"

Caller = Administrator | ClientPrincipal


class ManagementAuthentication(BaseAuthentication):
    """Bearer tokens of administrators (HS256) and of machine applications (ES256)."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """Return the caller of the token; None without an Authorization header.

        Raises:
            NotAuthenticated: the header has no token.
            AuthenticationFailed: the token is invalid.
            PermissionDenied: the token belongs to an end user.

        """
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotAuthenticated
        caller = _caller(token.strip(), request)
        if isinstance(caller, Administrator):
            context.set_actor(administrator_id=caller.pk)
        else:
            context.set_actor(application_id=str(caller.application.pk))
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge (RFC 6750 section 3)."""
        return 'Bearer realm="gatehouse"'


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
