"""What no write takes, tried on every write that takes a body (decisions H2, H3, H4, H10).

The writes are those of the URL map, and what is good there is in ``tests/support/management_bodies.py``.
One thing in a good body is made bad at a time, so that it alone can be the reason. Whatever is
refused leaves every row as it was.
"""

import copy
import json
import os
import re
import string
from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import cast, management, signing_keys
from tests.support.management_routes import Route, writes
from tests.support.surface import Estate
from tests.support.tenant_rows import changed
from tests.support.threads import at_once
from tests.support.writes import Write

THOROUGH: Final = bool(os.environ.get("GATEHOUSE_THOROUGH"))
EXAMPLES: Final = 150 if THOROUGH else 12
LARGEST: Final = 1024 * 1024
# Objects whose members are the callers' own: anything goes in there.
FREE: Final = {"metadata", "custom_data", "config"}
CONTROL: Final = "".join(chr(code) for code in (*range(1, 9), 11, 12, *range(14, 32), *range(127, 160)))

Path = tuple[str | int, ...]


@pytest.fixture(scope="module")
def estates(address: str) -> dict[str, Estate]:
    tenant = Estate(cast.new_world("Here"))
    return {"management": tenant, "members": tenant, "root": Estate(cast.default_world())}


@pytest.fixture(scope="module")
def manager(estates: dict[str, Estate]) -> str:
    estate = estates["members"]
    return management.member_manager(estate.world, estate["organizations"]).token or ""


@pytest.fixture
def tokens(estates: dict[str, Estate], manager: str) -> dict[str, str]:
    superuser = management.superuser(estates["root"].world).token or ""  # never an old one
    return {"management": superuser, "root": superuser, "members": manager}


def write_to(route: Route, estates: dict[str, Estate], tokens: dict[str, str]) -> Write:
    estate = estates[route.group]
    path = route.filled(estate.ids(route))
    return Write(route, estate.world, path, estate.body(route), tokens[route.group])


@pytest.fixture(params=writes(), ids=str)
def write(request: Any, estates: dict[str, Estate], tokens: dict[str, str]) -> Write:
    return write_to(request.param, estates, tokens)


# ── Bodies that are no JSON objects, or not only one ────────────────────────────────────────────────────────


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


NOTHING: Final = b""
NO_OBJECT: Final = [
    *(b" ", b"null", b"true", b"0", b'"text"', b"[]", b"[{}]", b"{", b"{}}", b"{} {}", b"{,}", b"{'a': 1}"),
    *(b'{"a": 1,}', b'{"a": }', b'{"a"}', b"{a: 1}", b'{"a": 01}', b'{"a": +1}', b'{"a": 1} // x'),
    *(b"a=1&b=2", b"\xef\xbb\xbf{}", b'{"a": "\xff"}', b'{"a": "\xc0\x80"}', b'{"a": "\xed\xa0\x80"}'),
    *("{}".encode("utf-16"), b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}', b'{"a": "\x01"}'),
    *(b'{"a": "\\x"}', b'{"a": "\\u12"}', rb'{"a": "\ud800"}', rb'{"a": ["\udfff"]}', rb'{"\ud800": 1}'),
    *(rb'{"a": "\udc00\ud800"}', rb'{"\u0000": 1}'),
    f'{{"a": {deep(500)}}}'.encode(),
    f'{{"a": {deep(100_000)}}}'.encode(),
    b'{"a":' * 300 + b"1" + b"}" * 300,
]


WITH_OPTIONAL_BODY: Final = {
    "/connectors/:pk/test",
    "/applications/:pk/secrets",
    "/users/:pk/recovery-codes",
}


def test_decision_H10_only_one_json_object_is_taken(write):
    before = write.rows()

    for body in NO_OBJECT:
        write.refusal(write.send(body), 400)
    if write.route.method != "PATCH" and write.route.path not in WITH_OPTIONAL_BODY:
        write.refusal(write.send(NOTHING), 400)  # the others need not be told anything

    assert changed(before, write.rows()) == {}


def within(good: dict[str, Any], text: str) -> bytes:
    """A good body with one member more, written as it stands."""
    return (json.dumps(good)[:-1] + ("," if good else "") + text + "}").encode()


def test_decision_H10_what_spoils_a_field_is_refused_by_its_name(write):
    before = write.rows()
    name = next(iter(write.good))
    again = f"{json.dumps(name)}: {json.dumps(write.good[name])}"
    spoilt = {
        r'"else": "\u0000"': "else: must not hold a NUL",
        r'"else": ["a", {"b": "c\u0000"}]': "else: must not hold a NUL",
        r'"else": {"\u0000": 1}': "else: must not hold a NUL",
        f'"else": {deep(32)}': "else: is nested deeper",
        again: f"{name}: occurs more than once",
        '"else": {"a": 1, "a": 1}': "a: occurs more than once",
    }
    for text, message in spoilt.items():
        assert write.refusal(write.send(within(write.good, text)), 400).startswith(message)

    assert changed(before, write.rows()) == {}


