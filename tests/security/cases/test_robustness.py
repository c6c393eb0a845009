"""The case book, letter L and B10: input that is too much, too odd or too many at once."""

import unicodedata
from collections import Counter
from typing import Any

import pytest

from database import ids
from tests.support.cast import query_of
from tests.support.management_routes import Route, writes
from tests.support.surface import Estate
from tests.support.threads import at_once

DEEP = 100_000
HOSTILE = {
    "deep lists": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "many keys": b"{" + b",".join(b'"k%d":1' % number for number in range(60_000)) + b"}",
    "infinite number": b'{"identifier": 1e400}',
    "not a number": b'{"identifier": NaN}',
    "lone surrogate": b'{"identifier": "\\ud800"}',
    "invalid UTF-8": b'{"identifier": "\xff\xfe"}',
    "trailing comma": b'{"identifier": "a",}',
    "two values": b'{"identifier": "a"} {"identifier": "b"}',
    "5 MB": b'{"identifier": "' + b"x" * 5_000_000 + b'"}',
    "a huge number": b'{"identifier": ' + b"9" * 100_000 + b"}",
}
DOORS = ["/api/interaction/sign-in", "/api/interaction/register", "/api/admin/sign-in", "/api/v1/users"]
TEXTS = {
    "NUL": "a\x00b",
    "override": "a\u202eb",
    "last of its plane": "a\uffffb",
    "emoji": "a\U0001f600b",
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("door", DOORS)
def test_case_L01_hostile_json_is_refused_quickly(acme, admin, door, body):
    headers = {"Content-Type": "application/json"}
    if door.startswith("/api/v1"):
        headers["Authorization"] = f"Bearer {admin.token}"

    answer = acme.post(door, content=body, headers=headers)

    assert answer.status_code in {400, 413}, answer.text
    assert answer.elapsed.total_seconds() < 5


@pytest.mark.parametrize("door", DOORS)
def test_case_L01_a_name_that_comes_twice_is_refused(acme, admin, door):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {admin.token}"}
    body = b'{"username": "a", "username": "b", "identifier": "a", "password": "x", "identifier": "b"}'

    answer = acme.post(door, content=body, headers=headers)

    assert answer.status_code in {400, 401}
    assert answer.status_code == 400 or door == "/api/interaction/sign-in"


def _texts_of(body: dict[str, Any]) -> list[str]:
    return [name for name, value in body.items() if isinstance(value, str)]


def _where(estate: Estate, route: Route) -> str:
    return route.filled(estate.ids(route))


def test_case_L02_odd_characters_are_refused_or_come_back_as_they_were(acme):
    estate = Estate(acme)
    seen: Counter[str] = Counter()
    for route in writes():
        if route.group != "management":
            continue
        for name in _texts_of(estate.body(route)):
            for kind, text in TEXTS.items():
                answer = estate.admin.request(
                    route.method, _where(estate, route), json=estate.body(route) | {name: text}
                )

                assert answer.status_code in {200, 400}, f"{route} {name} {kind}: {answer.text}"
                shown = answer.json()["result"]
                if answer.status_code == 200 and isinstance(shown, dict) and shown.get(name):
                    same = {text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFKC", text)}
                    assert shown[name] in same, f"{route} {name} {kind}"
                assert kind != "NUL" or answer.status_code == 400
                seen["answers"] += 1
                seen["shown"] += answer.status_code == 200 and isinstance(shown, dict) and name in shown
    assert seen["answers"] > 100
    assert seen["shown"] > 50


class TestLanguages:
    @pytest.mark.parametrize(
        "value", ["de," * 1_300, "x-" * 2_000, "*;q=" + "0" * 3_000, "de;q=NaN", "\xff\xfe"]
    )
    def test_case_L16_a_long_list_is_ignored(self, acme, value):
        page = acme.get("/sign-in", headers={"Accept-Language": value.encode("latin-1")})

        assert page.status_code == 200
        assert page.elapsed.total_seconds() < 5

    def test_case_L16_so_is_a_long_ui_locales(self, acme):
        browser, client = acme.browser(), acme.application()

        answer = browser.authorize(client, ui_locales="de " * 2_000)

        assert "interaction=" in answer.headers["Location"]
        assert browser.get(answer.headers["Location"]).status_code == 200


@pytest.mark.parametrize("term", ["%" * 2_500, "%_" * 1_250, "_" * 2_500, "\\" * 2_500, "a%" * 1_250])
def test_case_L17_a_long_pattern_is_bounded(acme, admin, term):
    for _ in range(5):
        acme.user(name="a" * 200)

    answer = admin.get("/users", search=term)

    assert answer.status_code in {200, 400}
    assert answer.elapsed.total_seconds() < 5
    assert answer.status_code == 400 or answer.json()["result"]["total"] == 0


def test_case_L18_ids_of_the_same_moment_are_unique_and_not_guessable():
    made = [str(one) for batch in at_once(8, lambda _: [ids.new() for _ in range(500)]) for one in batch]

    assert len(set(made)) == len(made)
    # Each id of one worker and one millisecond has 32 last bits of its own, drawn at random.
    tails = [one[-8:] for one in made]
    assert all(Counter(tail[at] for tail in tails).most_common(1)[0][1] < len(tails) / 4 for at in range(8))


@pytest.mark.parametrize(
    "challenge", ["", "x", "A" * 42, "A" * 44, "A" * 42 + "=", "A" * 42 + "+", "A" * 42 + "/", "A" * 42 + "ä"]
)
def test_case_B10_a_challenge_has_43_base64url_characters(acme, challenge):
    answer = acme.browser().authorize(acme.application("SPA"), code_challenge=challenge)

    assert query_of(answer.headers["Location"])["error"] == "invalid_request"
