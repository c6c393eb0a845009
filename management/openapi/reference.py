"""The document as a page: no script, no style of its own, nothing from elsewhere."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from management.openapi.answers import ETAG, Schema
from management.openapi.document import document
from management.openapi.shown import Field, Shapes, marked, paragraphs, pretty

_WAYS_IN: Final = {
    "administratorToken": "an administrator's token",
    "machineToken": "a machine's token",
    "organizationToken": "a machine's token for the organization",
    "userToken": "a person's access token",
    "client": "the application's own credentials",
    "browser": "the browser's cookie",
}


@dataclass(frozen=True, slots=True)
class Body:
    """What is sent or answered."""

    media_type: str
    fields: list[Field]
    example: SafeString


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation, ready to be read."""

    id: str
    method: str
    path: SafeString
    summary: str
    description: SafeString
    ways_in: str
    parameters: list[Field]
    sent: Body | None
    answered: Body | None
    answers: list[tuple[str, SafeString]]
    has_etag: bool
    curl: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """Operations on one kind of thing."""

    id: str
    name: str
    description: SafeString
    operations: list[Operation]


@cache
def as_html() -> bytes:
    """Return the page."""
    described = document()
    page = render_to_string(
        "management/reference.html",
        {
            "introduction": paragraphs(described["info"]["description"]),
            "version": described["info"]["version"],
            "ways_in": ways_in(),
            "chapters": chapters(described),
            "base_url": settings.BASE_URL,
        },
    )
    return page.encode()


def ways_in() -> list[tuple[str, SafeString]]:
    """Return what a caller may come with, and what each is."""
    schemes = document()["components"]["securitySchemes"]
    return [(_WAYS_IN[name], marked(scheme["description"])) for name, scheme in schemes.items()]


def chapters(described: Schema) -> list[Chapter]:
    """Return what the page shows of the operations, by kind of thing."""
    found = {
        tag["name"]: Chapter(_anchor(tag["name"]), tag["name"], marked(tag["description"]), [])
        for tag in described["tags"]
    }
    reader = _Reader(described)
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            found[operation["tags"][0]].operations.append(reader.read(path, method, operation))
    return list(found.values())


def _anchor(name: str) -> str:
    return name.lower().replace(",", "").replace(" ", "-")


class _Reader:
    """Turns operations into what the page shows of them."""

    def __init__(self, described: Schema) -> None:
        self.shapes = Shapes(described["components"]["schemas"])
        self.responses: dict[str, Schema] = described["components"]["responses"]

    def read(self, path: str, method: str, operation: Schema) -> Operation:
        answers = {code: self._resolved(answer) for code, answer in operation["responses"].items()}
        success = answers.get("200", {})
        return Operation(
            id=operation["operationId"],
            method=method.upper(),
            path=marked(path.replace("{", "`{").replace("}", "}`")),
            summary=operation["summary"],
            description=paragraphs(operation.get("description", "")),
            ways_in=_ways_in(operation["security"]),
            parameters=[self.shapes.parameter(parameter) for parameter in operation.get("parameters", [])],
            sent=self._body(operation.get("requestBody", {})),
            answered=self._body(success),
            answers=[
                (code, marked(answer["description"])) for code, answer in answers.items() if code != "200"
            ],
            has_etag=success.get("headers", {}).get("ETag") == ETAG,
            curl=_curl(path, method, operation),
        )

    def _resolved(self, answer: Schema) -> Schema:
        return self.responses[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer

    def _body(self, described: Schema) -> Body | None:
        for media_type, body in described.get("content", {}).items():
            fields = self.shapes.fields(body["schema"])
            if "example" in body:
                return Body(media_type, fields, pretty(body["example"]))
        return None


def _ways_in(security: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(_WAYS_IN[name] for way in security for name in way))
    return " or ".join(names)


def _curl(path: str, method: str, operation: Schema) -> str:
    lines = [f"curl {settings.BASE_URL}{path}"]
    if method != "get":
        lines[0] += f" -X {method.upper()}"
    ways = [name for way in operation["security"] for name in way]
    if ways and ways[0].endswith("Token"):
        lines.append('-H "Authorization: Bearer $TOKEN"')
    if "client" in ways:
        lines.append('-u "$CLIENT_ID:$CLIENT_SECRET"')
    for media_type, body in operation.get("requestBody", {}).get("content", {}).items():
        if media_type == "application/json":
            lines += ["--json @body.json"]
        else:
            lines += [f'-d "{name}={value}"' for name, value in body.get("example", {}).items()]
    return " \\\n  ".join(lines)
