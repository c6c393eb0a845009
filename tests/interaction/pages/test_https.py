"""Cookies and headers of a service whose own name is https."""

import socket

import httpx
import pytest

from tests.support import server
from tests.support.cast import signed_in
from tests.support.forms import form
from tests.support.pages import title, typed


@pytest.fixture(scope="module")
def behind_tls(address):
    """The same service as a reverse proxy with TLS would reach it: its own name is https."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with server.running(PORT=str(port), BASE_URL="https://id.example.test", WEB_CONCURRENCY="1"):
        yield f"http://127.0.0.1:{port}"


def cookies_of(answer: httpx.Response) -> dict[str, tuple[str, set[str]]]:
    """Return name, value and flags of the cookies that an answer sets."""
    found = {}
    for line in answer.headers.get_list("Set-Cookie"):
        pair, *flags = line.split("; ")
        name, _, value = pair.partition("=")
        found[name] = (value, set(flags))
    return found


class TestHttps:
    def test_case_J05_cookies_are_for_this_host_and_https_alone(self, acme, behind_tls):
        client, user = acme.application(), acme.user()
        slug = acme.tenant.slug

        parked = httpx.get(f"{behind_tls}/t/{slug}/oidc/authorize", params=client.request())
        page = httpx.get(f"{behind_tls}/t/{slug}/sign-in")
        signed = httpx.post(
            f"{behind_tls}/t/{slug}/api/interaction/sign-in",
            json=typed(user),
            headers={"Origin": "https://id.example.test"},
        )

        cookies = cookies_of(parked) | cookies_of(page) | cookies_of(signed)
        assert cookies.keys() == {
            f"__Host-gatehouse-browser.{slug}",
            "__Host-gatehouse-csrf",
            f"__Host-gatehouse-known.{slug}",
            f"__Host-gatehouse-proofs.{slug}",
            f"__Host-gatehouse-session.{slug}",
        }
        for value, flags in cookies.values():
            assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= flags
            assert not any(flag.lower().startswith("domain") for flag in flags)
            assert len(value) >= 32

    def test_case_J05_signing_out_takes_them_back(self, acme, behind_tls):
        slug, name = acme.tenant.slug, f"__Host-gatehouse-session.{acme.tenant.slug}"
        signed = httpx.post(f"{behind_tls}/t/{slug}/api/interaction/sign-in", json=typed(acme.user()))
        session = f"{name}={cookies_of(signed)[name][0]}"
        page = httpx.get(f"{behind_tls}/t/{slug}/account", headers={"Cookie": session})
        token = cookies_of(page)["__Host-gatehouse-csrf"][0]

        answer = httpx.post(
            f"{behind_tls}/t/{slug}/oidc/end-session",
            data=form(page).fields,
            headers={
                "Cookie": f"{session}; __Host-gatehouse-csrf={token}",
                "Origin": "https://id.example.test",
            },
        )

        assert title(answer) == "You are signed out"
        value, flags = cookies_of(answer)[name]
        assert value in {"", '""'}
        assert {"Max-Age=0", "Secure", "Path=/"} <= flags

    def test_a_cookie_without_the_prefix_counts_for_nothing(self, acme, behind_tls):
        browser, _ = signed_in(acme)
        name = f"gatehouse-session.{acme.tenant.slug}"

        answer = httpx.get(
            f"{behind_tls}/t/{acme.tenant.slug}/account",
            headers={"Cookie": f"{name}={browser.http.cookies[name]}"},
        )

        assert answer.status_code == 303

    def test_forms_are_taken_from_the_public_origin_only(self, acme, behind_tls):
        user, address = acme.user(), f"{behind_tls}/t/{acme.tenant.slug}/sign-in"
        page = httpx.get(address)
        cookie = f"__Host-gatehouse-csrf={cookies_of(page)['__Host-gatehouse-csrf'][0]}"

        answers = {
            origin: httpx.post(
                address,
                data=form(page).fields | typed(user),
                headers={"Cookie": cookie, "Host": "id.example.test", "Origin": origin},
            ).status_code
            for origin in (
                "https://id.example.test",
                "https://evil.example.test",
                "https://id.example.test:444",
                "null",
            )
        }

        assert answers == {
            "https://id.example.test": 303,
            "https://evil.example.test": 403,
            "https://id.example.test:444": 403,
            "null": 403,
        }

    def test_decision_T1_issuer_and_addresses_are_the_configured_ones(self, acme, behind_tls):
        document = httpx.get(f"{behind_tls}/t/{acme.tenant.slug}/.well-known/openid-configuration").json()

        assert document["issuer"] == f"https://id.example.test/t/{acme.tenant.slug}"
        assert document["authorization_endpoint"] == f"{document['issuer']}/oidc/authorize"

    def test_case_J06_browsers_are_told_to_stay_with_https(self, behind_tls):
        answer = httpx.get(f"{behind_tls}/sign-in")

        assert answer.headers["Strict-Transport-Security"] == "max-age=63072000; includeSubDomains"
