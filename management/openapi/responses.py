"""The responses of the API: the envelope and the error responses."""

from typing import Any, Final

from identity.rest.input_errors import CODES

Schema = dict[str, Any]

JSON: Final = "application/json"

ETAG: Final[Schema] = {
    "description": "The version of the resource. Send it back as `If-Match` when you change it.",
    "required": True,
    "schema": {"type": "string"},
}
UNKNOWN_FIELDS: Final[Schema] = {
    "description": "The fields of the body that do not exist, so they were ignored.",
    "schema": {"type": "string"},
}
_CHALLENGE: Final[Schema] = {
    "description": "The authentication challenge.",
    "schema": {"type": "string"},
}
_RETRY: Final[Schema] = {
    "description": "How many seconds to wait.",
    "schema": {"type": "string"},
}
_ALLOW: Final[Schema] = {"description": "The methods of this path.", "schema": {"type": "string"}}

_REFUSALS: Final[dict[str, tuple[str, str, str, dict[str, Schema]]]] = {
    "400": (
        "BadRequest",
        "A field breaks a rule. The message names both, and `errors` every wrong field.",
        "name: already exists",
        {},
    ),
    "401": (
        "Unauthorized",
        "The credentials are missing, wrong or expired.",
        "a bearer token is required: sign in first",
        {"WWW-Authenticate": _CHALLENGE, "Retry-After": _RETRY},
    ),
    "403": (
        "Forbidden",
        "The caller is authenticated, but not allowed to do this.",
        "you may not manage this tenant",
        {"WWW-Authenticate": _CHALLENGE},
    ),
    "404": ("NotFound", "There is no resource with this id, or no such tenant.", "user not found", {}),
    "405": (
        "MethodNotAllowed",
        "The path does not support this method.",
        'Method "PUT" not allowed',
        {"Allow": _ALLOW},
    ),
    "412": (
        "PreconditionFailed",
        "The resource was changed since you read it. Read it again.",
        "the resource was changed since you read it: read it again and repeat your change",
        {},
    ),
    "413": (
        "TooLarge",
        "The body is larger than 1 MiB, or than 64 KiB if the operation needs no token.",
        "the body is larger than 1 MiB",
        {},
    ),
    "415": (
        "UnsupportedMediaType",
        "The body is not JSON.",
        "Content-Type: must be application/json",
        {},
    ),
    "429": (
        "TooManyRequests",
        "Too many requests in a short time.",
        "too many requests: try again in 60 seconds",
        {"Retry-After": _RETRY},
    ),
    "500": ("MemberFailure", "The operation failed.", "the operation failed: try again", {}),
    "503": (
        "Unavailable",
        "The server is too busy, or the database is unavailable.",
        "the database is unavailable: try again in a moment",
        {"Retry-After": _RETRY},
    ),
}
_BAD_REQUEST: Final = "400"
_FIELD_ERROR: Final[Schema] = {
    "type": "object",
    "required": ["field", "code", "message"],
    "properties": {
        "field": {
            "type": "string",
            "description": "The path in the body, as in `oidc_client_metadata.redirect_uris[1]`, or the name "
            "of the query parameter.",
        },
        "code": {"type": "string", "enum": sorted(CODES), "description": "The kind of error."},
        "message": {"type": "string", "description": "The rule, in English."},
        "allowed": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The possible values, if there are few.",
        },
    },
}
_ERROR_EXAMPLE: Final = {"field": "name", "code": "not_unique", "message": "Already exists"}
# The members API has its own error codes: by status, an example of a code and its message.
_MEMBER_EXAMPLES: Final = {
    "403": (41305, "organization administrator cannot be removed by a third-party application"),
    "404": (41301, "organization member does not exist"),
    "500": (41300, "the operation failed: try again"),
}


def envelope(result: Schema) -> Schema:
    """Describe the body of a success."""
    return {
        "type": "object",
        "required": ["code", "message", "result"],
        "properties": {
            "code": {"type": "integer", "const": 0},
            "message": {"type": "string", "const": "success"},
            "result": result,
        },
    }


def refusals(codes: list[str], *, member_api: bool) -> dict[str, Schema]:
    """Return references to the error responses of an operation, by status."""
    prefix = "Member" if member_api else ""
    return {
        code: {"$ref": f"#/components/responses/{prefix}{_REFUSALS[code][0].removeprefix('Member')}"}
        for code in codes
    }


def components() -> dict[str, Schema]:
    """Describe every error response, in the formats of the management API and of the members API."""
    plain = {
        name: _response(code, text, headers, _body(f"{_prefix(code)}Refusal", int(code), message))
        for code, (name, text, message, headers) in _REFUSALS.items()
        if code != "500"
    }
    member_api = {
        f"Member{name.removeprefix('Member')}": _response(
            code,
            text,
            headers,
            _body(f"Member{_prefix(code)}Refusal", *_MEMBER_EXAMPLES.get(code, (int(code), message))),
        )
        for code, (name, text, message, headers) in _REFUSALS.items()
    }
    return plain | member_api


def schemas() -> dict[str, Schema]:
    """Describe the bodies of error responses. Those about input can have the errors of fields."""
    refusal = _refusal_schema(
        {
            "anyOf": [
                {
                    "type": "string",
                    "description": "An empty string. If a connector's test failed: the reason.",
                },
                {
                    "type": "object",
                    "description": "Of second factors: the reason, and for `confirm_needed` the ways to "
                    "confirm.",
                    "properties": {"reason": {"type": "string"}, "ways": {"type": "array", "items": {}}},
                    "required": ["reason"],
                },
            ]
        },
        "Equal to the HTTP status.",
    )
    member_refusal = _refusal_schema({"type": "null"}, "One of 41000 to 41305, or the HTTP status.")
    return {
        "Refusal": refusal,
        "InputRefusal": _with_errors(refusal),
        "MemberRefusal": member_refusal,
        "MemberInputRefusal": _with_errors(member_refusal),
        "FieldError": _FIELD_ERROR,
    }


def _prefix(code: str) -> str:
    return "Input" if code == _BAD_REQUEST else ""


def _with_errors(refusal: Schema) -> Schema:
    errors = {
        "type": "array",
        "items": {"$ref": "#/components/schemas/FieldError"},
        "description": "Every wrong field. Missing if the refusal is not about a field, and below "
        "`/api/interaction` and `/api/admin`.",
    }
    return refusal | {"properties": refusal["properties"] | {"errors": errors}}


def _refusal_schema(result: Schema, code: str) -> Schema:
    return {
        "type": "object",
        "required": ["code", "message", "result"],
        "properties": {
            "code": {"type": "integer", "description": code},
            "message": {"type": "string", "description": "What is wrong, in English."},
            "result": result,
        },
    }


def _body(schema: str, code: int, message: str) -> Schema:
    result = None if schema.startswith("Member") else ""
    errors = {"errors": [_ERROR_EXAMPLE]} if "Input" in schema else {}
    return {
        "schema": {"$ref": f"#/components/schemas/{schema}"},
        "example": {"code": code, "message": message, "result": result} | errors,
    }


def _response(code: str, text: str, headers: dict[str, Schema], body: Schema) -> Schema:
    response: Schema = {"description": text, "content": {JSON: body}}
    return response | ({"headers": headers} if headers else {})
