"""Authentication by bearer token (RFC 6750)."""

from abc import ABC, abstractmethod
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request

from identity.http import bodies


class BearerAuthentication(ABC, BaseAuthentication):
    """Authenticates the caller that a bearer token names."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return the caller of the token, or None without an ``Authorization`` header.

        The caller of a request with a large body is read again once the body has arrived, because rights may
        have been removed meanwhile.

        Raises:
            NotAuthenticated: the header has no bearer token.

        """
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotAuthenticated
        caller = self.find_caller(token.strip(), request)
        if bodies.receive(request):
            caller = self.find_caller(token.strip(), request)
        return caller, None

    @abstractmethod
    def find_caller(self, token: str, request: Request) -> Any:
        """Return the caller of a token. Subclasses raise the refusal of an invalid one."""

    def authenticate_header(self, request: Request) -> str:
        """Return the ``WWW-Authenticate`` challenge (RFC 6750 section 3)."""
        return 'Bearer realm="gatehouse"'
