"""GET and POST /oidc/authorize, and GET /oidc/authorize/:id, as applications and browsers meet them."""

import base64
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from uuid import uuid4

import httpx
import jwt
import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import settings as fuzzing
from hypothesis import strategies as st

from identity.sessions.models import Session
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.grants.models import AuthorizationCode, AuthorizationRequest
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support import cast, forgery, wire
from tests.support.cast import CALLBACK, Browser, RelyingParty, World, query_of
from tests.support.forms import form

CODE = re.compile(r"[A-Za-z0-9_-]{43}")
DESCRIPTION = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749 section 4.1.2.1
FORM = "Content-Type: application/x-www-form-urlencoded"


def is_sent_back(answer: httpx.Response, client: RelyingParty) -> dict[str, str]:
    """Check that an answer goes to the application, and return what it says."""
    assert answer.status_code == 303, answer.text
    location = answer.headers["Location"]
    assert location.startswith(client.application.redirect_uris[0])
    said = dict(parse_qsl(urlsplit(location).query, keep_blank_values=True, strict_parsing=True))
    assert said["iss"] == client.world.issuer
    return said


def is_refused(answer: httpx.Response, client: RelyingParty, error: str, state: str = "af0ifjsldkj") -> None:
    """Check that the application is told of an error, of nothing more, and no code."""
    said = is_sent_back(answer, client)
    assert said.keys() == {"error", "error_description", "state", "iss"}, said
    assert (said["error"], said["state"]) == (error, state)
    assert DESCRIPTION.fullmatch(said["error_description"]), said["error_description"]


def is_answered(answer: httpx.Response, client: RelyingParty) -> str:
    """Check that the application is given a code and nothing more, and return the code."""
    said = is_sent_back(answer, client)
    assert said.keys() == {"code", "state", "iss"}, said
    return said["code"]


def is_error_page(answer: httpx.Response, status: int = 400) -> None:
    """Check that a person is told, and goes nowhere."""
    assert answer.status_code == status, answer.text
    assert "Location" not in answer.headers
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "This link does not work" in answer.text


def asks_for(page: str, answer: httpx.Response, world: World) -> str:
    """Check that a person is sent to a page of ours, and return the interaction."""
    assert answer.status_code == 303, answer.text
    location = urlsplit(answer.headers["Location"])
    assert (location.scheme, location.netloc) == ("", "")
    assert location.path == f"{urlsplit(world.address).path}/{page}"
    assert query_of(answer.headers["Location"]).keys() == {"interaction"}
    return query_of(answer.headers["Location"])["interaction"]


def signed_in(world: World, **fields: str) -> tuple[Browser, User]:
    """Open a browser in which somebody is signed in."""
    user, browser = world.user(**fields), world.browser()
    assert browser.sign_in(user).status_code == 200
    return browser, user


def parked(world: World) -> int:
    with world.active():
        return AuthorizationRequest.objects.count()


