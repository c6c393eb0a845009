"""What went wrong in systems like this one because of what somebody sent, tried here from outside."""

import base64
from typing import Any

import pytest
from django.apps import apps

from tests.support import codes, management
from tests.support.cast import Browser, World, query_of
from tests.support.forgery import decode, encode
from tests.support.forms import form, forms
from tests.support.independent import bearer

UNPARSEABLE = (
    "http://[:::::",
    "https://[::1",
    "https://]/",
    "https://[::1]:x/",
    "https://rp.example:99999999/",
)
FILTERS = ("*", "*)(uid=*", "*)(|(uid=*", "admin)(&)", "\\2a")


class TestAddress:
    """CVE-2022-36087: an address in broken brackets ended the request in an error."""

    @pytest.mark.parametrize("uri", UNPARSEABLE)
    def test_CVE_2022_36087_case_A02_that_cannot_be_parsed_is_another_one(self, acme, uri):
        client, browser = acme.application(), acme.browser()

        asked = browser.authorize(client, redirect_uri=uri)
        left = browser.get(
            "/oidc/end-session",
            params={"client_id": client.client_id, "post_logout_redirect_uri": uri},
        )
        registered = management.superuser(acme).post(
            "/applications",
            name="Broken",
            type="Traditional",
            oidc_client_metadata={"redirect_uris": [uri]},
        )

        assert asked.status_code == 400
        assert left.status_code < 500
        assert not {"Location"} & (asked.headers.keys() | left.headers.keys())
        assert "redirect_uris" in management.refusal_of(registered, 400)


class TestBit:
    """CVE-2026-1529: a token counted whose payload was not the one that was signed."""

    def flipped(self, token: str, part: int, byte: int) -> str:
        parts = token.split(".")
        raw = bytearray(decode(parts[part]))
        raw[byte % len(raw)] ^= 1
        parts[part] = encode(bytes(raw))
        return ".".join(parts)

    @pytest.mark.parametrize("byte", [2, 20, -2])
    def test_CVE_2026_1529_case_F22_that_changed_makes_a_token_worthless(self, acme, byte):
        client, browser = acme.application(), acme.browser()
        tokens = client.tokens_for(acme.user(), browser)
        admin = management.superuser(acme)

        access = self.flipped(tokens["access_token"], 1, byte)
        hint = self.flipped(tokens["id_token"], 1, byte)
        management_token = self.flipped(str(admin.token), 1, byte)

        assert client.userinfo(access).status_code == 401
        assert acme.get("/api/session/context", headers=bearer(access)).status_code == 401
        assert acme.get("/api/v1/users", headers=bearer(management_token)).status_code == 401
        left = browser.get(
            "/oidc/end-session",
            params={"id_token_hint": hint, "post_logout_redirect_uri": client.application.redirect_uris[0]},
        )
        assert "Location" not in left.headers
        assert "code" in query_of(browser.authorize(client, prompt="none").headers["Location"])


@pytest.mark.parametrize("identifier", FILTERS)
def test_CVE_2026_44671_case_I01_a_filter_for_an_identifier_finds_nobody(acme, identifier):
    acme.user("admin")

    answers = [
        acme.browser().post("/api/interaction/sign-in", json={"identifier": typed, "password": "x" * 12})
        for typed in (identifier, "nobody")
    ]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json() == answers[1].json()


class TestStored:
    """CVE-2020-15105: a password lay in the session until its second step was done."""

    def everything_of(self, world: World) -> str:
        """Return every row that belongs to a tenant, as text."""
        with world.active():
            return "\n".join(
                str(list(model._default_manager.filter(tenant_id=world.tenant.pk).values()))
                for model in apps.get_models()
                if "tenant_id" in {field.attname for field in model._meta.concrete_fields}
            )

    def test_CVE_2020_15105_case_K07_no_password_that_was_typed_is(self, acme):
        world = codes.reachable(acme)
        codes.experience(world, sign_up={"identifiers": ["username", "email"], "password": True})
        browser, mail, typed = world.browser(), codes.new_email(), "correct horse 4 battery"
        asked = form(browser.get("/register")).submit(browser, identifier=mail)
        proven = forms(asked)[0].submit(browser, code=codes.message_to(mail)["code"])
        details = form(browser.get(proven.headers["Location"]))

        refused = details.submit(browser, username="not a username", password=typed)
        taken = details.submit(browser, username="ada", password=typed)
        wrong = world.browser().post(
            "/api/interaction/sign-in", json={"identifier": "ada", "password": f"{typed}?"}
        )

        assert [answer.status_code for answer in (refused, taken, wrong)] == [400, 303, 401]
        assert mail in self.everything_of(world)
        assert typed not in self.everything_of(world)


def test_CVE_2024_4540_case_J05_no_cookie_repeats_what_was_asked_for(acme):
    def said_by(browser: Browser) -> str:
        """Return the cookies, as they are and as what they might encode."""
        found: list[Any] = [cookie.value or "" for cookie in browser.http.cookies.jar]
        decoded = [base64.urlsafe_b64decode(part + "==") for text in found for part in text.split(".")]
        return " ".join(found) + " ".join(raw.decode("latin-1") for raw in decoded)

    client, user, browser = acme.application(), acme.user(), acme.browser()
    asked = {"state": "a-private-state", "nonce": "a-private-nonce", "login_hint": "ada@private.example"}
    before = browser.authorize(client, **asked)
    parked = said_by(browser)
    browser.get(before.headers["Location"])
    browser.code_for(client, user, **asked)

    for cookies in (parked, said_by(browser)):
        assert cookies.strip()
        for secret in (*asked.values(), client.request()["code_challenge"], client.client_id):
            assert secret not in cookies
