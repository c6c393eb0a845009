"""The one place where a refusal becomes an answer."""

from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404
from psycopg.errors import ForeignKeyViolation
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from identity.core.errors import ServiceError
from management.api.envelope import refusal

# RFC 6750 section 3.1. Whoever sent no token is told of no error.
_OF_THE_TOKEN: Final = {
    exceptions.AuthenticationFailed: "invalid_token",
    exceptions.PermissionDenied: "insufficient_scope",
}


def handle(error: Exception, context: dict[str, Any]) -> Response | None:  # noqa: PLR0911 - a table
    """Return the envelope of an error, or nothing for one that nobody foresaw."""
    set_rollback()
    if isinstance(error, ServiceError):
        return _respond(error.status, error.message, error.headers, error.result)
    if isinstance(error, exceptions.ValidationError):
        return _respond(400, _fields(error.detail))
    if isinstance(error, exceptions.NotAuthenticated):
        return _respond(401, "a bearer token is needed: sign in first", _headers(error, context))
    if isinstance(error, exceptions.APIException):
        return _respond(error.status_code, str(error.detail).rstrip("."), _headers(error, context))
    if isinstance(error, Http404):
        return _respond(404, "not found")
    if isinstance(error, PermissionDenied):
        return _respond(403, "not allowed")
    if isinstance(error, IntegrityError) and isinstance(error.__cause__, ForeignKeyViolation):
        response = _respond(400, "something that the request names was deleted at this moment: read it again")
        response.in_doubt = True  # type: ignore[attr-defined]  # it may be the tenant
        return response
    if isinstance(error, OperationalError | InterfaceError):
        return _respond(503, "the database is away: try again in a moment", {"Retry-After": "2"})
    return None


def _respond(code: int, message: str, headers: dict[str, str] | None = None, result: object = "") -> Response:
    return Response(
        refusal(code, message, result), status=code, headers={"Cache-Control": "no-store"} | (headers or {})
    )


def _headers(error: exceptions.APIException, context: dict[str, Any]) -> dict[str, str]:
    headers = {}
    if challenge := _challenge(error, context):
        headers["WWW-Authenticate"] = challenge
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait))
    if isinstance(error, exceptions.MethodNotAllowed):
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    return headers


def _challenge(error: exceptions.APIException, context: dict[str, Any]) -> str:
    """Say how to come in, and what was wrong with the token that came.

    RFC 6750 section 3: also to a token that is good, but does not open this.
    """
    if not isinstance(error, (exceptions.NotAuthenticated, *_OF_THE_TOKEN)):
        return ""
    scheme: str | None = context["view"].get_authenticate_header(context["request"])
    word = _OF_THE_TOKEN.get(type(error))
    return f'{scheme}, error="{word}"' if scheme and word else scheme or ""


def _fields(detail: object, path: str = "") -> str:
    """Say which field breaks which rule: ``username: already exists; email: …``."""
    if isinstance(detail, dict):
        parts = [_fields(value, _joined(path, str(name))) for name, value in detail.items()]
        return "; ".join(parts)
    if isinstance(detail, list):
        return "; ".join(
            _fields(item, _joined(path, str(index)) if isinstance(item, dict) else path)
            for index, item in enumerate(detail)
            if item
        )
    text = str(detail).rstrip(".")
    return f"{path}: {text}" if path else text


def _joined(path: str, name: str) -> str:
    if name == "non_field_errors":
        return path
    return f"{path}.{name}" if path else name
