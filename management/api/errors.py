"""Turns exceptions into error responses."""

import re
from http import HTTPStatus
from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from database import availability
from database.constraints import is_foreign_key_violation
from identity.core.errors import FieldError, ServiceError
from identity.http import areas
from identity.rest import input_errors, type_rules
from management.api.envelope import refusal

# RFC 6750 section 3.1: without a token, the challenge has no error code.
_ERROR_CODES: Final = {
    exceptions.AuthenticationFailed: "invalid_token",
    exceptions.PermissionDenied: "insufficient_scope",
}

# A word of a sentence. A name has underscores, capitals or other signs.
_WORD: Final = re.compile(r"[a-z]+(-[a-z]+)*[,:]?")


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response to an exception; None if the exception is unexpected."""
    set_rollback()
    response = _to_response(error, context)
    if response is not None and response.status_code == HTTPStatus.BAD_REQUEST and _is_versioned(context):
        errors = input_errors.find(error, context["view"], context["request"])
        if errors:
            response.data["errors"] = [_to_json(each) for each in errors]
    return response


def _is_versioned(context: dict[str, Any]) -> bool:
    """Return whether the path is below ``/api/v1``. The envelopes of other paths have no more members."""
    path: str = context["request"].path_info
    return path.startswith(areas.API_V1)


def _to_json(error: FieldError) -> dict[str, object]:
    shown: dict[str, object] = {"field": error.field, "code": error.code, "message": _to_sentence(error)}
    return shown | ({"allowed": list(error.allowed)} if error.allowed else {})


def _to_sentence(error: FieldError) -> str:
    """Return the rule with a capital, unless it begins with a name, as in ``redirect_uris must …``."""
    word = error.rule.partition(" ")[0]
    if not _WORD.fullmatch(word) or word == error.field.rpartition(".")[2]:
        return error.rule
    return error.rule[:1].upper() + error.rule[1:]


def _to_response(error: Exception, context: dict[str, Any]) -> Response | None:  # noqa: PLR0911 - a table
    if isinstance(error, ServiceError):
        return _respond(error.status, error.message, error.headers, error.result)
    if isinstance(error, exceptions.ValidationError):
        return _respond(400, _fields(error.detail))
    if isinstance(error, exceptions.NotAuthenticated):
        return _respond(401, "a bearer token is required: sign in first", _headers(error, context))
    if isinstance(error, exceptions.UnsupportedMediaType):
        return _respond(error.status_code, "Content-Type: must be application/json")
    if isinstance(error, exceptions.APIException):
        return _respond(error.status_code, str(error.detail).rstrip("."), _headers(error, context))
    if isinstance(error, Http404):
        return _respond(404, "not found")
    if isinstance(error, PermissionDenied):
        return _respond(403, "not allowed")
    if isinstance(error, IntegrityError) and is_foreign_key_violation(error):
        response = _respond(
            400, "a resource that the request names was just deleted: check its ids and try again"
        )
        response.in_doubt = True  # type: ignore[attr-defined]  # the deleted resource may be the tenant
        return response
    if availability.is_unavailable(error):
        return _respond(503, "the database is unavailable: try again in a moment", {"Retry-After": "2"})
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
    """Return the challenge, with an error code if a token was sent (RFC 6750 section 3)."""
    if not isinstance(error, (exceptions.NotAuthenticated, *_ERROR_CODES)):
        return ""
    scheme: str | None = context["view"].get_authenticate_header(context["request"])
    error_code = _ERROR_CODES.get(type(error))
    return f'{scheme}, error="{error_code}"' if scheme and error_code else scheme or ""


def _fields(detail: object, path: str = "") -> str:
    """Return the fields and the rules that they break: ``username: already exists; email: …``."""
    if isinstance(detail, dict):
        parts = [_fields(value, _joined(path, str(name))) for name, value in detail.items()]
        return "; ".join(parts)
    if isinstance(detail, list):
        return "; ".join(
            _fields(item, _joined(path, str(index)) if isinstance(item, dict) else path)
            for index, item in enumerate(detail)
            if item
        )
    error = type_rules.to_json_terms(detail) if isinstance(detail, exceptions.ErrorDetail) else detail
    text = str(error).rstrip(".")
    return f"{path}: {text}" if path else text


def _joined(path: str, name: str) -> str:
    if name == "non_field_errors":
        return path
    return f"{path}.{name}" if path else name