def without_reference(page: str) -> str:
    """Drop the only thing that differs between two error pages: the request's own id."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", page)


@dataclass(frozen=True)
class Insider:
    """An application, and a browser that is signed in: for tests that ask and leave no trace."""

    client: RelyingParty
    cookie: str

    def authorize(self, **changes: str | None) -> httpx.Response:
        return self.get(urlencode(self.client.request(**changes)))

    def get(self, query: str) -> httpx.Response:
        return self.client.world.get(f"/oidc/authorize?{query}", headers={"Cookie": self.cookie})

    def post(self, query: str) -> httpx.Response:
        headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        return self.client.world.post("/oidc/authorize", content=query, headers=headers)


@pytest.fixture(scope="module")
def insider(address: str) -> Insider:
    world = cast.new_world("Inside")
    browser, _ = signed_in(world)
    cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())
    return Insider(world.application(), cookies)


def named(value: object) -> str:
    """Name a case by its value, shortened."""
    text = ascii(value)
    return text if len(text) < 80 else f"{text[:40]}… ({len(text)})"


class TestSuccess:
    def test_case_A15_sends_code_state_and_issuer_and_nothing_else(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client)

        assert CODE.fullmatch(is_answered(answer, client))
        assert answer.headers["Cache-Control"] == "no-store"

    def test_the_code_buys_tokens_for_the_person_who_is_signed_in(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        tokens = client.redeem(is_answered(browser.authorize(client), client)).json()

        assert jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"] == str(user.pk)

    def test_needs_no_state_and_then_echoes_none(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, state=None)

        assert is_sent_back(answer, client).keys() == {"code", "iss"}

    def test_keeps_the_query_that_a_redirect_uri_was_registered_with(self, acme):
        client = acme.application(redirect_uris=["https://rp.example/callback?tenant=7&next=%2Fhome"])
        browser, _ = signed_in(acme)

        answer = browser.authorize(client)

        assert answer.headers["Location"].startswith(
            "https://rp.example/callback?tenant=7&next=%2Fhome&code="
        )
        assert is_sent_back(answer, client).keys() == {"tenant", "next", "code", "state", "iss"}

    @pytest.mark.parametrize("parameter", ["foo", "code", "error", "user_id", "csrfmiddlewaretoken", "next"])
    def test_ignores_parameters_it_does_not_know(self, insider, parameter):
        answer = insider.authorize(**{parameter: "https://evil.example/"})

        assert is_answered(answer, insider.client) != "https://evil.example/"

    def test_ignores_a_repeated_parameter_it_does_not_know(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.get(
            "/oidc/authorize", params=[*client.request().items(), ("foo", "1"), ("foo", "2")]
        )

        is_answered(answer, client)

    @pytest.mark.parametrize(
        ("parameter", "value"),
        [
            ("display", "popup"),
            ("display", "wall"),
            ("acr_values", "urn:mace:incommon:iap:silver"),
            ("claims_locales", "de fr"),
            ("ui_locales", "tlh-KX " * 1000),
            ("login_hint", "<b>somebody</b>"),
        ],
    )
    def test_decision_O9_accepts_what_it_may_ignore(self, insider, parameter, value):
        answer = insider.authorize(**{parameter: value})

        is_answered(answer, insider.client)

    @pytest.mark.parametrize(
        "name", ["max_age", "request", "request_uri", "response_mode", "prompt", "claims"]
    )
    def test_takes_a_parameter_without_a_value_as_left_out(self, insider, name):
        """RFC 6749 section 3.1."""
        answer = insider.authorize(**{name: ""})

        is_answered(answer, insider.client)

    def test_no_script_of_another_origin_may_read_it(self, insider):
        """Discovery 1.0 section 3: CORS is not recommended here, for browsers go here themselves."""
        origin = {"Origin": "https://rp.example", "Cookie": insider.cookie}
        url = f"{insider.client.world.address}/oidc/authorize"

        answer = httpx.get(url, params=insider.client.request(), headers=origin)
        preflight = httpx.options(url, headers=origin | {"Access-Control-Request-Method": "POST"})

        is_answered(answer, insider.client)
        for one in (answer, preflight):
            assert not [name for name in one.headers if name.startswith("access-control-")]

    @pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
    def test_takes_no_other_method(self, acme, method):
        answer = httpx.request(method, f"{acme.address}/oidc/authorize", params=acme.application().request())

        assert answer.status_code == 405
        assert answer.headers["Allow"] == "GET, POST"

    def test_case_G07_does_not_take_the_session_of_another_tenant(self, acme, rival):
        client = acme.application()
        stranger, _ = signed_in(rival)
        token = stranger.http.cookies[f"gatehouse-session.{rival.tenant.slug}"]

        for tenant in (acme, rival):
            cookie = f"gatehouse-session.{tenant.tenant.slug}={token}"
            answer = acme.get("/oidc/authorize", params=client.request(), headers={"Cookie": cookie})
            asks_for("sign-in", answer, acme)

    @pytest.mark.parametrize(
        "headers",
        [
            {"Host": "evil.example"},
            {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"},
            {"Forwarded": "host=evil.example;proto=https"},
            {"Script-Name": "/t/default"},
        ],
    )
    def test_decision_T1_no_header_changes_issuer_or_page(self, acme, headers):
        client = acme.application()

        page = acme.get("/oidc/authorize", params=client.request(), headers=headers)
        refusal = acme.get("/oidc/authorize", params=client.request(prompt="none"), headers=headers)

        asks_for("sign-in", page, acme)
        is_refused(refusal, client, "login_required")


class TestPost:
    def test_answers_as_get_does(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.post("/oidc/authorize", data=client.request())

        is_answered(answer, client)

    def test_parks_the_request_of_somebody_who_is_not_signed_in(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        interaction = asks_for("sign-in", browser.post("/oidc/authorize", data=client.request()), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        is_answered(browser.get(onward), client)

    def test_of_another_site_goes_on_as_get_so_that_the_session_is_seen(self, acme):
        """A browser keeps SameSite=Lax cookies from a cross-site POST."""
        client = acme.application()
        browser, _ = signed_in(acme)
        state = "ä&=+ %0d%0a #"

        bounced = acme.post(
            "/oidc/authorize", data=client.request(state=state), headers={"Sec-Fetch-Site": "cross-site"}
        )

        assert bounced.status_code == 303
        assert bounced.headers["Location"].startswith(f"{urlsplit(acme.address).path}/oidc/authorize?")
        assert is_sent_back(browser.get(bounced.headers["Location"]), client)["state"] == state

    @pytest.mark.parametrize(
        "state", [b"a\r\nSet-Cookie: a=b", b"a\nb", "grüß".encode(), b"a b#c", b"\x7f", b"<'\">"]
    )
    def test_of_another_site_survives_bytes_that_no_browser_would_send(self, acme, state):
        client = acme.application()
        body = urlencode(client.request(state=None)).encode() + b"&state=" + state

        bounced = wire.send(
            acme.address, "POST", b"/oidc/authorize", FORM, "Sec-Fetch-Site: cross-site", body=body
        )

        assert bounced.status == 303
        assert "set-cookie" not in bounced.headers
        answer = acme.get(
            bounced.headers["location"].removeprefix(urlsplit(acme.address).path) + "&prompt=none"
        )
        is_refused(answer, client, "login_required", state.decode())

    def test_of_another_site_that_is_too_long_for_get_goes_on_without_the_session(self, acme):
        client, user = acme.application(), acme.user()
        browser, state = acme.browser(), "x" * 12_000

        answer = browser.post(
            "/oidc/authorize", data=client.request(state=state), headers={"Sec-Fetch-Site": "cross-site"}
        )
        interaction = asks_for("sign-in", answer, acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert is_sent_back(browser.get(onward), client)["state"] == state

    @pytest.mark.parametrize(
        "content_type", ["application/json", "multipart/form-data; boundary=x", "text/plain", ""]
    )
    def test_takes_forms_only(self, acme, content_type):
        body = json.dumps(acme.application().request()).encode()

        answer = acme.post("/oidc/authorize", content=body, headers={"Content-Type": content_type})

        is_error_page(answer)

    def test_does_not_mix_the_query_into_the_form(self, acme):
        client = acme.application()
        form = client.request(redirect_uri=None)

        answer = acme.post("/oidc/authorize", params={"redirect_uri": CALLBACK}, data=form)

        is_error_page(answer)

    @pytest.mark.parametrize("size", [20_000, 66_000, 2 * 1024 * 1024, 10 * 1024 * 1024])
    def test_refuses_a_large_body(self, acme, size):
        client = acme.application()

        answer = acme.post("/oidc/authorize", data=client.request(state="x" * size))

        is_error_page(answer)


class TestBadBytes:
    @pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "scope", "nonce", "foo"])
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_refuses_a_nul(self, acme, name, method):
        parameters = acme.application().request(**{name: "a\0b"})
        where = {"params": parameters} if method == "GET" else {"data": parameters}

        answer = httpx.request(method, f"{acme.address}/oidc/authorize", **where)

        is_error_page(answer)

    @pytest.mark.parametrize("bad", ["%ff", "%c3%28", "%ed%a0%80", "%c0%80", "%f4%90%80%80"])
    @pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "foo"])
    def test_refuses_what_is_not_utf8(self, acme, name, bad):
        query = f"{urlencode(acme.application().request(**{name: None}))}&{name}={bad}"

        answer = acme.get(f"/oidc/authorize?{query}")

        is_error_page(answer)

    @pytest.mark.parametrize("bad", [b"\xff", b"\xc3\x28", b"\xed\xa0\x80"])
    def test_refuses_raw_bytes_that_are_not_utf8(self, acme, bad):
        query = urlencode(acme.application().request(state=None)).encode() + b"&state=" + bad

        in_query = wire.send(acme.address, "GET", b"/oidc/authorize?" + query)
        in_form = wire.send(acme.address, "POST", b"/oidc/authorize", FORM, body=query)

        assert (in_query.status, in_form.status) == (400, 400)
        assert "location" not in in_query.headers | in_form.headers

    @pytest.mark.parametrize(
        "query", ["", "?", "&&&", "=", "client_id", "%", "%%%", "client_id=%", "a;b;c", "?x"]
    )
    def test_refuses_what_hardly_is_a_query(self, acme, query):
        answer = acme.get(f"/oidc/authorize?{query}")

        is_error_page(answer)

    def test_refuses_a_thousand_parameters(self, acme):
        client = acme.application()

        answer = acme.get("/oidc/authorize", params=[*client.request().items(), *[("a", "b")] * 1000])

        is_error_page(answer)

    @pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
    def test_refuses_what_is_too_long_for_a_client(self, acme, name):
        client = acme.application()
        began = time.monotonic()

        answer = acme.post("/oidc/authorize", data=client.request(**{name: CALLBACK + "a" * 10_000}))

        is_error_page(answer)
        assert time.monotonic() - began < 2

    def test_a_query_beyond_all_measure_is_refused(self, acme):
        client = acme.application()

        answer = acme.get("/oidc/authorize", params=client.request(state="x" * 20_000))

        assert answer.status_code in {400, 414}
        assert "Location" not in answer.headers


class TestClient:
    def test_case_A01_every_unknown_client_gets_the_same_page(self, acme, rival):
        deleted = acme.application()
        with acme.active():
            applications.remove(deleted.application)
        client_ids = [
            "unknown",
            deleted.client_id,
            rival.application().client_id,
            "ünknown",
            "x" * 5000,
            "a b",
            "%00",
        ]

        answers = [
            acme.get("/oidc/authorize", params=acme.application().request(client_id=client_id))
            for client_id in client_ids
        ]

        for answer in answers:
            is_error_page(answer)
        assert len({without_reference(answer.text) for answer in answers}) == 1

    @pytest.mark.parametrize("client_id", [None, ""])
    def test_refuses_a_request_without_a_client(self, acme, client_id):
        answer = acme.get("/oidc/authorize", params=acme.application().request(client_id=client_id))

        is_error_page(answer)

    def test_case_A01_finds_no_client_of_another_tenant(self, acme, rival):
        client = rival.application()

        answer = acme.get("/oidc/authorize", params=client.request())

        is_error_page(answer)

    def test_case_J12_shows_nothing_of_what_was_sent(self, acme):
        mark = "x9y8z7"
        sent = acme.application().request(client_id=f"<script>{mark}", state=f"'{mark}", scope=f'"{mark}')

        answer = acme.get("/oidc/authorize", params=sent | {"redirect_uri": f"javascript:{mark}", mark: mark})

        is_error_page(answer)
        assert mark not in answer.text

    def test_case_A18_a_machine_never_meets_a_person(self, acme):
        client = acme.application("MachineToMachine")

        for uri in (None, "", CALLBACK):
            answer = acme.get("/oidc/authorize", params=client.request(redirect_uri=uri))
            is_error_page(answer)
        assert parked(acme) == 0

    def test_case_A18_an_application_without_the_grant_is_unauthorized(self, acme):
        client = acme.application()
        with acme.active():
            type(client.application).objects.update(grant_types=["refresh_token"])

        answer = acme.browser().authorize(client)

        is_refused(answer, client, "unauthorized_client")


class TestRedirectUri:
    @pytest.mark.parametrize(
        "uri",
        [
            "https://rp.example/callback/",
            "https://rp.example/callback/x",
            "https://rp.example/callback?x=1",
            "https://rp.example/callback?",
            "https://rp.example/callback#f",
            "https://rp.example/callback#",
            "https://rp.example/callback;p",
            "https://rp.example/CALLBACK",
            "https://rp.example/callback%2e",
            "https://rp.example/%63allback",
            "https://rp.example/./callback",
            "https://rp.example/x/../callback",
            "https://rp.example//callback",
            "https://rp.example",
            "https://rp.example/",
            "https://rp.example:443/callback",
            "https://rp.example:/callback",
            "https://rp.example:8443/callback",
            "http://rp.example/callback",
            "HTTPS://rp.example/callback",
            "https://RP.example/callback",
            "https://rp.example./callback",
            "https://u@rp.example/callback",
            "https://u:p@rp.example/callback",
            "https://rp.example.evil.example/callback",
            "https://rp.example@evil.example/callback",
            "https://rp.example%40evil.example/callback",
            "https://evil.example/https://rp.example/callback",
            "https://evil.example\\@rp.example/callback",
            "https://evil.example#@rp.example/callback",
            "https:rp.example/callback",
            "https:/rp.example/callback",
            "https:///rp.example/callback",
            "//rp.example/callback",
            "/callback",
            "callback",
            " https://rp.example/callback",
            "https://rp.example/callback ",
            "https://rp.example/callback\t",
            "https://rp.example/call\tback",
            "https://rp.example/callback\n",
            "https://rp.example/callback\r\nX: y",
            "https://rp.exam\u200dple/callback",
            "https://rp\uff0eexample/callback",
            "https://\uff52p.example/callback",
            "https://rp.example/callback https://evil.example/",
            "https://rp.example/callback,https://evil.example/",
            "javascript:alert(1)//rp.example/callback",
            "data:text/html,https://rp.example/callback",
            "file:///callback",
            "vbscript:x",
            "about:blank",
            "blob:https://rp.example/callback",
            "urn:ietf:wg:oauth:2.0:oob",
            "postmessage",
            "",
            "*",
            "https://*/callback",
        ],
    )
    def test_case_A02_anything_but_the_registered_text_is_an_error_page(self, insider, uri):
        answer = insider.authorize(redirect_uri=uri)

        is_error_page(answer)
        assert parked(insider.client.world) == 0

    @pytest.mark.parametrize(
        "query",
        ["", "?a=1&b=", "?b=&a=1&c", "?b&a=1", "?a=1", "?a=1&b=&a=1", "?a=1&b=&", "?b=&a=1", "?a=%31&b="],
    )
    def test_case_A03_a_query_counts_letter_by_letter(self, acme, query):
        registered = "https://rp.example/callback?a=1&b="
        client = acme.application(redirect_uris=[registered])
        browser, _ = signed_in(acme)
        uri = f"https://rp.example/callback{query}"

        answer = browser.authorize(client, redirect_uri=uri)

        if uri == registered:
            assert "code=" in answer.headers["Location"]
        else:
            is_error_page(answer)

    @pytest.mark.parametrize("registered", [[CALLBACK], [CALLBACK, "https://rp.example/other"]])
    @pytest.mark.parametrize("sent", [None, ""])
    def test_case_A04_it_must_be_sent_even_when_only_one_is_registered(self, acme, registered, sent):
        client = acme.application(redirect_uris=registered)

        answer = acme.browser().authorize(client, redirect_uri=sent)

        is_error_page(answer)

    def test_each_registered_one_works(self, acme):
        client = acme.application(redirect_uris=[CALLBACK, "https://rp.example/other"])
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, redirect_uri="https://rp.example/other")

        assert answer.headers["Location"].startswith("https://rp.example/other?code=")

    @pytest.mark.parametrize(
        ("registered", "uri"),
        [
            ("http://127.0.0.1/cb", "http://127.0.0.1:51234/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1/cb"),
            ("http://127.0.0.1:8080/cb", "http://127.0.0.1:51234/cb"),
            ("http://127.0.0.1:8080/cb", "http://127.0.0.1/cb"),
            ("http://[::1]/cb", "http://[::1]:51234/cb"),
            ("http://127.0.0.1/cb?a=1", "http://127.0.0.1:51234/cb?a=1"),
            ("http://127.0.0.1", "http://127.0.0.1:51234"),
        ],
    )
    def test_case_A05_a_native_application_may_use_any_loopback_port(self, acme, registered, uri):
        client = acme.application("Native", redirect_uris=[registered])
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, redirect_uri=uri)

        assert answer.headers["Location"].startswith(uri)
        code = query_of(answer.headers["Location"])["code"]
        assert client.redeem(code, redirect_uri=uri).status_code == 200

    @pytest.mark.parametrize(
        "uri",
        [
            "http://127.0.0.1.evil.example:5000/cb",
            "http://127.0.0.1.evil.example/cb",
            "http://127.1:5000/cb",
            "http://127.0.0.2:5000/cb",
            "http://0.0.0.0:5000/cb",
            "http://0x7f000001:5000/cb",
            "http://2130706433:5000/cb",
            "http://017700000001:5000/cb",
            "http://localhost:5000/cb",
            "http://localhost/cb",
            "http://[::1]:5000/cb",
            "http://[::ffff:127.0.0.1]:5000/cb",
            "https://127.0.0.1:5000/cb",
            "https://127.0.0.1/cb",
            "http://127.0.0.1:5000/cb/",
            "http://127.0.0.1:5000/cb?a=1",
            "http://127.0.0.1:5000/cb#f",
            "http://127.0.0.1:5000/CB",
            "http://127.0.0.1:5000/./cb",
            "http://127.0.0.1:5000",
            "http://127.0.0.1:5000@evil.example/cb",
            "http://u@127.0.0.1:5000/cb",
            "http://127.0.0.1:/cb",
            "http://127.0.0.1:-1/cb",
            "http://127.0.0.1:+80/cb",
            "http://127.0.0.1:5000:6000/cb",
            "http://127.0.0.1:\uff15\uff10\uff10\uff10/cb",
            "http://127.0.0.1:123456/cb",
            "http://127.0.0.1:abc/cb",
            "http://127.0.0.1:50\t00/cb",
            "HTTP://127.0.0.1:5000/cb",
        ],
    )
    def test_case_A06_but_nothing_else_may_differ(self, acme, uri):
        client = acme.application("Native", redirect_uris=["http://127.0.0.1/cb"])

        answer = acme.browser().authorize(client, redirect_uri=uri)

        is_error_page(answer)

    @pytest.mark.parametrize("registered", ["http://localhost/cb", "http://localhost:8080/cb"])
    def test_case_A06_a_host_name_is_not_a_loopback_address(self, acme, registered):
        """RFC 8252 section 8.3: the name might be somebody else's."""
        client = acme.application("Native", redirect_uris=[registered])

        answer = acme.browser().authorize(client, redirect_uri="http://localhost:51234/cb")

        is_error_page(answer)

    @pytest.mark.parametrize("kind", ["Traditional", "SPA"])
    @pytest.mark.parametrize("uri", ["http://127.0.0.1:51234/cb", "http://127.0.0.1/cb"])
    def test_case_A07_other_types_keep_the_port_they_registered(self, acme, kind, uri):
        client = acme.application(kind, redirect_uris=["http://127.0.0.1:8080/cb", "http://[::1]:8080/cb"])

        answer = acme.browser().authorize(client, redirect_uri=uri)

        is_error_page(answer)

    def test_case_A08_a_private_scheme_is_answered(self, acme):
        client = acme.application("Native", redirect_uris=["com.example.app:/cb"])
        browser, _ = signed_in(acme)

        page = browser.get(browser.authorize(client).headers["Location"])  # decision N9: never without a page
        pressed = form(page).submit(browser, choice="continue")
        answer = browser.get(pressed.headers["Location"])

        assert answer.headers["Location"].startswith("com.example.app:/cb?code=")

    def test_case_A11_prompt_none_does_not_open_a_redirect(self, acme):
        client = acme.application()

        answer = acme.browser().authorize(client, redirect_uri="https://evil.example/", prompt="none")

        is_error_page(answer)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"response_type": "token"},
            {"scope": "email"},
            {"prompt": "none login"},
            {"request_uri": "https://rp.example/request"},
            {"response_mode": "fragment"},
            {"max_age": "soon"},
        ],
    )
    def test_decision_O8_nothing_else_that_is_wrong_opens_one_either(self, acme, wrong):
        client = acme.application()

        answer = acme.browser().authorize(client, redirect_uri="https://evil.example/", **wrong)

        is_error_page(answer)

    def test_a_removed_redirect_uri_stops_working_for_requests_that_wait(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(client), acme)
        with acme.active():
            applications.change(client.application, {"redirect_uris": ["https://rp.example/new"]})

        page = browser.get(f"/sign-in?interaction={interaction}")
        onward = browser.get(f"/oidc/authorize/{interaction}")
        answer = browser.sign_in(user, interaction=interaction)

        assert [page.status_code, onward.status_code, answer.status_code] == [400, 400, 400]
        assert "Location" not in page.headers
        assert "Location" not in onward.headers


