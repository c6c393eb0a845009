"""The OpenAPI 3.1 document of the API, built once per process."""

from functools import cache
from typing import Any, Final

import orjson
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

from management.openapi import document_paths, examples, links, responses, security, texts
from management.openapi.protocol import paths as protocol
from management.openapi.responses import Schema

_METHODS: Final = ("get", "post", "patch", "put", "delete")


@cache
def document() -> Schema:
    built: Schema = SchemaGenerator().get_schema(request=None, public=True)
    return built


@cache
def as_json() -> bytes:
    """Return the document as it is served, in JSON."""
    return orjson.dumps(document())


def complete(result: Schema, **_: Any) -> Schema:
    """Add what views do not declare: protocol endpoints, refusals, security, servers, links, examples."""
    result["info"]["description"] = texts.INTRODUCTION
    result["servers"] = [
        {
            "url": settings.BASE_URL,
            "description": "The default tenant, and the management of tenants and administrators.",
        },
        {
            "url": f"{settings.BASE_URL}/t/{{slug}}",
            "description": "Another tenant.",
            "variables": {"slug": {"default": "acme", "description": "The tenant's slug."}},
        },
    ]
    result["paths"] = {
        path: {method: methods[method] for method in _METHODS if method in methods}
        for path, methods in (protocol.PATHS | result["paths"] | document_paths.paths()).items()
    }
    components = result.setdefault("components", {})
    components["schemas"] = components.get("schemas", {}) | responses.schemas() | protocol.SCHEMAS
    components["responses"] = responses.components()
    components["securitySchemes"] = security.SCHEMES
    result["tags"] = _tags(result)
    examples.add(result)
    links.add(result)
    return result


def _tags(result: Schema) -> list[Schema]:
    used = {tag for operation in examples.operations(result) for tag in operation["tags"]}
    descriptions = {name: text for name, text in texts.TAGS.values() if text}
    return [{"name": name, "description": text} for name, text in descriptions.items() if name in used]
