"""The page that shows new secrets. Its path is that of the operation that replaces them."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest

from identity.core import tenancy
from identity.operator_kit import routes, secrets_view
from identity.operator_kit.operations import ShowSecrets


def store(request: HttpRequest, result: ShowSecrets) -> str:
    """Store secrets, and return the URL of the page that shows them."""
    path = routes.operation_url(type(result.row), result.renew, result.row)
    lines = [f"{name}={value}" for name, value in result.variables.items()]
    content: dict[str, Any] = {
        "title": str(result.title),
        "kind": result.kind,
        "text": str(result.message),
        "secrets": {str(label): secret for label, secret in result.secrets.items()},
        "lines": "\n".join(lines),
        "height": len(lines),
    }
    return store_content(request, path, content)


def store_content(request: HttpRequest, path: str, content: dict[str, Any]) -> str:
    """Store content for the page at a path, and return the URL that shows it."""
    return _build_url(path, secrets_view.store(request, get_name(path), content))


def get_name(path: str) -> str:
    """Return the name under which content for the page at a path is stored in the active tenant."""
    return f"{tenancy.active_id()} {path}"


def _build_url(path: str, shown_id: UUID) -> str:
    return f"{path}?{secrets_view.PARAMETER}={shown_id}"
