"""Schemas, texts and examples as HTML."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from management.openapi.responses import Schema

_TOKENS: Final = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=:)|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<word>\b(?:true|false|null)\b|-?\b\d[\d.]*\b)|(?P<other>.)",
    re.DOTALL,
)
_MAX_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Field:
    """A row of a table: a parameter, or a field of a body."""

    name: str
    kind: str
    required: bool
    description: SafeString
    place: str = ""  # of a parameter: path, query or header


def inline(text: str) -> SafeString:
    """Return a text as HTML, with code for what is between backticks."""
    parts = text.split("`")
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", p) if i % 2 else p,) for i, p in enumerate(parts))
    )


def paragraphs(text: str) -> SafeString:
    """Return a text as HTML paragraphs, split at blank lines."""
    return format_html_join(
        "", "<p>{}</p>", ((inline(part.replace("\n", " ").strip()),) for part in text.split("\n\n") if part)
    )


def highlighted_json(example: Any) -> SafeString:
    """Return JSON as HTML, with a class on each key, string and word."""
    text = json.dumps(example, indent=2, ensure_ascii=False)
    return format_html_join("", "{}", ((_highlighted(run),) for run in _runs(text)))


def _runs(text: str) -> Iterator[tuple[str, str]]:
    plain = ""
    for match in _TOKENS.finditer(text):
        if match.lastgroup == "other":
            plain += match.group()
            continue
        yield "", plain
        yield str(match.lastgroup), match.group()
        plain = ""
    yield "", plain


def _highlighted(run: tuple[str, str]) -> str:
    kind, text = run
    return format_html('<span class="{}">{}</span>', kind, text) if kind else text


class SchemaReader:
    """Reads the fields of schemas, following references."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self.schemas = schemas

    def parameter(self, parameter: Schema) -> Field:
        """Return the table row of a parameter."""
        kind = f"{parameter['in']} · {_kind(parameter['schema'])}"
        required = parameter.get("required", False)
        text = inline(parameter.get("description", ""))
        return Field(parameter["name"], kind, required, text, place=parameter["in"])

    def fields(self, schema: Schema) -> list[Field]:
        """Return the table rows of a body; of an envelope, those of its result."""
        return list(self._fields(self._unwrapped(schema), ""))

    def _unwrapped(self, schema: Schema) -> Schema:
        properties = self._resolved(schema).get("properties", {})
        result = properties.get("result")
        return result if result and "code" in properties else schema

    def _resolved(self, schema: Schema) -> Schema:
        for combination in ("allOf", "oneOf", "anyOf"):
            if combination in schema and "properties" not in schema:
                return self._resolved(schema[combination][0])
        if "$ref" in schema:
            return self._resolved(self.schemas[schema["$ref"].rpartition("/")[2]])
        return schema

    def _fields(self, schema: Schema, prefix: str) -> Iterator[Field]:
        resolved = self._resolved(schema)
        if resolved.get("type") == "array":
            yield from self._fields(resolved["items"], f"{prefix}[]" if prefix else "")
            return
        for name, part in resolved.get("properties", {}).items():
            path = f"{prefix}.{name}" if prefix else name
            target = self._resolved(part)
            required = name in resolved.get("required", [])
            description = part.get("description") or ""
            yield Field(path, _kind(target), required, inline(description))
            if path.count(".") < _MAX_DEPTH:
                yield from self._fields(target, path)


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    kinds = schema.get("type", "object")
    kind = " or ".join(kinds) if isinstance(kinds, list) else kinds
    if kind == "array":
        inner = schema["items"].get("type", "object")
        kind = f"{inner if isinstance(inner, str) else inner[0]}[]"
    return f"{schema.get('format') or kind}{_limits(schema)}"


def _limits(schema: Schema) -> str:
    if "maximum" in schema:
        return f", {schema.get('minimum', 0)} to {schema['maximum']}"
    if "maxLength" in schema:
        return f", up to {schema['maxLength']}"
    return ""
