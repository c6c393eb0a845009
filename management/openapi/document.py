"""The API's document as a whole: OpenAPI 3.1, built once per process."""

from functools import cache
from typing import Any, Final

import orjson
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

from management.openapi import answers, examples, links, own_paths, protocol, security, words
from management.openapi.answers import Schema

_METHODS: Final = ("get", "post", "patch", "put", "delete")


@cache
def document() -> Schema:
    """Return the document."""
    built: Schema = SchemaGenerator().get_schema(request=None, public=True)
    return built


@cache
def as_json() -> bytes:
    """Return the document as it is served."""
    return orjson.dumps(document())


def complete(result: Schema, **_: Any) -> Schema:
    """Add what is not read from views: the protocol, refusals, ways in, servers, links, examples."""
    result["info"]["description"] = words.INTRODUCTION
    result["servers"] = [
        {"url": settings.BASE_URL, "description": "The default tenant, and what is above tenants."},
        {
            "url": f"{settings.BASE_URL}/t/{{slug}}",
            "description": "Another tenant.",
            "variables": {"slug": {"default": "acme", "description": "The tenant's slug."}},
        },
    ]
    result["paths"] = {
        path: {method: methods[method] for method in _METHODS if method in methods}
        for path, methods in (protocol.paths() | result["paths"] | own_paths.paths()).items()
    }
    components = result.setdefault("components", {})
    components["schemas"] = components.get("schemas", {}) | answers.shapes() | protocol.shapes()
    components["responses"] = answers.components()
    components["securitySchemes"] = security.SCHEMES
    result["tags"] = _tags(result)
    examples.add(result)
    links.add(result)
    return result


def _tags(result: Schema) -> list[Schema]:
    used = {tag for operation in examples.operations(result) for tag in operation["tags"]}
    texts = {name: text for name, text in words.TAGS.values() if text}
    return [{"name": name, "description": text} for name, text in texts.items() if name in used]
