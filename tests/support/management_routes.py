"""The routes below ``/api/v1`` as the URL map has them, so that no test can forget one."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from django.urls import get_resolver

from management.api.permissions import IsSuperuser
from tests.support.endpoints import methods, routes

_API: Final = "/api/v1"
_WRITES: Final = ("POST", "PUT", "PATCH")


@dataclass(frozen=True)
class Route:
    """A method at a path below ``/api/v1``, and what serves it."""

    method: str
    path: str
    view: Any = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def group(self) -> str:
        """The kind of callers: ``management``, ``root`` (superusers) or ``members`` (member managers)."""
        if self.path.startswith("/m2m/"):
            return "members"
        permissions = self.view.initkwargs.get("permission_classes", self.view.cls.permission_classes)
        return "root" if IsSuperuser in permissions else "management"

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The path's parameters, each with the collection that it names one of."""
        return re.findall(r"/([\w-]+)/(:\w+)", self.path)

    def filled(self, ids: dict[str, str]) -> str:
        """The path with an id for each parameter."""
        return re.sub(r":\w+", lambda found: ids[found[0]], self.path)

    @property
    def takes_body(self) -> bool:
        return self.method in _WRITES and str(self) not in _WITHOUT_BODY


def all_routes() -> list[Route]:
    found = [
        Route(method, path.removeprefix(_API), pattern.callback)
        for path, _, pattern in routes(get_resolver())
        if path.startswith(f"{_API}/")
        for method in sorted(methods(pattern))
    ]
    assert len(found) > 80
    return found


def writes() -> list[Route]:
    """The routes that take a body."""
    return [route for route in all_routes() if route.takes_body]


# Writes that the interface gives no body.
_WITHOUT_BODY: Final = {
    "POST /signing-keys/prepare",
    "POST /signing-keys/rotate",
    "POST /applications/:pk/secret",
    "POST /users/:pk/sign-out",
}
