"""Attacks with bodies: what any client may send must be cheap to refuse, and must be read as it was sent."""

import json
import time
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import settings as fuzzing
from hypothesis import strategies as st
from rest_framework.exceptions import ParseError

from config.server.body_limits import WITHOUT_TOKEN
from management.api.parsers import StrictJSONParser
from tests.support import chunked
from tests.support.cast import PASSWORD, default_world
from tests.support.endpoints import written_endpoints
from tests.support.management import refusal_of, superuser

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MEBIBYTE = 1024 * 1024
OPEN_POSTS = [
    endpoint.path
    for endpoint in written_endpoints()
    if endpoint.method == "POST" and not endpoint.path.startswith(("/api/v1/", "/admin/"))
]


def parsed(body: bytes) -> object:
    return StrictJSONParser().parse(BytesIO(body))


def filled(unit: bytes, size: int = MEBIBYTE) -> bytes:
    """A body of one kind of value, as many as there is room for."""
    return b'{"a":[' + unit * ((size - 10) // len(unit)) + b"1]}"


EXPENSIVE = {
    "lists": filled(b"[],"),
    "objects": filled(b"{},"),
    "empty texts": filled(b'"",'),
    "names": b"{" + b",".join(b'"%x":1' % number for number in range(90_000)) + b"}",
    "a name twice": b"{" + b",".join(b'"%x":1' % number for number in range(49_000)) + b',"1":2}',
    "quotes": b'"' * MEBIBYTE,
    "escaped quotes": b'"' + b'\\"' * (MEBIBYTE // 2),
    "depth": b'{"a":' + b"[" * MEBIBYTE,
    "a number": b'{"a":' + b"1" * MEBIBYTE + b"}",
}


class TestExpensiveJSON:
    @pytest.mark.parametrize("kind", EXPENSIVE)
    def test_attack_AP08_a_mebibyte_of_anything_costs_less_than_a_fifth_of_a_second(self, kind):
        costs = []
        for _ in range(3):  # a loaded machine makes processors slow
            began = time.thread_time()
            with pytest.raises(ParseError):
                parsed(EXPENSIVE[kind])
            costs.append(time.thread_time() - began)

        assert min(costs) < 0.2

    def test_attack_AP08_a_megabyte_of_lists_is_no_sign_in_of_an_administrator(self, acme):
        body = b'{"username":"a","password":"x",' + filled(b"[],")[1:]

        answer = acme.post("/api/admin/sign-in", content=body, headers=JSON)

        refusal_of(answer, 413)

    def test_decision_N14_more_than_50_000_values_are_refused_where_a_token_is_needed(self, acme):
        caller = superuser(acme)

        answer = caller.request("POST", "/users", content=filled(b"[],"), headers=JSON)

        assert "50,000 values" in refusal_of(answer, 400)


class TestLegalJSON:
    """What is counted over the bytes must never be more than there is."""

    @pytest.mark.parametrize(
        "document",
        [
            {"a": "," * 200_000},
            {"a": '[{",:' * 50_000},
            {"a": '\\"' * 100_000 + ","},
            {"a": [[]] * 40_000},
            {"a": [{}] * 40_000},
            {"a": [0] * 49_998},
            {"a": {str(number): ":" for number in range(40_000)}},
        ],
        ids=["commas", "signs", "escapes", "lists", "objects", "numbers", "names"],
    )
    @pytest.mark.parametrize("indent", [None, 1])
    def test_decision_N14_what_has_fewer_values_is_read(self, document, indent):
        assert parsed(json.dumps(document, indent=indent).encode()) == document

    @given(
        document=st.dictionaries(
            st.text('":\\,{ ', max_size=9),
            st.recursive(
                st.none() | st.integers(-99, 99) | st.text('",:[]{}\\ \n', max_size=9),
                lambda inner: (
                    st.lists(inner, max_size=4) | st.dictionaries(st.text('":,', max_size=3), inner)
                ),
                max_leaves=8,
            ),
            max_size=5,
        )
    )
    @fuzzing(max_examples=100, deadline=None)
    def test_whatever_stands_in_its_texts_it_is_read(self, document):
        assert parsed(json.dumps(document).encode()) == document

    @pytest.mark.parametrize(
        "body", [b'{"a:":1,"a:":2}', b'{"x":{"\\"":1,"\\u0022":2}}', b'{"a":1,"a" :":"}']
    )
    def test_a_name_twice_is_still_refused(self, body):
        with pytest.raises(ParseError, match="more than once"):
            parsed(body)


def most(path: str) -> int:
    """How large a body may be: forms of the protocol have few fields, each of a bounded length."""
    return MEBIBYTE if path.startswith("/oidc/") else WITHOUT_TOKEN


class TestSize:
    @pytest.mark.parametrize("path", OPEN_POSTS)
    @pytest.mark.parametrize("below", [True, False], ids=["tenant", "root"])
    def test_decision_N14_of_a_route_without_a_token_is_64_kib(self, acme, path, below):
        world = acme if below else default_world()
        headers = JSON if path.startswith("/api/") else FORM

        answer = world.post(
            path.replace(":request_id", "x"), content=b"a" * (most(path) + 1), headers=headers
        )

        assert answer.status_code == 413, answer.text

    def test_decision_N14_so_it_is_at_the_operators_site_before_the_sign_in(self, acme):
        root = default_world()

        answer = root.post("/admin/login/", content=b"a" * (WITHOUT_TOKEN + 1), headers=FORM)

        assert answer.status_code == 413

    def test_decision_N14_where_a_token_is_needed_it_is_a_mebibyte(self, acme):
        caller, filler = superuser(acme), " " * (MEBIBYTE - 200)

        body = json.dumps({"username": "large-enough", "password": PASSWORD}).encode() + filler.encode()

        assert caller.request("POST", "/users", content=body, headers=JSON).status_code == 200
        assert caller.request("POST", "/users", content=body + b" " * 200, headers=JSON).status_code == 413


class TestChunks:
    """V24: a body whose length is not said was read as an empty one."""

    def test_attack_AV24_a_token_request_in_chunks_is_read(self, acme):
        machine = acme.application("MachineToMachine")

        answer = acme.post(
            "/oidc/token",
            content=iter([b"grant_type=", b"client_", b"credentials"]),
            headers=FORM,
            auth=machine.basic,
        )

        assert answer.status_code == 200, answer.text

    def test_attack_AV24_so_is_a_sign_in(self, acme):
        body = json.dumps({"identifier": acme.user().username, "password": PASSWORD}).encode()

        answer = acme.post("/api/interaction/sign-in", content=iter([body[:9], body[9:]]), headers=JSON)

        assert answer.status_code == 200

    @pytest.mark.parametrize("path", OPEN_POSTS)
    def test_attack_AV24_chunks_slip_past_no_limit(self, acme, path):
        headers = JSON if path.startswith("/api/") else FORM
        chunks = iter([b"a" * 1024] * (most(path) // 1024 + 16))

        answer = acme.post(path.replace(":request_id", "x"), content=chunks, headers=headers)

        assert answer.status_code == 413

    @pytest.mark.parametrize("body", [b"zz\r\nabc\r\n0\r\n\r\n", b"3\r\nabcd\r\n0\r\n\r\n"])
    def test_malformed_chunks_are_a_bad_request(self, acme, body):
        assert chunked.send(acme.address, "/oidc/token", body).startswith(b"HTTP/1.1 400 ")
