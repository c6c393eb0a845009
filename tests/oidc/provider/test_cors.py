"""Which pages of other origins may read a response."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from oidc.provider import cors
from oidc.provider.cors import cross_origin
from tests.support import cast

ORIGIN = "https://rp.example"
CREDENTIALS = "Access-Control-Allow-Credentials"
FOR_PREFLIGHTS = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}


@pytest.fixture
def acme(database):
    """A tenant with an application at ``ORIGIN``."""
    world = cast.new_world("Acme")
    world.application(redirect_uris=[f"{ORIGIN}/callback"])
    return world


def answer(acme, method, origin, **options):
    """The answer of a view, or of the preflight request that does not reach it."""
    view = cross_origin("GET, POST", **options)(lambda _: HttpResponse("read", status=201))
    headers = {} if origin is None else {"HTTP_ORIGIN": origin}
    with acme.active():
        return view(RequestFactory().generic(method, "/", **headers))


def allowed(response):
    return {name: value for name, value in response.items() if name.startswith("Access-Control")}


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_registered_origin_reads_the_response(acme, method):
    response = answer(acme, method, ORIGIN)

    assert (response.status_code, response.content, response["Vary"]) == (201, b"read", "Origin")
    assert allowed(response) == {"Access-Control-Allow-Origin": ORIGIN}


def test_a_preflight_request_is_answered_without_the_view(acme):
    response = answer(acme, "OPTIONS", ORIGIN)

    assert (response.status_code, response.content) == (204, b"")
    assert (response["Allow"], response["Vary"]) == ("GET, POST, OPTIONS", "Origin")
    assert allowed(response) == {"Access-Control-Allow-Origin": ORIGIN} | FOR_PREFLIGHTS


def test_a_response_keeps_what_else_it_depends_on(acme):
    view = cross_origin("GET")(lambda _: HttpResponse(headers={"Vary": "Accept-Language"}))

    with acme.active():
        response = view(RequestFactory().get("/"))

    assert response["Vary"] == "Accept-Language, Origin"


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_credentials_are_allowed_where_the_view_says_so(acme, method):
    assert answer(acme, method, ORIGIN, allows_credentials=True)[CREDENTIALS] == "true"
    assert CREDENTIALS not in answer(acme, method, ORIGIN)
    assert CREDENTIALS not in answer(acme, method, "https://x.example", allows_credentials=True)


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
@pytest.mark.parametrize(
    "origin", [None, "null", "", "https://x.example", f"{ORIGIN}é", f"{ORIGIN}\n", "\x7f"]
)
def test_no_other_origin_reads_anything(acme, method, origin):
    assert allowed(answer(acme, method, origin)) == {}


@pytest.mark.parametrize("origin", [f"{ORIGIN}é", f"{ORIGIN}\n"])
def test_an_origin_that_no_browser_sends_is_not_looked_up(acme, monkeypatch, origin):
    monkeypatch.setattr(cors, "Application", None)  # a look-up would fail

    assert allowed(answer(acme, "GET", origin)) == {}
