"""What answers look like on paper: the envelope, and every refusal that it is used for."""

from typing import Any, Final

Schema = dict[str, Any]

JSON: Final = "application/json"

ETAG: Final[Schema] = {
    "description": "The version of what is shown. Send it as `If-Match` with the change.",
    "required": True,
    "schema": {"type": "string"},
}
_CHALLENGE: Final[Schema] = {
    "description": "How to come in.",
    "schema": {"type": "string"},
}
_RETRY: Final[Schema] = {
    "description": "How many seconds to wait.",
    "schema": {"type": "string"},
}
_ALLOW: Final[Schema] = {"description": "The methods there are.", "schema": {"type": "string"}}

_REFUSALS: Final[dict[str, tuple[str, str, str, dict[str, Schema]]]] = {
    "400": ("BadRequest", "Something that was sent breaks a rule.", "name: already exists", {}),
    "401": (
        "Unauthorized",
        "The credentials are missing, wrong or expired.",
        "a bearer token is needed: sign in first",
        {"WWW-Authenticate": _CHALLENGE, "Retry-After": _RETRY},
    ),
    "403": (
        "Forbidden",
        "The caller is known, but may not do this.",
        "you may not manage this tenant",
        {"WWW-Authenticate": _CHALLENGE},
    ),
    "404": ("NotFound", "There is nothing of this id, or no such tenant.", "user not found", {}),
    "405": ("MethodNotAllowed", "The path does not do this.", 'Method "PUT" not allowed', {"Allow": _ALLOW}),
    "412": (
        "PreconditionFailed",
        "It was changed since it was read: read it again.",
        "it was changed since you read it: read it again and repeat your change",
        {},
    ),
    "413": (
        "TooLarge",
        "The body is larger than 1 MiB, or 64 KiB where no token is needed.",
        "the body is larger than 1 MiB",
        {},
    ),
    "415": (
        "UnsupportedMediaType",
        "The body is not JSON.",
        'Unsupported media type "text/plain" in request',
        {},
    ),
    "429": (
        "TooManyRequests",
        "Too many of these in a short time.",
        "too many: wait",
        {"Retry-After": _RETRY},
    ),
    "500": ("MemberFailure", "The operation failed.", "the operation failed: try again", {}),
    "503": (
        "Unavailable",
        "Too busy, or the database is away.",
        "the database is away: try again in a moment",
        {"Retry-After": _RETRY},
    ),
}
# The member API has error codes of its own, by what went wrong.
_MEMBER_CODES: Final = {"404": 41301, "403": 41305, "500": 41300}


def envelope(result: Schema) -> Schema:
    """Describe a success."""
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
    """Refer to the refusals of an operation."""
    prefix = "Member" if member_api else ""
    return {
        code: {"$ref": f"#/components/responses/{prefix}{_REFUSALS[code][0].removeprefix('Member')}"}
        for code in codes
    }


def components() -> dict[str, Schema]:
    """Describe every refusal once, in both shapes."""
    plain = {
        name: _response(code, text, headers, _body("Refusal", int(code), message))
        for code, (name, text, message, headers) in _REFUSALS.items()
        if code != "500"
    }
    of_members = {
        f"Member{name.removeprefix('Member')}": _response(
            code, text, headers, _body("MemberRefusal", _MEMBER_CODES.get(code, int(code)), message)
        )
        for code, (name, text, message, headers) in _REFUSALS.items()
    }
    return plain | of_members


def shapes() -> dict[str, Schema]:
    """Describe the bodies of refusals."""
    return {
        "Refusal": _shape(
            {"type": "string", "description": "Empty, save what a provider said to a connector's test."},
            "Equal to the HTTP status.",
        ),
        "MemberRefusal": _shape({"type": "null"}, "One of 41000 to 41305, or the HTTP status."),
    }


def _shape(result: Schema, code: str) -> Schema:
    return {
        "type": "object",
        "required": ["code", "message", "result"],
        "properties": {
            "code": {"type": "integer", "description": code},
            "message": {"type": "string", "description": "What is wrong, for people."},
            "result": result,
        },
    }


def _body(shape: str, code: int, message: str) -> Schema:
    result = "" if shape == "Refusal" else None
    return {
        "schema": {"$ref": f"#/components/schemas/{shape}"},
        "example": {"code": code, "message": message, "result": result},
    }


def _response(code: str, text: str, headers: dict[str, Schema], body: Schema) -> Schema:
    response: Schema = {"description": text, "content": {JSON: body}}
    return response | ({"headers": headers} if headers else {})
