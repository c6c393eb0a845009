"""What a view declares of the requests that it accepts.

The OpenAPI document, the errors about fields and the report of unknown fields read it here.
"""

from collections.abc import Iterable
from typing import Any, Final

from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from identity.rest.assignment_view import AssignmentView
from identity.rest.serializers import IdsSerializer

_WITH_BODY: Final = {"POST", "PUT", "PATCH"}
_PAGE: Final = ("page", "page_size")


def get_action(view: Any, method: str) -> str:
    """Return the action of a viewset, or the HTTP method in lower case."""
    return str(getattr(view, "action", None) or method.lower())


def is_partial(view: Any, method: str) -> bool:
    """Return whether the body may omit required fields."""
    return method == "PATCH" and get_action(view, method) not in getattr(view, "request_serializers", {})


def build_request_serializer(view: Any, method: str, **options: Any) -> BaseSerializer[Any] | None:
    """Return a serializer for the body of a request; None if the operation has no body."""
    if method not in _WITH_BODY:
        return None
    action = get_action(view, method)
    if isinstance(view, AssignmentView):
        return IdsSerializer(ids_field=view.assignment.ids_field, **options)
    declared = getattr(view, "request_serializers", {})
    chosen = declared[action] if action in declared else getattr(view, "serializer_class", None)
    if isinstance(chosen, IdsSerializer):
        return IdsSerializer(ids_field=chosen.ids_field, **options)
    if chosen is None:
        return None
    serializer: BaseSerializer[Any] = chosen(partial=is_partial(view, method), **options)
    return serializer


def get_request_serializer(view: Any, request: Request) -> BaseSerializer[Any] | None:
    """Return the serializer that the view has kept, or a new one, for the body of a request."""
    kept: BaseSerializer[Any] | None = getattr(view, "serializer", None)
    return kept or build_request_serializer(view, str(request.method))


def build_query_serializer(view: Any, method: str, **options: Any) -> BaseSerializer[Any] | None:
    """Return a serializer for the query string; None if the view declares none."""
    chosen = getattr(view, "queries", {}).get(get_action(view, method))
    serializer: BaseSerializer[Any] | None = chosen(**options) if chosen else None
    return serializer


def get_parameter_names(view: Any, method: str) -> Iterable[str]:
    """Return the names of the parameters that the query string may have."""
    names: set[str] = set()
    if get_action(view, method) == "list":
        names |= set(getattr(view, "filters", {}))
        names |= set(_PAGE if getattr(view, "paginator", None) else ())
    serializer: Any = build_query_serializer(view, method)
    return names | set(serializer.fields if serializer else ())
