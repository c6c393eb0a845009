"""All that is wrong with the input of a request, field by field.

A request is refused at the first rule that it breaks. The other rules are tried only then, so they cost
successful requests no time. A serializer may declare rules of the services that it feeds:

- ``rules``: for a field, a function that raises ``Invalid`` if its value is wrong
- ``unique``: for a field, a function that returns the rows that have its value already
- ``find_conflicts``: a method that returns the errors of fields that contradict each other or the row
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.fields import SkipField
from rest_framework.request import Request
from rest_framework.settings import api_settings

from identity.core.errors import INVALID, FieldError, Invalid, ServiceError
from identity.rest import declarations, type_rules
from identity.rest.choices import MOST_LISTED
from identity.rest.pagination import number

MOST: Final = 50  # errors of one answer
CODES: Final = frozenset(
    {
        *("required", "null", "blank", "invalid_type", "invalid_choice", "max_length", "min_length"),
        *("max_value", "min_value", "not_unique", "unknown", "immutable", "repeated", "conflict", INVALID),
    }
)
_STEP: Final = re.compile(r"[^.\[\]]+")


def find(error: Exception, view: Any, request: Request) -> list[FieldError]:
    """Return what is wrong with a refused request, or an empty list if the error is not about a field."""
    if isinstance(error, ValidationError):
        raised = list(from_detail(error.detail))
    elif isinstance(error, ServiceError):
        raised = list(error.field_errors)
    else:
        return list(getattr(error, "field_errors", ()))  # the body cannot be read
    if not raised:
        return []
    method = str(request.method)
    serializer: Any = getattr(view, "serializer", None)
    if serializer is None:
        serializer = declarations.build_request_serializer(view, method, data=_read_body(request))
    found = [*_find_in_body(serializer), *_find_in_query(view, request)]
    raised = [_with_path(each, serializer) for each in raised]
    others = [each for each in raised if not any(_is_at(other.field, each.field) for other in found)]
    return [_complete(each, serializer) for each in [*others, *found]][:MOST]


def _read_body(request: Request) -> object:
    """Return the body, or ``None`` if it cannot be parsed and the request was refused before."""
    try:
        body: object = request.data
    except APIException:
        return None
    return body


def from_detail(detail: Any, path: str = "") -> Iterator[FieldError]:
    """Return the errors in the detail of a validation error."""
    if isinstance(detail, Mapping):
        for name, part in detail.items():
            yield from from_detail(part, _join(path, name))
    elif isinstance(detail, list):
        for index, part in enumerate(detail):
            yield from from_detail(part, _join(path, index) if isinstance(part, Mapping) else path)
    elif isinstance(detail, ErrorDetail) and path:
        error = type_rules.to_json_terms(detail)
        yield FieldError(path, error.rstrip("."), str(error.code))


def _join(path: str, name: object) -> str:
    if name == api_settings.NON_FIELD_ERRORS_KEY:
        return path
    if isinstance(name, int):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else str(name)


def _find_in_body(serializer: Any) -> Iterator[FieldError]:
    """Return the errors of all fields, and the conflicts of those that are valid."""
    if serializer is None or not isinstance(serializer.initial_data, Mapping):
        return
    values: dict[str, Any] = {}
    data = _with_first_names(serializer)
    ignored = getattr(serializer, "not_patched", ()) if serializer.instance else ()
    for name, field in serializer.fields.items():
        if field.read_only or name in ignored:
            continue
        try:
            value = _validate(serializer, name, data)
        except SkipField:
            continue
        except ValidationError as error:
            yield from from_detail(error.detail, name)
            if members := _get_valid_members(field, field.get_value(data)):
                values[name] = members
            continue
        broken = list(_check_value(serializer, name, value))
        yield from broken
        if not broken:
            values[name] = value
    if find_conflicts := getattr(serializer, "find_conflicts", None):
        yield from find_conflicts(values)


def _validate(serializer: Any, name: str, data: Mapping[str, Any]) -> Any:
    """Return the value of a field, by the rules of the field and of its serializer.

    Raises:
        ValidationError: it is wrong.
        SkipField: it is missing, and may be.

    """
    field = serializer.fields[name]
    value = field.run_validation(field.get_value(data))
    check = getattr(serializer, f"validate_{name}", None)
    return check(value) if check else value


def _get_valid_members(field: Any, data: Any) -> dict[str, Any]:
    """Return the valid members of a nested object that has wrong ones, or an empty dict."""
    members: dict[str, Any] = {}
    for name in getattr(field, "fields", ()) if isinstance(data, Mapping) else ():
        with suppress(SkipField, ValidationError):
            members[name] = _validate(field, name, data)
    return members


def _with_first_names(serializer: Any) -> dict[str, Any]:
    """Return the body with the first names of fields that have two."""
    data = dict(serializer.initial_data)
    for second, first in getattr(serializer, "second_names", {}).items():
        if second in data:
            data.setdefault(first, data.pop(second))
    return data


def _check_value(serializer: Any, name: str, value: Any) -> Iterator[FieldError]:
    """Return the errors of a value by the rules of services. An empty value breaks no rule."""
    is_fixed = serializer.instance is not None and name in getattr(serializer, "create_only", ())
    if is_fixed or value in (None, "", [], {}):
        return
    rule = getattr(serializer, "rules", {}).get(name)
    get_rows = getattr(serializer, "unique", {}).get(name)
    if rule:
        try:
            rule(value)
        except Invalid as error:
            yield replace(error.field_errors[0], field=name)
            return
    if get_rows:
        rows = get_rows(value)
        if serializer.instance is not None:
            rows = rows.exclude(pk=serializer.instance.pk)
        if rows.exists():
            yield FieldError(name, "already exists", "not_unique")


def _find_in_query(view: Any, request: Request) -> Iterator[FieldError]:
    if request.method != "GET":
        return
    query = request.query_params
    names = declarations.get_parameter_names(view, "GET")
    checks: dict[str, Callable[[str], object]] = {
        "page": lambda _: number(request, "page", 1),
        "page_size": lambda _: number(request, "page_size", 1),
        **getattr(view, "filters", {}),
    }
    for name, check in checks.items():
        if name in names and query.get(name):
            try:
                check(query[name])
            except ValidationError as error:
                yield from from_detail(error.detail)
    serializer: Any = declarations.build_query_serializer(view, "GET", data=query.dict())
    if serializer is not None and not serializer.is_valid():
        yield from from_detail(serializer.errors)


def _with_path(error: FieldError, serializer: Any) -> FieldError:
    """Return the error with the path of its field, of which a service knows only the last name."""
    fields = serializer.fields if serializer else {}
    name = error.field.partition(".")[0].partition("[")[0]
    if name in fields:
        return error
    parents = [parent for parent, field in fields.items() if name in getattr(field, "fields", {})]
    return replace(error, field=f"{parents[0]}.{error.field}") if parents else error


def _is_at(path: str, field: str) -> bool:
    return path == field or path.startswith((f"{field}.", f"{field}["))


def _complete(error: FieldError, serializer: Any) -> FieldError:
    """Return the error with a documented code, the allowed values, and the name that the body uses."""
    code = error.code if error.code in CODES else INVALID
    allowed = error.allowed or (_get_choices(serializer, error.field) if code == "invalid_choice" else ())
    field = error.field
    for second, first in getattr(serializer, "second_names", {}).items():
        if field == first and first not in serializer.initial_data and second in serializer.initial_data:
            field = second
    return FieldError(field, error.rule, code, allowed)


def _get_choices(serializer: Any, path: str) -> list[str]:
    """Return the values that a field may have, if there are few."""
    field = serializer
    for step in _STEP.findall(path):
        field = getattr(field, "child", None) if step.isdigit() else getattr(field, "fields", {}).get(step)
    choices = [str(choice) for choice in getattr(field, "choices", ())]
    return choices if len(choices) <= MOST_LISTED else []