def test_decision_H3_a_body_over_1_MiB_is_413_and_another_type_is_415(write):
    before = write.rows()
    large = within(write.good, f'"else": "{"x" * LARGEST}"')
    good = json.dumps(write.good).encode()

    write.refusal(write.send(large, Connection="close"), 413)
    for kind in (
        *("text/plain", "application/x-www-form-urlencoded", "application/xml", "application/jsonp", "json"),
        *("multipart/form-data; boundary=x", "text/json", "*/*", "application/merge-patch+json"),
    ):
        write.refusal(write.send(good, **{"Content-Type": kind}), 415)

    assert changed(before, write.rows()) == {}


# ── One field at a time ─────────────────────────────────────────────────────────────────────────────────────

NUMBERS: Final = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
ATOMS: Final = st.none() | st.booleans() | NUMBERS | st.text(string.printable, max_size=20)
TREES: Final = st.recursive(
    ATOMS, lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3)
)
FILLED: Final = st.lists(ATOMS, min_size=1, max_size=3) | st.dictionaries(
    st.text(string.ascii_letters, min_size=1, max_size=5), ATOMS, min_size=1, max_size=3
)
TOO_LONG: Final = st.integers(5_000, 60_000).map(lambda length: "x" * length)


def fields(good: Any, at: Path = ()) -> Iterator[Path]:
    """Where the values of a body are, nested ones and the first of each list too."""
    if isinstance(good, dict):
        for name, value in good.items():
            yield (*at, name)
            if name not in FREE:
                yield from fields(value, (*at, name))
    elif isinstance(good, list) and good:
        yield (*at, 0)
        yield from fields(good[0], (*at, 0))


def value_at(body: Any, at: Path) -> Any:
    for step in at:
        body = body[step]
    return body


def with_value(body: dict[str, Any], at: Path, value: Any) -> dict[str, Any]:
    changed_body = copy.deepcopy(body)
    value_at(changed_body, at[:-1])[at[-1]] = value
    return changed_body


def wrong_for(at: Path, good: Any) -> st.SearchStrategy[Any]:
    """Values that no field that holds something like ``good`` can take."""
    if isinstance(good, bool):
        return (
            st.none() | NUMBERS | st.text(max_size=5) | FILLED | st.sampled_from(["true", "false", 0, 1, ""])
        )
    if isinstance(good, int):
        return st.booleans() | st.text(max_size=5) | FILLED | st.integers(max_value=-1) | st.floats(0.1, 0.9)
    if isinstance(good, str):
        spoilt = st.sampled_from(CONTROL).map(lambda character: f"{good}{character}{good}")
        return NUMBERS | st.booleans() | FILLED | TOO_LONG | (st.nothing() if "password" in at else spoilt)
    if isinstance(good, list):
        return (
            NUMBERS | st.booleans() | st.text(max_size=5) | st.just({"a": 1}) | st.lists(FILLED, min_size=1)
        )
    return (
        NUMBERS | st.booleans() | st.text(max_size=5) | FILLED.filter(lambda value: isinstance(value, list))
    )


def hypothesized(test: Callable[[Any], None], strategy: st.SearchStrategy[Any]) -> None:
    """Try examples of a strategy, the same ones in every ordinary run."""
    settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=not THOROUGH,
        suppress_health_check=list(HealthCheck),
    )(given(strategy)(test))()


def test_decision_H2_a_value_of_the_wrong_kind_is_400_names_the_field_and_changes_nothing(write):
    before = write.rows()

    def refused(sent: tuple[Path, Any]) -> None:
        at, value = sent
        message = write.refusal(write.send(json.dumps(with_value(write.good, at, value)).encode()), 400)
        assert str(at[0]) in message, f"{at}: {message}"

    places = st.sampled_from(list(fields(write.good)))
    hypothesized(
        refused, places.flatmap(lambda at: wrong_for(at, value_at(write.good, at)).map(lambda bad: (at, bad)))
    )

    assert changed(before, write.rows()) == {}


def spoilt(value: Any, at: str = "") -> tuple[Any, set[str]]:
    """A body whose every value is of the wrong kind, and the paths of its fields."""
    if isinstance(value, dict) and value and at.rpartition(".")[2] not in FREE:
        parts = {name: spoilt(part, f"{at}.{name}" if at else name) for name, part in value.items()}
        return {name: part for name, (part, _) in parts.items()}, set().union(*(p for _, p in parts.values()))
    return ("wrong" if isinstance(value, bool | int | dict | list) or value is None else 7), {at}


def test_every_wrong_field_is_named_at_once(write):
    before = write.rows()
    body, paths = spoilt(write.good)

    answer = write.send(json.dumps(body).encode())

    errors = management.check_members(answer.json())
    assert write.refusal(answer, 400)
    assert {error["field"] for error in errors} == paths
    assert changed(before, write.rows()) == {}


def test_decision_H10_every_text_is_bounded_and_free_of_control_characters(write):
    before = write.rows()

    for at in fields(write.good):
        good = value_at(write.good, at)
        if isinstance(good, str):
            bad = [
                "x" * 60_000,
                *([] if "password" in at else [f"a{CONTROL[0]}b", f"{good}\x7f", f"{good}\x85"]),
            ]
            for value in bad:
                sent = json.dumps(with_value(write.good, at, value)).encode()
                assert str(at[0]) in write.refusal(write.send(sent), 400), at

    assert changed(before, write.rows()) == {}


