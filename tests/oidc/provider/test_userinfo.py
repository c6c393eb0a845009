"""Where userinfo reads the access token, and in which form it answers."""

from types import SimpleNamespace

import pytest
from django.test import RequestFactory

from oidc.provider.parameters import FORM_TYPE
from oidc.provider.views import userinfo as view

FORM = {"data": "access_token=body", "content_type": FORM_TYPE}
HEADER = {"HTTP_AUTHORIZATION": "Bearer header"}


@pytest.fixture
def read(monkeypatch):
    """The tokens that were read. Each is a good one."""
    tokens: list[str] = []

    def read(token):
        tokens.append(token)
        return SimpleNamespace(claims={"client_id": "x", "scope": "openid"})

    def find_principal(parsed):
        yield from ()
        return SimpleNamespace(userinfo_alg="ES256" if tokens[-1] == "signed" else "", claims=parsed.claims)

    def build(principal):
        yield from ()
        return {"sub": "somebody"}

    def sign(body, *, client_id, algorithm):
        yield from ()
        return f"{body['sub']} {client_id} {algorithm}"

    monkeypatch.setattr("oidc.provider.userinfo_surface.bearer.read", read)
    monkeypatch.setattr("oidc.provider.userinfo_surface.bearer.find_principal", find_principal)
    monkeypatch.setattr("oidc.provider.userinfo_surface.userinfo.build", build)
    monkeypatch.setattr("oidc.provider.userinfo_surface.tokens.build_userinfo_token", sign)
    return tokens


def ask(acme, method="GET", **request):
    with acme.active():
        return view.userinfo(RequestFactory().generic(method, "/", **request))


@pytest.mark.parametrize(
    ("method", "request_", "token"),
    [
        ("GET", HEADER, "header"),
        ("HEAD", HEADER, "header"),
        ("POST", HEADER, "header"),
        ("POST", FORM, "body"),
        ("GET", {"HTTP_AUTHORIZATION": "bEARER  header "}, "header"),
        ("GET", FORM | HEADER, "header"),  # a GET has no form
        ("POST", FORM | HEADER | {"content_type": "text/plain"}, "header"),
        ("POST", HEADER | {"data": "access_token=", "content_type": FORM_TYPE}, "header"),
    ],
)
def test_reads_the_token_of_the_header_or_the_form(acme, read, method, request_, token):
    assert ask(acme, method, **request_).status_code == 200
    assert read == [token]


@pytest.mark.parametrize(
    ("method", "request_", "status"),
    [
        ("GET", {}, 401),
        ("GET", FORM, 401),
        ("POST", FORM | {"content_type": "text/plain"}, 401),
        ("GET", {"HTTP_AUTHORIZATION": "Basic header"}, 401),
        ("GET", {"HTTP_AUTHORIZATION": "Bearer "}, 401),
        ("POST", FORM | {"HTTP_AUTHORIZATION": "Basic header"}, 401),
        ("POST", FORM | HEADER, 400),
        ("PUT", HEADER, 405),
        ("DELETE", HEADER, 405),
    ],
)
def test_refuses_without_reading_a_token(acme, read, method, request_, status):
    response = ask(acme, method, **request_)

    assert response.status_code == status
    assert read == []
    if status == 405:
        assert response["Allow"] == "GET, POST, OPTIONS"


def test_is_json_or_the_signed_token_that_the_application_asked_for(acme, read):
    plain = ask(acme, **HEADER)
    signed = ask(acme, HTTP_AUTHORIZATION="Bearer signed")

    assert (plain["Content-Type"], plain.content) == ("application/json", b'{"sub":"somebody"}')
    assert (signed["Content-Type"], signed.content) == ("application/jwt", b"somebody x ES256")
    for response in (plain, signed):
        assert (response["Cache-Control"], response["Pragma"]) == ("no-store", "no-cache")