class TestRepeatedParameters:
    @pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
    @pytest.mark.parametrize("same", [True, False])
    def test_case_A10_of_the_client_are_an_error_page(self, acme, name, same):
        client = acme.application()
        sent = client.request()
        pairs = [*sent.items(), (name, sent[name] if same else "https://evil.example/")]

        answer = acme.get("/oidc/authorize", params=pairs)
        reverse = acme.get("/oidc/authorize", params=pairs[::-1])

        is_error_page(answer)
        is_error_page(reverse)

    @pytest.mark.parametrize(
        "name",
        [
            "state",
            "response_type",
            "scope",
            "code_challenge",
            "code_challenge_method",
            "nonce",
            "prompt",
            "max_age",
            "response_mode",
            "id_token_hint",
            "login_hint",
            "claims",
            "ui_locales",
        ],
    )
    @pytest.mark.parametrize("method", ["get", "post"])
    def test_case_A10_of_the_rest_are_told_to_the_application(self, insider, name, method):
        values = {"prompt": "login", "max_age": "10", "response_mode": "query"}
        sent = insider.client.request(**{name: insider.client.request().get(name, values.get(name, "{}"))})

        answer = getattr(insider, method)(urlencode([*sent.items(), (name, sent[name])]))

        is_refused(answer, insider.client, "invalid_request")


