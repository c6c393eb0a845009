"""Functions that describe parameters, forms and responses."""

from typing import Any, Final

from management.openapi.responses import JSON, Schema

Parameters = dict[str, tuple[str, Any]]  # the description and the example, if any, by name

TEXT: Final[Schema] = {"type": "string"}
TAGS: Final = ["OpenID Connect"]
CLIENT: Final[list[dict[str, list[str]]]] = [{"client": []}, {}]
_FORM: Final = "application/x-www-form-urlencoded"
_HTML: Final = "text/html"


def json_response(text: str, schema: Schema, example: Any, **headers: Schema) -> Schema:
    """Describe a response in JSON."""
    response: Schema = {"description": text, "content": {JSON: {"schema": schema, "example": example}}}
    return response | ({"headers": headers} if headers else {})


def refusal(text: str, error: str, **headers: Schema) -> Schema:
    """Describe an OAuth error response."""
    body = {"error": error, "error_description": text}
    return json_response(text, {"$ref": "#/components/schemas/OAuthRefusal"}, body, **headers)


def page(text: str) -> Schema:
    """Describe an HTML page."""
    return {"description": text, "content": {_HTML: {"schema": TEXT}}}


def redirect(text: str) -> Schema:
    """Describe a redirect."""
    location = {"description": "The URL of the redirect.", "required": True, "schema": TEXT}
    return {"description": text, "headers": {"Location": location}}


def query(parameters: Parameters, required: tuple[str, ...] = ()) -> list[Schema]:
    """Describe the parameters of a query string."""
    return [
        {"name": name, "in": "query", "required": name in required, "description": text, "schema": TEXT}
        | ({"example": example} if example else {})
        for name, (text, example) in parameters.items()
    ]


def form(parameters: Parameters, required: tuple[str, ...] = (), *, is_body_required: bool = True) -> Schema:
    """Describe a form as a request body."""
    schema: Schema = {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text} for name, (text, _) in parameters.items()
        },
    }
    if required:
        schema["required"] = list(required)
    example = {name: value for name, (_, value) in parameters.items() if value}
    return {"required": is_body_required, "content": {_FORM: {"schema": schema, "example": example}}}


# How the endpoints of browsers refuse a form that they do not read.
FORM_PAGES: Final = {
    "413": page("The form is larger than 1 MiB."),
    "415": page(f"The content type is not {_FORM}."),
}
CHALLENGE: Final = {"WWW-Authenticate": {"description": "The authentication challenge.", "schema": TEXT}}
RETRY: Final = {"Retry-After": {"description": "How many seconds to wait.", "schema": TEXT}}
UNAVAILABLE: Final = refusal("The database is unavailable.", "temporarily_unavailable", **RETRY)
UNAVAILABLE_PAGE: Final = page("The database is unavailable.")
UNKNOWN_TENANT: Final = refusal("There is no such tenant.", "invalid_request")
UNKNOWN_TENANT_PAGE: Final = page("There is no such tenant.")
