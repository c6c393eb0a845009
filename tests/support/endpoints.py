"""The endpoints as ``docs/endpoints.tsv`` lists them and as the URL map serves them."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple

from django.conf import settings
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

ROOT: Final = Path(settings.BASE_DIR)


class Endpoint(NamedTuple):
    method: str
    path: str
    name: str


# The pages of the operators' site are for people and follow from what is registered there: one line of
# the table, by its prefix, stands for all of them.
OPERATORS = {Endpoint(method, "/admin/*", "admin:*") for method in ("GET", "POST")}


def written_endpoints() -> list[Endpoint]:
    heading, *rows = (ROOT / "docs/endpoints.tsv").read_text().splitlines()
    assert heading.split("\t") == ["method", "path", "name"]
    return [Endpoint(*row.split("\t")) for row in rows]


def served_endpoints() -> set[Endpoint]:
    return OPERATORS | {
        Endpoint(method, path, name)
        for path, name, pattern in routes(get_resolver())
        for method in methods(pattern)
    }


def routes(resolver: URLResolver, path: str = "/", name: str = "") -> Iterator[tuple[str, str, URLPattern]]:
    """Every pattern below a resolver, with its path in the table's spelling and its full name."""
    for pattern in resolver.url_patterns:
        below = path + spelling(pattern.pattern)
        if isinstance(pattern, URLResolver) and pattern.app_name == "admin":
            assert below == "/admin/"
        elif isinstance(pattern, URLResolver):
            inner = f"{name}{pattern.namespace}:" if pattern.namespace else name
            yield from routes(pattern, below, inner)
        else:
            yield below, f"{name}{pattern.name}", pattern


def spelling(pattern: object) -> str:
    """`users/<str:id>` and `^users/(?P<id>[^/]+)$` are both `users/:id`."""
    if isinstance(pattern, RoutePattern):
        return re.sub(r"<(?:\w+:)?(\w+)>", r":\1", str(pattern))
    named_group = r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)"
    return re.sub(named_group, r":\1", str(pattern)).removeprefix("^").removesuffix("$").removesuffix(r"\Z")


def methods(pattern: URLPattern) -> set[str]:
    """The methods a view answers, HEAD and OPTIONS aside."""
    view = pattern.callback
    if actions := getattr(view, "actions", None):
        allowed = {method.upper() for method in actions}
    elif cls := getattr(view, "cls", None) or getattr(view, "view_class", None):
        allowed = {method.upper() for method in cls.http_method_names if hasattr(cls, method)}
    else:
        refusal = view(RequestFactory().generic("UNHEARD-OF", "/"))
        assert refusal.status_code == HTTPStatus.METHOD_NOT_ALLOWED, f"{pattern} does not say what it allows"
        allowed = set(refusal["Allow"].split(", "))
    return allowed - {"HEAD", "OPTIONS"}