class TestErrors:
    @pytest.mark.parametrize(
        ("wrong", "error"),
        [
            ({"response_type": None}, "invalid_request"),
            ({"response_type": ""}, "unsupported_response_type"),
            ({"response_type": "token"}, "unsupported_response_type"),
            ({"response_type": "id_token"}, "unsupported_response_type"),
            ({"response_type": "code token"}, "unsupported_response_type"),
            ({"response_type": "code id_token"}, "unsupported_response_type"),
            ({"response_type": "token code"}, "unsupported_response_type"),
            ({"response_type": "code code"}, "unsupported_response_type"),
            ({"response_type": "CODE"}, "unsupported_response_type"),
            ({"response_type": "none"}, "unsupported_response_type"),
            ({"response_type": "code "}, "unsupported_response_type"),
            ({"scope": None}, "invalid_scope"),
            ({"scope": ""}, "invalid_scope"),
            ({"scope": "profile email"}, "invalid_scope"),
            ({"scope": "OpenID"}, "invalid_scope"),
            ({"scope": "openidx xopenid"}, "invalid_scope"),
            ({"scope": "openid,profile"}, "invalid_scope"),
            ({"response_mode": "form_post"}, "invalid_request"),
            ({"response_mode": "web_message"}, "invalid_request"),
            ({"response_mode": "query.jwt"}, "invalid_request"),
            ({"response_mode": "Query"}, "invalid_request"),
            ({"prompt": "none login"}, "invalid_request"),
            ({"prompt": "consent none"}, "invalid_request"),
            ({"prompt": "none foo"}, "invalid_request"),
            ({"max_age": "-1"}, "invalid_request"),
            ({"max_age": "abc"}, "invalid_request"),
            ({"max_age": "1e9"}, "invalid_request"),
            ({"max_age": "1.5"}, "invalid_request"),
            ({"max_age": " 1"}, "invalid_request"),
            ({"max_age": "٣"}, "invalid_request"),
            ({"max_age": "9" * 30}, "invalid_request"),
            ({"request": "e30.e30."}, "request_not_supported"),
            ({"request_uri": "https://rp.example/request.jwt"}, "request_uri_not_supported"),
            ({"claims": "{"}, "invalid_request"),
            ({"code_challenge": "short"}, "invalid_request"),
            ({"code_challenge": ""}, "invalid_request"),
            ({"code_challenge": "a" * 42}, "invalid_request"),
            ({"code_challenge": "a" * 44}, "invalid_request"),
            ({"code_challenge": "a" * 128}, "invalid_request"),
            ({"code_challenge": "a" * 42 + "="}, "invalid_request"),
            ({"code_challenge": "a" * 42 + "+"}, "invalid_request"),
            ({"code_challenge": "a" * 42 + "ä"}, "invalid_request"),
            ({"code_challenge": "a" * 43 + "\n"}, "invalid_request"),
            ({"code_challenge": None}, "invalid_request"),
            ({"code_challenge_method": None}, "invalid_request"),
            ({"code_challenge_method": ""}, "invalid_request"),
            ({"code_challenge_method": "plain"}, "invalid_request"),
            ({"code_challenge_method": "S512"}, "invalid_request"),
            ({"code_challenge_method": "s256"}, "invalid_request"),
            ({"code_challenge_method": "S256 "}, "invalid_request"),
        ],
        ids=named,
    )
    def test_case_A15_decision_O8_are_told_to_the_application_with_state_and_issuer(
        self, insider, wrong, error
    ):
        answer = insider.post(urlencode(insider.client.request(**wrong)))

        is_refused(answer, insider.client, error)
        assert parked(insider.client.world) == 0

    @pytest.mark.parametrize("response_type", ["token", "id_token", "code token", "none", ""])
    @pytest.mark.parametrize("response_mode", [None, "query", "fragment"])
    def test_case_A13_nothing_but_a_code_is_ever_issued(self, insider, response_type, response_mode):
        answer = insider.authorize(response_type=response_type, response_mode=response_mode)

        location = answer.headers["Location"]
        assert (urlsplit(location).fragment != "") == (response_mode == "fragment")
        said = query_of(location)
        assert said.keys() == {"error", "error_description", "state", "iss"}
        assert said["error"] == "unsupported_response_type"

    @pytest.mark.parametrize("wrong", [{"scope": "email"}, {"response_type": "token"}, {"prompt": "none"}])
    def test_case_A14_go_into_the_fragment_when_that_was_asked_for(self, acme, wrong):
        client = acme.application()

        answer = acme.browser().authorize(client, response_mode="fragment", **wrong)

        parts = urlsplit(answer.headers["Location"])
        assert parts.query == ""
        assert query_of(f"?{parts.fragment}").keys() == {"error", "error_description", "state", "iss"}

    def test_do_not_echo_a_state_that_was_not_sent(self, acme):
        client = acme.application()

        answer = acme.browser().authorize(client, state=None, scope="email")

        assert is_sent_back(answer, client).keys() == {"error", "error_description", "iss"}

    def test_case_A23_a_request_uri_is_never_fetched(self, acme):
        client = acme.application()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0.5)
            uri = f"http://127.0.0.1:{listener.getsockname()[1]}/request.jwt"

            answer = acme.browser().authorize(client, request_uri=uri)

            with pytest.raises(TimeoutError):
                listener.accept()
        is_refused(answer, client, "request_uri_not_supported")

    @pytest.mark.parametrize(
        "claims",
        [
            *("[]", "null", "1", "{", "{}x", "NaN", '{"userinfo": NaN}', '{"a": Infinity}', "'", "\ufeff{}"),
            '{"userinfo": {}, "userinfo": {}}',
            '{"id_token": {"name": null, "name": null}}',
            '{"other": {"deep": {"in": 1, "in": 2}}}',
            '{"a": ' + "1" * 5_000 + "}",
            '{"a":' * 2_000 + "1" + "}" * 2_000,
            "[" * 10_000 + "]" * 10_000,
            '{"a":' * 10_000 + "1" + "}" * 10_000,
            '{"userinfo": {"' + "n" * 1_000_000 + '": null}}',
            "[" * 300_000,
        ],
        ids=named,
    )
    def test_case_A24_claims_that_are_absurd_are_refused(self, insider, claims):
        answer = insider.post(urlencode(insider.client.request(claims=claims)))

        is_refused(answer, insider.client, "invalid_request")
        assert parked(insider.client.world) == 0

    @pytest.mark.parametrize("name", ["nonce", "id_token_hint", "login_hint", "prompt"])
    def test_case_A24_so_is_anything_else_of_that_length(self, insider, name):
        answer = insider.post(urlencode(insider.client.request(**{name: "none " * 20_000})))

        is_refused(answer, insider.client, "invalid_request")

    @pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "foo"])
    def test_case_A24_unless_the_refusal_could_not_come_back_with_it(self, insider, name):
        answer = insider.post(urlencode(insider.client.request(**{name: "x" * 100_000})))

        is_error_page(answer)

    def test_case_A17_unknown_scopes_are_dropped_and_the_token_answer_says_so(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        code = is_answered(browser.authorize(client, scope="openid admin profile all profile"), client)

        assert client.redeem(code).json()["scope"] == "openid profile"

    @pytest.mark.parametrize("kind", ["SPA", "Native"])
    def test_decision_O5_case_B08_public_clients_must_send_a_challenge(self, acme, kind):
        client = acme.application(kind)

        answer = acme.browser().authorize(client, code_challenge=None, code_challenge_method=None)

        is_refused(answer, client, "invalid_request")

    @pytest.mark.parametrize("kind", ["SPA", "Native", "Traditional"])
    @pytest.mark.parametrize(
        "wrong",
        [
            *({"code_challenge_method": method} for method in ("plain", "S512", "s256", None)),
            *({"code_challenge": text} for text in ("a" * 42, "a" * 44, "a" * 42 + "=", "a" * 42 + "/", "")),
            {"code_challenge": "a" * 43, "code_challenge_method": "plain"},
        ],
        ids=named,
    )
    def test_decision_O5_case_B09_B10_a_challenge_is_43_characters_of_S256(self, insider, kind, wrong):
        client = insider.client.world.application(kind)

        answer = insider.post(urlencode(client.request(**wrong)))

        is_refused(answer, client, "invalid_request")

    def test_decision_O5_a_traditional_one_may_do_without(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, code_challenge=None, code_challenge_method=None)

        assert client.redeem(is_answered(answer, client), code_verifier=None).status_code == 200

    @pytest.mark.parametrize(
        ("wrong", "named"),
        [
            ({"code_challenge": None, "code_challenge_method": None}, "challenge"),
            ({"code_challenge": None}, "code_challenge"),
            ({"code_challenge_method": "plain"}, "algorithm"),
            ({"code_challenge_method": None}, "algorithm"),
        ],
    )
    def test_what_is_wrong_with_a_challenge_is_said(self, acme, wrong, named):
        """RFC 7636 section 4.4.1."""
        client = acme.application("SPA")

        said = is_sent_back(acme.browser().authorize(client, **wrong), client)

        assert said["error"] == "invalid_request"
        assert named in said["error_description"].lower()


class TestState:
    @pytest.mark.parametrize(
        "state",
        [
            "",
            " ",
            "+",
            "%20",
            "a+b c%2Bd",
            "%0d%0aSet-Cookie: a=b",
            "\r\nSet-Cookie: a=b\r\n\r\n<script>",
            "<script>alert(1)</script>",
            "\"'><img src=x onerror=alert(1)>",
            "a&code=stolen&iss=evil",
            "a=b;c=d#e?f/g",
            "ünïcödé ⛔ \U0001d4b3 \u202e \ufeff \uffff",
            "e\u0301",  # decomposed: not to be normalised
            "{{7*7}}${jndi:ldap://x}%s",
            "\x7f\x01\t",
            "x" * 2000,
            "ä" * 666,
        ],
        ids=named,
    )
    def test_case_A16_comes_back_letter_by_letter(self, insider, state):
        success = insider.authorize(state=state)
        refusal = insider.authorize(state=state, scope="email")

        for answer in (success, refusal):
            assert is_sent_back(answer, insider.client)["state"] == state
            assert answer.headers["Location"].isascii()
            assert re.fullmatch(r"[!-~]+", answer.headers["Location"])
            assert answer.text == ""
            assert "Set-Cookie" not in answer.headers

    def test_case_A16_survives_the_wait_at_the_sign_in_page_unseen(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        state = '"><script>x9y8z7</script>\r\n é+%2B'

        interaction = asks_for("sign-in", browser.authorize(client, state=state), acme)
        page = browser.get(f"/sign-in?interaction={interaction}")
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert "x9y8z7" not in page.text
        assert is_sent_back(browser.get(onward), client)["state"] == state

    @given(state=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200))
    @fuzzing(max_examples=60, deadline=None)
    def test_case_A16_whatever_it_is(self, insider, state):
        answer = insider.authorize(prompt="none", max_age="0", state=state)

        is_refused(answer, insider.client, "login_required", state)

    @given(
        query=st.lists(
            st.tuples(
                st.sampled_from(
                    ["scope", "prompt", "max_age", "claims", "id_token_hint", "response_mode", "state"]
                )
                | st.text(max_size=8),
                st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
            ),
            max_size=6,
        )
    )
    @fuzzing(max_examples=60, deadline=None)
    def test_no_query_makes_it_fail(self, insider, query):
        answer = insider.get(urlencode([*insider.client.request().items(), *query]))

        assert answer.status_code in {303, 400}
        if answer.status_code == 303 and not answer.headers["Location"].startswith("/t/"):
            assert answer.headers["Location"].startswith(CALLBACK)


class TestResponseMode:
    def test_case_A14_fragment_puts_nothing_into_the_query(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, response_mode="fragment")

        parts = urlsplit(answer.headers["Location"])
        assert parts.query == ""
        assert dict(parse_qsl(parts.fragment)).keys() == {"code", "state", "iss"}

    def test_case_A14_query_is_the_default(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        said = browser.authorize(client, response_mode="query")
        unsaid = browser.authorize(client)

        is_answered(said, client)
        is_answered(unsaid, client)

    def test_survives_the_wait_at_the_sign_in_page(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(client, response_mode="fragment"), acme)

        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert "#code=" in browser.get(onward).headers["Location"]


class TestPrompt:
    def test_case_A15_none_without_a_session_is_login_required(self, acme):
        client = acme.application()

        answer = acme.browser().authorize(client, prompt="none")

        is_refused(answer, client, "login_required")
        assert parked(acme) == 0
        assert "Set-Cookie" not in answer.headers

    def test_none_with_a_session_is_answered(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="none")

        is_answered(answer, client)

    def test_case_A29_none_of_a_third_party_without_consent_is_consent_required(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="none")

        is_refused(answer, client, "consent_required")

    @pytest.mark.parametrize(
        "end",
        [
            users.suspend,
            users.remove,
            lambda user: credentials.set_password(user, "another password"),
        ],
        ids=["suspended", "deleted", "new password"],
    )
    def test_case_A19_a_session_does_not_outlive_what_it_stands_on(self, acme, end):
        client = acme.application()
        browser, user = signed_in(acme)
        with acme.active():
            end(user)

        silent = browser.authorize(client, prompt="none")
        page = browser.authorize(client)

        is_refused(silent, client, "login_required")
        asks_for("sign-in", page, acme)

    def test_login_asks_again_and_moves_auth_time(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(hours=1))
            before = Session.objects.get().auth_time

        interaction = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        tokens = client.redeem(is_answered(browser.get(onward), client)).json()

        claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
        assert claims["auth_time"] >= before.timestamp() + 3500

    def test_login_cannot_be_skipped_by_going_on(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        interaction = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)

        answer = browser.get(f"/oidc/authorize/{interaction}")

        assert asks_for("sign-in", answer, acme) == interaction

    def test_login_is_satisfied_once_whatever_the_back_button_shows(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        interaction = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        is_answered(browser.get(onward), client)

        page = browser.get(f"/sign-in?interaction={interaction}")
        again = browser.sign_in(user, interaction=interaction)

        assert "This sign-in has expired" in page.text
        assert (page.status_code, again.status_code) == (400, 400)
        asks_for("sign-in", browser.authorize(client, prompt="login"), acme)

    def test_login_is_not_satisfied_by_signing_in_for_another_request(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        first = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)
        second = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)

        browser.sign_in(user, interaction=second)

        assert asks_for("sign-in", browser.get(f"/oidc/authorize/{first}"), acme) == first
        is_answered(browser.get(f"/oidc/authorize/{second}"), client)

    def test_consent_asks_even_a_first_party(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="consent")

        interaction = asks_for("consent", answer, acme)
        assert asks_for("consent", browser.get(f"/oidc/authorize/{interaction}"), acme) == interaction

    def test_select_account_asks_who_goes_on(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="select_account")

        interaction = asks_for("select-account", answer, acme)
        assert asks_for("select-account", browser.get(f"/oidc/authorize/{interaction}"), acme) == interaction

    def test_select_account_without_a_session_is_a_sign_in_and_asks_no_more(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        interaction = asks_for("sign-in", browser.authorize(client, prompt="select_account"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        is_answered(browser.get(onward), client)

    def test_several_are_asked_one_after_the_other(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        interaction = asks_for("sign-in", browser.authorize(client, prompt="consent login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert asks_for("consent", browser.get(onward), acme) == interaction

    @pytest.mark.parametrize("second", ["login", "consent", "select_account", "none login", "nonesuch"])
    def test_case_A12_none_goes_with_nothing_else(self, insider, second):
        answer = insider.authorize(prompt=f"none {second}")

        is_refused(answer, insider.client, "invalid_request")

    def test_select_account_offers_the_hinted_account_as_another(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        asked = browser.authorize(client, prompt="select_account", login_hint="ada@example.com")

        page = browser.get(asked.headers["Location"])
        other = form(page).submit(browser, choice="other")

        assert user.username in page.text
        assert "ada@example.com" not in page.text
        assert form(browser.get(other.headers["Location"])).fields["identifier"] == "ada@example.com"

    @pytest.mark.parametrize("prompt", ["create", "LOGIN", "nonesuch", "<script>", "login2", "  "])
    def test_case_A12_an_unknown_value_is_ignored(self, insider, prompt):
        answer = insider.authorize(prompt=prompt)

        is_answered(answer, insider.client)


class TestMaxAge:
    @pytest.mark.parametrize(
        ("max_age", "age", "asks"), [("60", 90, True), ("120", 90, False), ("0", 0, True)]
    )
    def test_case_A22_asks_whoever_signed_in_too_long_ago(self, acme, max_age, age, asks):
        client = acme.application()
        browser, _ = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(seconds=age))

        page = browser.authorize(client, max_age=max_age)
        silent = browser.authorize(client, max_age=max_age, prompt="none")

        if asks:
            asks_for("sign-in", page, acme)
            is_refused(silent, client, "login_required")
        else:
            is_answered(page, client)
            is_answered(silent, client)

    def test_case_A22_is_satisfied_by_signing_in_once(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        interaction = asks_for("sign-in", browser.authorize(client, max_age="0"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        is_answered(browser.get(onward), client)

    def test_case_A22_zero_is_a_prompt_for_login(self, acme):
        """OpenID Connect Core 3.1.2.1: max_age=0 is equivalent to prompt=login."""
        client = acme.application()
        browser, user = signed_in(acme)
        first = asks_for("sign-in", browser.authorize(client, max_age="0"), acme)
        second = asks_for("sign-in", browser.authorize(client, max_age="0"), acme)
        with acme.active():  # a clock that runs ahead of this one
            Session.objects.update(auth_time=Session.objects.get().auth_time + timedelta(minutes=1))

        browser.sign_in(user, interaction=second)

        assert asks_for("sign-in", browser.get(f"/oidc/authorize/{first}"), acme) == first
        is_answered(browser.get(f"/oidc/authorize/{second}"), client)

    def test_case_A22_is_satisfied_by_a_sign_in_for_another_request_that_is_recent_enough(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(hours=1))
        first = asks_for("sign-in", browser.authorize(client, max_age="600"), acme)
        second = asks_for("sign-in", browser.authorize(client, max_age="600"), acme)

        browser.sign_in(user, interaction=second)

        for interaction in (first, second):
            tokens = client.redeem(is_answered(browser.get(f"/oidc/authorize/{interaction}"), client)).json()
            claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
            assert claims["iat"] - claims["auth_time"] < 60

    def test_case_A22_tells_when_the_sign_in_was_though_nobody_was_asked(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(seconds=90))

        code = is_answered(browser.authorize(client, max_age="600", prompt="none"), client)

        claims = jwt.decode(client.redeem(code).json()["id_token"], options={"verify_signature": False})
        assert 90 <= claims["iat"] - claims["auth_time"] < 150

    def test_case_A22_a_very_large_one_asks_nobody(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, max_age="999999999")

        is_answered(answer, client)


def foreign_token() -> str:
    return jwt.encode({"sub": "1", "iss": "https://evil.example"}, "k" * 32, headers={"kid": str(uuid4())})


def unsigned(token: str) -> str:
    header = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
    return f"{header}.{token.split('.')[1]}."


class TestIdTokenHint:
    def test_of_the_person_who_is_signed_in_is_answered(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        hint = client.tokens_for(user, browser)["id_token"]

        answer = browser.authorize(client, prompt="none", id_token_hint=hint)

        is_answered(answer, client)

    @pytest.mark.parametrize("kind", ["expired", "of a rotated key", "of another application"])
    def test_says_who_is_meant_however_old_and_whoever_it_was_for(self, acme, kind):
        """Core 3.1.2.1 asks for no audience; the hint only narrows whom an answer may be for."""
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        issued_to = acme.application() if kind == "of another application" else client
        hint = issued_to.tokens_for(user, browser)["id_token"]
        if kind == "expired":
            claims = jwt.decode(hint, options={"verify_signature": False})
            hint = forgery.signed_by(acme, claims | {"iat": 1, "exp": 2}, typ="JWT")
        if kind == "of a rotated key":
            with acme.active():
                keys.rotate()
        stranger, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="none", id_token_hint=hint)
        refusal = stranger.authorize(client, prompt="none", id_token_hint=hint)

        is_answered(answer, client)
        is_refused(refusal, client, "login_required")

    def test_and_a_login_hint_may_both_be_sent(self, acme):
        client, user = acme.application(), acme.user()
        hint = client.tokens_for(user)["id_token"]
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, id_token_hint=hint, login_hint=user.username)

        asks_for("sign-in", answer, acme)
        assert form(browser.get(answer.headers["Location"])).fields["identifier"] == user.username

    def test_case_A20_of_somebody_else_is_login_required(self, acme):
        client = acme.application()
        hint = client.tokens_for(acme.user())["id_token"]
        browser, _ = signed_in(acme)

        silent = browser.authorize(client, prompt="none", id_token_hint=hint)
        page = browser.authorize(client, id_token_hint=hint)

        is_refused(silent, client, "login_required")
        asks_for("sign-in", page, acme)

    def test_case_A20_is_answered_once_the_right_person_signed_in(self, acme):
        client, wanted = acme.application(), acme.user()
        hint = client.tokens_for(wanted)["id_token"]
        browser, _ = signed_in(acme)
        interaction = asks_for("sign-in", browser.authorize(client, id_token_hint=hint), acme)

        onward = browser.sign_in(wanted, interaction=interaction).json()["result"]["redirect_to"]

        is_answered(browser.get(onward), client)

    def test_case_A20_tells_the_application_when_somebody_else_signs_in(self, acme):
        """OpenID Connect Core 3.1.2.1: otherwise, it MUST return an error, such as login_required."""
        client = acme.application()
        hint = client.tokens_for(acme.user())["id_token"]
        browser, other = signed_in(acme)
        interaction = asks_for("sign-in", browser.authorize(client, id_token_hint=hint), acme)

        onward = browser.sign_in(other, interaction=interaction).json()["result"]["redirect_to"]

        is_refused(browser.get(onward), client, "login_required")
        assert parked(acme) == 0

    @pytest.mark.parametrize("kept", ["as today", "by release 0.1.0"])
    def test_case_A20_the_request_that_waits_keeps_whom_the_hint_names_and_not_the_token(self, acme, kept):
        client, wanted = acme.application(), acme.user()
        hint = client.tokens_for(wanted)["id_token"]
        browser, other = signed_in(acme)
        interaction = asks_for("sign-in", browser.authorize(client, id_token_hint=hint), acme)
        with acme.active():
            [waiting] = AuthorizationRequest.objects.filter(pk=interaction)
            assert hint not in waiting.query
            assert str(wanted.pk) in waiting.query
            if kept == "by release 0.1.0":
                waiting.query = re.sub("subject:[0-9a-f-]+", hint, waiting.query)
                assert hint in waiting.query
                waiting.save()

        onward = browser.sign_in(other, interaction=interaction).json()["result"]["redirect_to"]

        is_refused(browser.get(onward), client, "login_required")

    @pytest.mark.parametrize(
        "kind", ["garbage", "foreign", "unsigned", "access token", "long", "of a rival", "dots"]
    )
    def test_case_A21_what_is_no_id_token_of_ours_locks_nobody_out(self, acme, rival, kind):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tokens = client.tokens_for(user, browser)
        hint = {
            "garbage": "garbage",
            "foreign": foreign_token(),
            "unsigned": unsigned(tokens["id_token"]),
            "access token": tokens["access_token"],
            "long": "a" * 6_000,
            "of a rival": rival.application().tokens_for(rival.user())["id_token"],
            "dots": "..",
        }[kind]

        silent = browser.authorize(client, prompt="none", id_token_hint=hint)
        interaction = asks_for("sign-in", browser.authorize(client, id_token_hint=hint), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        is_refused(silent, client, "login_required")
        is_answered(browser.get(onward), client)

    def test_of_a_key_that_was_deleted_locks_nobody_out(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        hint = client.tokens_for(user, browser)["id_token"]
        with acme.active():
            old = SigningKey.objects.get()
            keys.rotate()
            keys.remove(old)

        interaction = asks_for("sign-in", browser.authorize(client, id_token_hint=hint), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        is_answered(browser.get(onward), client)


class TestResume:
    def test_case_A25_what_was_asked_for_stays_what_it_was(self, acme):
        client, user = acme.application(), acme.user()
        other = acme.application(redirect_uris=["https://other.example/"])
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(client, scope="openid"), acme)
        tampered = {
            "client_id": other.client_id,
            "redirect_uri": "https://other.example/",
            "scope": "openid email offline_access",
            "code_challenge": cast.s256("attacker" * 8),
            "state": "evil",
            "redirect_to": "https://evil.example/",
            "next": "//evil.example",
        }

        signed = browser.sign_in(user, interaction=interaction, **tampered).json()["result"]["redirect_to"]
        answer = browser.get(f"{signed}?{urlencode(tampered)}")

        said = is_sent_back(answer, client)
        assert said["state"] == "af0ifjsldkj"
        assert client.redeem(said["code"]).json()["scope"] == "openid"

    def test_case_A26_does_not_go_on_in_another_browser(self, acme):
        client = acme.application()
        interaction = asks_for("sign-in", acme.browser().authorize(client), acme)
        thief, _ = signed_in(acme)
        thief.authorize(client, prompt="login")  # has a browser cookie of its own

        answer = thief.get(f"/oidc/authorize/{interaction}")

        assert answer.status_code == 400
        assert "Location" not in answer.headers
        assert "This sign-in has expired" in answer.text

    def test_case_A26_does_not_go_on_in_another_tenant(self, acme, rival):
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(acme.application()), acme)
        mark = browser.http.cookies[f"gatehouse-browser.{acme.tenant.slug}"]

        answer = rival.get(
            f"/oidc/authorize/{interaction}",
            headers={"Cookie": f"gatehouse-browser.{rival.tenant.slug}={mark}"},
        )

        assert answer.status_code == 400

    def test_answers_once(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(client), acme)
        browser.sign_in(user, interaction=interaction)

        first = browser.get(f"/oidc/authorize/{interaction}")
        second = browser.get(f"/oidc/authorize/{interaction}")

        is_answered(first, client)
        assert second.status_code == 400

    def test_answers_once_however_many_ask_at_the_same_time(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(client), acme)
        browser.sign_in(user, interaction=interaction)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())

        with ThreadPoolExecutor(8) as threads:
            answers = list(
                threads.map(
                    lambda _: acme.get(f"/oidc/authorize/{interaction}", headers={"Cookie": cookies}),
                    range(8),
                )
            )

        assert sorted(answer.status_code for answer in answers) == [303] + [400] * 7
        with acme.active():
            assert AuthorizationCode.objects.count() == 1

    def test_waits_an_hour_and_no_longer(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(client), acme)
        with acme.active():
            waiting = AuthorizationRequest.objects.get()
            assert timedelta(minutes=59) < waiting.expires_at - waiting.created_at < timedelta(minutes=61)
            AuthorizationRequest.objects.update(expires_at=waiting.created_at)

        answers = [
            browser.get(f"/oidc/authorize/{interaction}"),
            browser.get(f"/sign-in?interaction={interaction}"),
            browser.sign_in(user, interaction=interaction),
        ]

        assert [answer.status_code for answer in answers] == [400, 400, 400]

    @pytest.mark.parametrize("request_id", [str(uuid4()), "1", "x", "..", "%00", "A" * 36, "0" * 32])
    def test_an_unknown_one_is_told_to_the_person(self, acme, request_id):
        browser, _ = signed_in(acme)

        answer = browser.get(f"/oidc/authorize/{request_id}")

        assert answer.status_code in {400, 404}
        assert "Location" not in answer.headers

    def test_without_a_session_leads_back_to_the_sign_in_page(self, acme):
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(acme.application()), acme)

        answer = browser.get(f"/oidc/authorize/{interaction}")

        assert asks_for("sign-in", answer, acme) == interaction

    @pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE"])
    def test_takes_get_only(self, acme, method):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = asks_for("sign-in", browser.authorize(client), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        answer = browser.http.request(method, f"{settings.BASE_URL}{onward}")

        assert answer.status_code in {403, 405}
        is_answered(browser.get(onward), client)

    def test_case_B18_tabs_keep_nonce_scope_and_verifier_apart(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        verifiers = [cast.new_secret() for _ in range(4)]
        scopes = ["openid", "openid email", "openid profile", "openid phone"]
        interactions = [
            asks_for(
                "sign-in",
                browser.authorize(
                    client, nonce=f"nonce-{tab}", scope=scopes[tab], code_challenge=cast.s256(verifiers[tab])
                ),
                acme,
            )
            for tab in range(4)
        ]

        browser.sign_in(user, interaction=interactions[2])
        codes = {
            tab: is_answered(browser.get(f"/oidc/authorize/{interactions[tab]}"), client)
            for tab in (3, 0, 2, 1)
        }

        for tab, code in codes.items():
            tokens = client.redeem(code, code_verifier=verifiers[tab]).json()
            assert tokens["scope"] == scopes[tab]
            claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
            assert claims["nonce"] == f"nonce-{tab}"

    def test_case_A30_a_browser_keeps_its_twenty_newest_requests(self, acme):
        client = acme.application()
        browser = acme.browser()

        interactions = [asks_for("sign-in", browser.authorize(client), acme) for _ in range(25)]

        assert parked(acme) == 20
        pages = [browser.get(f"/sign-in?interaction={one}").status_code for one in interactions]
        assert pages == [400] * 5 + [200] * 20

    def test_case_A30_a_hundred_at_once_leave_no_pile(self, acme):
        client = acme.application()
        browser = acme.browser()
        browser.authorize(client)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())

        with ThreadPoolExecutor(16) as threads:
            answers = list(
                threads.map(
                    lambda _: acme.get(
                        "/oidc/authorize", params=client.request(), headers={"Cookie": cookies}
                    ),
                    range(100),
                )
            )

        assert {answer.status_code for answer in answers} == {303}
        assert parked(acme) <= 36  # twenty, and at most what was under way beside the last one

    def test_case_A30_one_browser_does_not_push_out_the_requests_of_another(self, acme):
        client = acme.application()
        quiet, busy = acme.browser(), acme.browser()
        waiting = asks_for("sign-in", quiet.authorize(client), acme)

        for _ in range(25):
            busy.authorize(client)

        assert quiet.get(f"/sign-in?interaction={waiting}").status_code == 200

    def test_case_J17_a_request_is_never_answered_for_whoever_signed_in_elsewhere(self, acme):
        client, alice, bob = acme.application(), acme.user(), acme.user()
        browser = acme.browser()
        first = asks_for("sign-in", browser.authorize(client), acme)
        second = asks_for("sign-in", browser.authorize(client), acme)

        browser.sign_in(alice, interaction=first)
        browser.sign_in(bob, interaction=second)

        assert asks_for("sign-in", browser.get(f"/oidc/authorize/{first}"), acme) == first
        code = is_answered(browser.get(f"/oidc/authorize/{second}"), client)
        claims = jwt.decode(client.redeem(code).json()["id_token"], options={"verify_signature": False})
        assert claims["sub"] == str(bob.pk)


class TestThirdParties:
    @pytest.mark.parametrize(
        "wrong", ["//evil.example", "/\\evil.example", "https:evil.example", "https://evil.example"]
    )
    @pytest.mark.parametrize("name", ["next", "continue", "redirect_to", "return_to", "url"])
    def test_case_J14_no_parameter_of_ours_takes_an_address(self, acme, name, wrong):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        answer = browser.get(f"/oidc/authorize?{urlencode(client.request())}&{name}={quote(wrong)}")
        interaction = asks_for("sign-in", answer, acme)
        signed = browser.post(
            f"/api/interaction/sign-in?{name}={quote(wrong)}",
            json={
                "identifier": user.username,
                "password": cast.PASSWORD,
                "interaction": interaction,
                name: wrong,
            },
        )

        assert signed.json()["result"] == {
            "redirect_to": f"{urlsplit(acme.address).path}/oidc/authorize/{interaction}"
        }
