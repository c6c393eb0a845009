"""The document as an HTML page, without inline scripts, inline styles or external resources."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from management.openapi.document import document
from management.openapi.rendering import Field, SchemaReader, highlighted_json, inline, paragraphs
from management.openapi.responses import ETAG, JSON, Schema

_CREDENTIALS: Final = {
    "administratorToken": "an administrator's token",
    "machineToken": "a machine application's token",
    "organizationToken": "a machine application's token for the organization",
    "userToken": "a user's access token",
    "client": "the application's own credentials",
    "session": "a signed-in user's cookie",
    "browser": "the browser's cookie",
}


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request or a response."""

    media_type: str
    fields: list[Field]
    example: SafeString


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as the page shows it."""

    id: str
    method: str
    path: SafeString
    plain_path: str
    is_tryable: bool
    summary: str
    description: SafeString
    credentials: str
    parameters: list[Field]
    request: Body | None
    response: Body | None
    other_responses: list[tuple[str, SafeString]]
    has_etag: bool
    curl: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """The operations of one tag."""

    id: str
    name: str
    description: SafeString
    operations: list[Operation]


@cache
def as_html() -> bytes:
    """Return the page as UTF-8."""
    described = document()
    page = render_to_string(
        "management/reference.html",
        {
            "introduction": paragraphs(described["info"]["description"]),
            "version": described["info"]["version"],
            "credentials": credentials(),
            "chapters": chapters(described),
            "base_url": settings.BASE_URL,
        },
    )
    return page.encode()


def credentials() -> list[tuple[str, SafeString]]:
    """Return the names and descriptions of the credentials that callers can use."""
    schemes = document()["components"]["securitySchemes"]
    return [(_CREDENTIALS[name], inline(scheme["description"])) for name, scheme in schemes.items()]


def chapters(described: Schema) -> list[Chapter]:
    """Return the operations of the document, by tag."""
    by_tag = {
        tag["name"]: Chapter(_anchor(tag["name"]), tag["name"], inline(tag["description"]), [])
        for tag in described["tags"]
    }
    reader = _Reader(described)
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            by_tag[operation["tags"][0]].operations.append(reader.read(path, method, operation))
    return list(by_tag.values())


def _anchor(name: str) -> str:
    return name.lower().replace(",", "").replace(" ", "-")


class _Reader:
    """Builds the page's operations from those of the document."""

    def __init__(self, described: Schema) -> None:
        self.schemas = SchemaReader(described["components"]["schemas"])
        self.responses: dict[str, Schema] = described["components"]["responses"]

    def read(self, path: str, method: str, operation: Schema) -> Operation:
        responses = {code: self._resolved(response) for code, response in operation["responses"].items()}
        success = responses.get("200", {})
        return Operation(
            id=operation["operationId"],
            method=method.upper(),
            path=inline(path.replace("{", "`{").replace("}", "}`")),
            plain_path=path,
            is_tryable=_is_tryable(path, method, operation),
            summary=operation["summary"],
            description=paragraphs(operation.get("description", "")),
            credentials=_accepted_credentials(operation["security"]),
            parameters=[self.schemas.parameter(parameter) for parameter in operation.get("parameters", [])],
            request=self._body(operation.get("requestBody", {})),
            response=self._body(success),
            other_responses=[
                (code, inline(response["description"]))
                for code, response in responses.items()
                if code != "200"
            ],
            has_etag=success.get("headers", {}).get("ETag") == ETAG,
            curl=_curl(path, method, operation),
        )

    def _resolved(self, response: Schema) -> Schema:
        return self.responses[response["$ref"].rpartition("/")[2]] if "$ref" in response else response

    def _body(self, described: Schema) -> Body | None:
        for media_type, body in described.get("content", {}).items():
            fields = self.schemas.fields(body["schema"])
            if "example" in body:
                return Body(media_type, fields, highlighted_json(body["example"]))
        return None


def _is_tryable(path: str, method: str, operation: Schema) -> bool:
    """Return whether the page's script can send a request: with a bearer token, or to read public JSON."""
    schemes = [name for requirement in operation["security"] for name in requirement]
    if schemes:
        return all(name.endswith("Token") for name in schemes)
    content = operation["responses"].get("200", {}).get("content", {})
    return method == "get" and path.startswith(("/api/", "/.well-known/")) and JSON in content


def _accepted_credentials(security: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(_CREDENTIALS[name] for requirement in security for name in requirement))
    return " or ".join(names)


def _curl(path: str, method: str, operation: Schema) -> str:
    lines = [f"curl {settings.BASE_URL}{path}"]
    if method != "get":
        lines[0] += f" -X {method.upper()}"
    schemes = [name for requirement in operation["security"] for name in requirement]
    if schemes and schemes[0].endswith("Token"):
        lines.append('-H "Authorization: Bearer $TOKEN"')
    if "session" in schemes:
        lines.append("-b cookies.txt")
    if "client" in schemes:
        lines.append('-u "$CLIENT_ID:$CLIENT_SECRET"')
    for media_type, body in operation.get("requestBody", {}).get("content", {}).items():
        if media_type == "application/json":
            lines += ["--json @body.json"]
        else:
            lines += [f'-d "{name}={value}"' for name, value in body.get("example", {}).items()]
    return " \\\n  ".join(lines)