def test_decision_H10_objects_of_the_callers_own_hold_64_KiB(write):
    before = write.rows()

    for name in FREE & set(write.good):
        large = {"a": "x" * 65_536}
        message = write.refusal(write.send(json.dumps(write.good | {name: large}).encode()), 400)
        assert message.startswith(f"{name}: ")

    assert changed(before, write.rows()) == {}


def test_decision_H10_numbers_that_would_come_back_as_others_are_refused(write):
    before = write.rows()

    for name in FREE & set(write.good):
        for number in ("1e30", "-1e19", str(10**19 * 9), "1.7976931348623157e308"):
            sent = json.dumps(write.good | {name: {"a": [{"b": "?"}]}}).replace('"?"', number)
            assert write.refusal(write.send(sent.encode()), 400).startswith(f"{name}: ")

    assert changed(before, write.rows()) == {}


def test_whatever_json_comes_is_taken_or_refused_but_breaks_nothing(write):
    """Also values that may be good: nothing at all, other keys, a list in any order."""

    def answered(sent: tuple[Path, Any]) -> None:
        at, value = sent
        answer = write.send(json.dumps(with_value(write.good, at, value)).encode())
        if answer.status_code != 200:
            write.refusal(answer, 400, 404)

    places = st.sampled_from(list(fields(write.good)))
    hypothesized(answered, st.tuples(places, TREES))


@pytest.fixture(scope="module")
def required(address: str) -> dict[str, list[str]]:
    """What the document says each operation cannot do without."""

    def spelled(path: str) -> str:
        return re.sub(r"\{\w+\}|:\w+", ":", path)

    document = httpx.get(f"{address}/api/openapi.json").json()
    found = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            schema = content.get("schema", {})
            if "$ref" in schema:
                schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            found[f"{method.upper()} {spelled(path)}"] = schema.get("required", [])
    return {str(route): found[f"{route.method} {spelled(f'/api/v1{route.path}')}"] for route in writes()}


def test_what_is_required_and_missing_or_null_is_400_and_is_named(write, required):
    before = write.rows()

    for name in required[str(write.route)]:
        without = {other: value for other, value in write.good.items() if other != name}
        for body in (without, write.good | {name: None}):
            assert name in write.refusal(write.send(json.dumps(body).encode()), 400)

    assert changed(before, write.rows()) == {}


def test_the_document_knows_what_is_required(required):
    assert sum(bool(names) for names in required.values()) > 25
    assert required["POST /users"] == ["username"]


def test_decision_H4_ids_that_are_nothing_here_are_named_and_nothing_is_changed(write, rival):
    lists = [name for name, value in write.good.items() if name.endswith("_ids") and isinstance(value, list)]
    before = write.rows()
    theirs = Estate(rival)
    strangers = [
        *("", "x", "*", "null", "01900000-0000-7000-8000-000000000000", "default", "1"),
        *(theirs[kind] for kind in ("users", "roles", "scopes", "applications", "organization-roles")),
    ]
    for name in lists:
        for stranger in strangers:
            sent = write.good | {name: [*write.good[name], stranger]}
            message = write.refusal(write.send(json.dumps(sent).encode()), 400)
            assert message.startswith(f"{name}")
            assert stranger in message

    assert changed(before, write.rows()) == {}


# ── Two at once ─────────────────────────────────────────────────────────────────────────────────────────────


def made_twice(write: Write, body: dict[str, Any], times: int) -> list[httpx.Response]:
    content = json.dumps(body).encode()
    return at_once(times, lambda _: write.send(content))


# The first two create nothing. An application has at most five secrets: see ``test_application_secrets``.
CREATIONS: Final = [
    route
    for route in writes()
    if route.method == "POST" and not route.path.endswith(("/test", "/claims-preview", "/secrets"))
]
# What may be made twice: it is known by its id alone, or the second is the first.
REPEATABLE: Final = {
    "POST /organizations",
    "POST /applications",
    "POST /connectors",
    "POST /organizations/:pk/applications",
    "POST /users/:pk/recovery-codes",
    "POST /m2m/organizations/:organization_pk/members",
}


@pytest.mark.parametrize("route", CREATIONS, ids=str)
def test_of_two_who_make_one_thing_at_once_one_wins(route, estates, tokens):
    write = write_to(route, estates, tokens)
    # A user has at most five authenticators.
    most = 3 if str(route) == "POST /users/:pk/mfa-verifications" else 10

    for _ in range(most if THOROUGH else 3):
        signing_keys.delete_previous(estates[route.group].world, but=10)
        answers = made_twice(write, estates[route.group].body(route), 2)

        statuses = sorted(answer.status_code for answer in answers)
        if str(route) in REPEATABLE:
            assert statuses == [200, 200]
        else:
            assert statuses == [200, 400], [answer.text for answer in answers]
            refusal = next(answer for answer in answers if answer.status_code == 400)
            assert re.match(r"\w+: .*already", write.refusal(refusal, 400))
