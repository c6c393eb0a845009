"""Rules that all pages of the account share, and the overview that leads to them."""

import re
from datetime import timedelta

import pytest

from identity.users.models import User
from tests.support import codes
from tests.support.account import NEW, age_sign_in, allow, change, entries, is_signed_in, send, stored
from tests.support.cast import PASSWORD, signed_in
from tests.support.pages import title

PAGES = ["profile", "password", "language", "activity", "browsers", "applications", "data"]
OPTIONAL = ["username", "email", "phone", "delete"]


def everything(page: str, user: User) -> dict[str, str]:
    """What the forms that ask for a password take besides it."""
    to = codes.new_phone() if page == "phone" else codes.new_email()
    return {"username": "another", "typed": user.username, "new_password": NEW, "identifier": to}


class TestEveryPage:
    @pytest.mark.parametrize("page", PAGES + OPTIONAL)
    def test_leads_strangers_to_the_sign_in_page(self, acme, rival, page):
        allow(acme, username_change=True, deletion=True)
        stranger, _ = signed_in(rival)
        stranger.world = acme

        for answer in (acme.get(f"/account/{page}"), stranger.get(f"/account/{page}")):
            assert answer.status_code == 303
            assert answer.headers["Location"] == f"/t/{acme.tenant.slug}/sign-in"

    @pytest.mark.parametrize("page", PAGES + OPTIONAL)
    def test_case_J06_is_never_kept_never_framed_and_loads_from_here_alone(self, acme, page):
        allow(acme, username_change=True, deletion=True)
        browser, _ = signed_in(acme)

        shown = browser.get(f"/account/{page}")

        assert shown.status_code == 200
        assert shown.headers["Cache-Control"] == "no-store"
        assert "frame-ancestors 'none'" in shown.headers["Content-Security-Policy"]
        assert len(shown.content) < 50 * 1024
        assert "style=" not in shown.text
        assert re.findall(r"<script[^>]*>(.*?)</script>", shown.text) == [""]
        assert shown.text.count("<h1>") == 1

    @pytest.mark.parametrize("page", PAGES + OPTIONAL)
    def test_case_J04_takes_no_form_without_its_token(self, acme, page):
        allow(acme, username_change=True, deletion=True)
        browser, user = signed_in(acme)
        sent = {"name": "Mallory", "username": "mallory", "typed": user.username, "end": "others"}

        answer = browser.post(
            f"/account/{page}", data=sent | {"password": PASSWORD, "new_password": NEW, "revoke": "x"}
        )

        assert answer.status_code == 403
        assert stored(acme, user).name == ""
        assert stored(acme, user).username == user.username

    @pytest.mark.parametrize("page", PAGES + OPTIONAL)
    def test_refuses_other_methods(self, acme, page):
        browser, _ = signed_in(acme)

        answer = browser.http.delete(f"{acme.address}/account/{page}")

        assert answer.status_code in {403, 405}

    @pytest.mark.parametrize("page", ["password", "data", "username", "email", "phone", "delete"])
    def test_asks_for_the_password_and_does_nothing_without_the_right_one(self, acme, page):
        allow(acme, username_change=True, deletion=True)
        browser, user = signed_in(acme)
        typed = everything(page, user)

        for password, status in ((None, 400), ("", 400), ("x" * 257, 400), ("a\0b", 400), ("wrong", 401)):
            answer = send(browser, page, password=password, **typed)

            assert answer.status_code == status
            assert "<title>Error: " in answer.text
            assert re.search(r'id="id_password"[^>]*aria-invalid="true"', answer.text)
            assert "autofocus aria-invalid" in re.sub(r"\s+", " ", answer.text)
            assert "wrong" not in answer.text
            assert NEW not in answer.text
        assert stored(acme, user).password == user.password
        assert stored(acme, user).username == user.username
        assert is_signed_in(browser)
        failed = entries(acme, "Password.Verify")[0]
        assert (failed.user_id, failed.payload["result"]) == (str(user.pk), "failed")
        assert failed.payload["error"] == "invalid_credentials"

    @pytest.mark.parametrize("page", ["password", "data", "username", "email", "phone", "delete"])
    @pytest.mark.parametrize(("minutes", "enough"), [(4.9, True), (5.1, False)])
    def test_asks_people_without_a_password_for_a_recent_sign_in(self, acme, page, minutes, enough):
        allow(acme, username_change=True, deletion=True)
        browser, user = signed_in(acme)
        change(acme, user, password="")
        age_sign_in(acme, timedelta(minutes=minutes))
        typed = everything(page, user)

        shown = browser.get(f"/account/{page}")
        answer = send(browser, page, **typed)

        assert ("Sign in again" in shown.text) is not enough
        assert 'name="password"' not in shown.text
        assert (answer.status_code in {200, 303}) is enough
        assert answer.status_code in {200, 303, 403}
        refused = entries(acme, "Password.Verify")[0].payload.get("error") == "sign_in_again"
        assert refused is not enough
        with acme.active():
            untouched = User.objects.filter(pk=user.pk, username=user.username, password="").exists()
        assert untouched is (not enough or page in {"data", "email", "phone"})


class TestOverview:
    def test_shows_who_it_is_and_leads_to_every_page(self, acme):
        browser, _ = signed_in(acme, username="alice", name="Alice Example", email="alice@example.com")

        page = browser.get("/account")

        assert title(page) == "Your account"
        for text in ("Alice Example", "alice", "alice@example.com", "1 device", "None"):
            assert text in page.text
        led = set(re.findall(r'href="[^"]*/account/([a-z]+)"', page.text))
        assert led == set(PAGES)

    def test_leads_to_what_the_tenant_allows(self, acme):
        allow(acme, username_change=True, deletion=True)
        browser, _ = signed_in(acme)

        led = set(re.findall(r'href="[^"]*/account/([a-z]+)"', browser.get("/account").text))

        assert led == set(PAGES + OPTIONAL)
