"""Route names by URL pattern, and path parameters as the document names them."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

Endpoint = tuple[str, str, str, Any]


def with_ids(endpoints: list[Endpoint]) -> list[Endpoint]:
    """Rename ``{user_pk}`` to ``{user_id}``, and ``{pk}`` to ``{id}``."""
    return [
        (path.replace("{pk}", "{id}").replace("_pk}", "_id}"), pattern, method, view)
        for path, pattern, method, view in endpoints
    ]


@cache
def _names() -> dict[str, str]:
    return dict(_walk(get_resolver(), "", ""))


def route_name(pattern: str) -> str:
    """Return the name of a route, as in ``api:user-list``."""
    return _names()[pattern.removeprefix("/")]


def _walk(resolver: URLResolver, prefix: str, namespace: str) -> Iterator[tuple[str, str]]:
    for entry in resolver.url_patterns:
        pattern = f"{prefix}{entry.pattern}"
        if isinstance(entry, URLPattern):
            yield pattern, f"{namespace}{entry.name}"
        else:
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from _walk(entry, pattern, inner)
