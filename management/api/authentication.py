"""Who calls the management API: an administrator, or an application that was given it."""

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
from oidc.provider.client_principal import Machine, NotAMachine

_REFUSAL: Final = "the token is invalid or expired: sign in again"

Caller = Administrator | Machine


class ManagementAuthentication(BaseAuthentication):
    """Bearer tokens of administrators (HS256) and of machine applications (ES256)."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """Return the caller behind the token; nobody without one.

        Raises:
            NotAuthenticated: the header has no token.
            AuthenticationFailed: there is a token, and it is no good.
            PermissionDenied: the token is good, but speaks for an end user.

        """
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotAuthenticated
        caller = _caller(token.strip(), request)
        if isinstance(caller, Administrator):
            context.act_as(administrator_id=caller.pk)
        else:
            context.act_as(application_id=str(caller.application.pk))
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        """Say how to come in (RFC 6750 section 3)."""
        return 'Bearer realm="gatehouse"'


def _caller(token: str, request: Request) -> Caller:
    """Return who a token speaks for. Two kinds of token, each with one algorithm and its own keys."""
    if tokens.is_of_administrator(token):
        try:
            return tokens.administrator_of(token)
        except tokens.InvalidToken:
            raise AuthenticationFailed(_REFUSAL) from None
    try:
        return client_principal.machine(token, partial(permissions.questions, request))
    except InvalidBearer:
        raise AuthenticationFailed(_REFUSAL) from None
    except NotAMachine:
        raise PermissionDenied("an end user's token does not open the management API") from None
