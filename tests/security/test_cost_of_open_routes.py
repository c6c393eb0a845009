"""A request without a token costs little: each such route, with its most expensive legal input (N14).

The routes come from docs/endpoints.tsv and the fields from the serializers, so that no new route can be
forgotten. Passwords are hashed in processes of their own, whose time is not counted.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.urls import get_resolver
from rest_framework.serializers import BooleanField, CharField, ChoiceField, DictField, Serializer

from tests.support import second, server
from tests.support.cast import World
from tests.support.endpoints import Endpoint, methods, routes, written_endpoints
from tests.support.processor import seconds_of_workers

pytestmark = pytest.mark.skipif(
    "GATEHOUSE_THOROUGH" not in os.environ, reason="a part of the thorough run (GATEHOUSE_THOROUGH=1)"
)

MOST_SECONDS = 0.2
WORKED_ON = {*range(200, 500), 503} - {413}
BODY = 64 * 1024
QUERY = 7_000
AT_ONCE = 4
_GROWS = "\ufdfa"  # 18 characters in NFKC
FORM_FIELDS = 1_024  # bytes, for what the form of a page needs besides


def fillers(room: int) -> dict[str, str]:
    """Members of a JSON object that take so many bytes."""
    room -= 20
    return {
        "lists": '"a":[' + "[]," * (room // 3) + "1]",
        "objects": '"a":[' + "{}," * (room // 3) + "1]",
        "texts": '"a":[' + '"",' * (room // 3) + "1]",
        "names": ",".join(f'"{number:04x}":1' for number in range(room // 9)),
        "a name twice": ",".join(f'"{number:04x}":1' for number in range(room // 9)) + ',"0001":1',
        "one text": f'"a":"{"," * room}"',
        "escapes": '"a":"' + "\\u0041" * (room // 6) + '"',
    }


FORMS = {
    "fields": "&".join(f"{number:x}" for number in range((BODY - FORM_FIELDS) // 5)),
    "900 fields": "&".join(f"{number:x}={'x' * 60}" for number in range(900)),
    "escapes": "a=" + "%C3%A9" * ((BODY - FORM_FIELDS) // 6 - 1),
    "one field": "a=" + "x" * (BODY - FORM_FIELDS - 2),
    "separators": "&" * (BODY - FORM_FIELDS),
}
OPEN = [
    endpoint for endpoint in written_endpoints() if not endpoint.path.startswith(("/api/v1/", "/admin/*"))
]
OPEN += [Endpoint("GET", "/admin/login/", "login"), Endpoint("POST", "/admin/login/", "login")]


@pytest.fixture(scope="module")
def one_worker(address: str) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """A server with one worker and without limits that would refuse first, and where it is."""
    port = str(second.free_port())
    place = f"http://127.0.0.1:{port}"
    many = dict.fromkeys(("LIMIT_ADDRESS_SIGN_INS", "LIMIT_ADDRESS_CODE_SENDS"), "1000000")
    many |= {"LIMIT_ADDRESS_REGISTRATIONS": "1000000", "LOCK_PAIR_FAILURES": "1000000"}
    with server.process(PORT=port, BASE_URL=place, WEB_CONCURRENCY="1", **many) as served:
        yield served, place


_ACTIONS = {"POST": ("post", "create"), "PATCH": ("patch", "partial_update")}


def serializers() -> dict[tuple[str, str], Any]:
    """What takes the JSON of each route without a token, by method and path."""
    found = {}
    for path, _, pattern in routes(get_resolver()):
        view: Any = getattr(pattern.callback, "cls", None)
        if getattr(view, "authentication_classes", None) != ():
            continue
        for method in methods(pattern) & _ACTIONS.keys():
            declared = next(filter(None, map(view.request_serializers.get, _ACTIONS[method])))
            found[method, path] = declared()
    return found


def longest(field: Any) -> object:
    """A value that a field takes, as long as it may be, of characters that are dear to fold."""
    if isinstance(field, ChoiceField):
        return next(iter(field.choices))
    if isinstance(field, BooleanField):
        return True
    if isinstance(field, Serializer):
        return {name: longest(member) for name, member in field.fields.items()}
    if isinstance(field, DictField):
        return {"id": _GROWS * 256}
    assert isinstance(field, CharField), field
    return _GROWS * (field.max_length or 256)


def bodies(endpoint: Endpoint) -> dict[str, str]:
    """The JSON bodies of a route, by what fills them."""
    taken = serializers()[endpoint.method, endpoint.path].fields
    members = {name: longest(field) for name, field in taken.items() if not field.read_only}
    if "interaction" in members:
        members["interaction"] = ""
    fields = json.dumps(members, ensure_ascii=False)[1:-1]
    room = BODY - len(fields.encode()) - len("{,}")
    return {kind: f"{{{fields},{filler}}}" for kind, filler in fillers(room).items()}


def inputs(http: httpx.Client, endpoint: Endpoint, path: str) -> Iterator[tuple[str, httpx.Request]]:
    """The expensive requests of a route."""
    if endpoint.method in {"GET", "DELETE"}:
        for kind, text in FORMS.items():
            yield kind, http.build_request(endpoint.method, f"{path}?{text[:QUERY]}")
        cookies = "; ".join(f"c{number}=x" for number in range(900))
        yield "cookies", http.build_request(endpoint.method, path, headers={"Cookie": cookies})
        languages = ",".join(f"x{number};q=0.1" for number in range(700))
        yield "languages", http.build_request(endpoint.method, path, headers={"Accept-Language": languages})
    elif path.partition("/api/")[1]:
        json_type = {"Content-Type": "application/json"}
        for kind, text in bodies(endpoint).items():
            yield kind, http.build_request(endpoint.method, path, content=text, headers=json_type)
    else:
        page = http.get(path)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        names = ("identifier", "username", "email", "phone", "name", "password", "new_password", "code")
        typed = f"csrfmiddlewaretoken={token[1] if token else ''}&" + "&".join(f"{name}=x" for name in names)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        for kind, text in FORMS.items():
            yield (
                kind,
                http.build_request("POST", path, content=f"{typed}&{text}", headers=form),
            )


@pytest.mark.parametrize("endpoint", OPEN, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}")
def test_decision_N14_no_input_costs_a_fifth_of_a_second(
    one_worker: tuple["subprocess.Popen[bytes]", str], acme: World, endpoint: Endpoint
) -> None:
    served, place = one_worker
    at_root = endpoint.path.startswith(("/admin/", "/healthz", "/readyz", "/metrics"))
    world = "" if at_root else acme.at(place).address.removeprefix(place)
    path = f"{place}{world}{re.sub(r':[a-z_]+', 'x', endpoint.path)}"
    dear: dict[str, float] = {}

    with httpx.Client(timeout=60, headers={"Connection": "close"}) as http:
        for kind, request in inputs(http, endpoint, path):
            costs = []
            for _ in range(3):  # a loaded machine makes processors slow: the least of three counts
                before = seconds_of_workers(served.pid)
                answers = [http.send(request) for _ in range(AT_ONCE)]
                costs.append((seconds_of_workers(served.pid) - before) / AT_ONCE)
                assert {answer.status_code for answer in answers} < WORKED_ON, answers
                if costs[-1] < MOST_SECONDS:
                    break
            dear[kind] = min(costs)

    assert {kind: cost for kind, cost in dear.items() if cost >= MOST_SECONDS} == {}


def test_every_json_route_without_a_token_has_a_serializer() -> None:
    assert set(serializers()) == {
        (endpoint.method, endpoint.path)
        for endpoint in OPEN
        if endpoint.method in _ACTIONS and endpoint.path.startswith("/api/")
    }
