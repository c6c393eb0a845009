"""The fields and parameters of a request that the API ignores.

Nothing declares them, or a PATCH cannot set them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from rest_framework.exceptions import APIException
from rest_framework.request import Request

from identity.rest import declarations

_MOST_NAMES: Final = 20
_LONGEST_NAME: Final = 64  # characters
_LONGEST: Final = 1_000  # characters of all names
_PLAIN: Final = "[]"  # besides letters, digits and ``.``, ``_``, ``-``, ``~``


def describe(view: Any, request: Request, result: object = None) -> str:
    """Return the ignored names as the value of a header; an empty string if there are none.

    Commas separate the names. Every character that could end a name or the header is percent-encoded. A
    parameter of the query string begins with a question mark. ``+5`` stands for five more names. ``result``
    is the row in the response. A field that a PATCH cannot set is named only if its value there differs from
    the one that was sent.
    """
    shown: list[str] = []
    length = others = 0
    for mark, name in [*_find_in_query(view, request), *_find_in_body(view, request, result)]:
        text = mark + quote(name[:_LONGEST_NAME], safe=_PLAIN)
        length += len(text) + len(", ")
        if others or len(shown) == _MOST_NAMES or length > _LONGEST:
            others += 1
        else:
            shown.append(text)
    return ", ".join([*shown, f"+{others}"] if others else shown)


def _find_in_query(view: Any, request: Request) -> Iterator[tuple[str, str]]:
    if request.META.get("QUERY_STRING"):
        known = set(declarations.get_parameter_names(view, str(request.method)))
        yield from (("?", name) for name in request.query_params if name not in known)


def _find_in_body(view: Any, request: Request, result: object) -> Iterator[tuple[str, str]]:
    serializer = declarations.get_request_serializer(view, request)
    if serializer is None:
        return
    try:
        body = request.data
    except APIException:  # the request was refused before its body was read
        return
    yield from (("", path) for path in _compare(serializer, body, ""))
    yield from (("", name) for name in _find_not_patched(serializer, body, result))


def _find_not_patched(serializer: Any, body: object, result: object) -> Iterator[str]:
    """Yield the fields that the PATCH sent with another value than the row has, and that it cannot set."""
    if not isinstance(body, Mapping) or not isinstance(result, Mapping):
        return
    if not getattr(serializer, "partial", False):
        return
    for name in getattr(serializer, "not_patched", ()):
        if name in body and (name not in result or result[name] != body[name]):
            yield name


def _compare(serializer: Any, data: Any, path: str) -> Iterator[str]:
    """Return the paths of the members that a serializer, or one inside it, does not declare."""
    if isinstance(data, list):
        child = getattr(serializer, "child", None)
        for index, item in enumerate(data) if hasattr(child, "fields") else ():
            yield from _compare(child, item, f"{path}[{index}]")
    fields = getattr(serializer, "fields", None)
    if not isinstance(data, Mapping) or fields is None:
        return
    known = fields.keys() | getattr(serializer, "second_names", {}).keys()
    for name, value in data.items():
        below = f"{path}.{name}" if path else name
        if name not in known:
            yield below
        elif isinstance(value, Mapping | list):
            yield from _compare(fields.get(name), value, below)
