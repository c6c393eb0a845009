"""What signing out ends, and the page that asks."""

import re

import pytest

from audit.models import Entry
from identity.users import services as users
from tests.support import cast, independent
from tests.support.cast import Browser
from tests.support.end_session import (
    HOME,
    PATH,
    STATE,
    is_asked,
    is_signed_in,
    is_signed_out_page,
    question,
    sent_to,
    visit,
)


class TestWhatEnds:
    def test_case_E13_the_old_cookie_is_worth_nothing(self, acme, here):
        stolen = dict(here.browser.http.cookies.items())
        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)
        thief = acme.browser()
        thief.http.cookies.update(stolen)

        assert not is_signed_in(thief, here.client)
        assert thief.get("/account").status_code == 303

    def test_decision_O11_the_cookies_end(self, here):
        names = [name for name in here.browser.http.cookies if "csrf" not in name]
        assert len(names) == 4

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        gone = [line for line in answer.headers.get_list("Set-Cookie") if "Max-Age=0" in line]
        # Which people a browser signed in before outlives their sessions.
        assert {line.partition("=")[0] for line in gone} == {name for name in names if "known" not in name}
        for line in gone:
            assert "HttpOnly" in line
            assert "SameSite=Lax" in line
            assert "Path=/" in line

    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_attack_AV33_a_request_without_cookies_deletes_none(self, acme, here, method):
        # As browsers without Sec-Fetch-Site send a form of another site: without SameSite=Lax cookies.
        answer = acme.get(PATH) if method == "GET" else acme.post(PATH, data={"ui_locales": "en"})

        assert is_signed_out_page(answer)
        assert "Set-Cookie" not in answer.headers
        assert is_signed_in(here.browser, here.client)

    def test_case_E13_the_account_page_is_not_kept_for_the_back_button(self, here):
        assert here.browser.get("/account").headers["Cache-Control"] == "no-store"

    def test_decision_O11_access_tokens_without_a_family_end(self, acme):
        here = visit(acme, scope="openid profile")
        assert "refresh_token" not in here.tokens
        assert here.client.userinfo(here.tokens["access_token"]).status_code == 200

        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert here.client.userinfo(here.tokens["access_token"]).status_code == 401

    def test_case_D18_families_live_on_with_their_access_tokens(self, here):
        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert not here.is_signed_in()
        assert here.client.userinfo(here.tokens["access_token"]).status_code == 200
        refreshed = here.client.refresh(here.tokens["refresh_token"])
        assert refreshed.status_code == 200
        assert here.client.userinfo(refreshed.json()["access_token"]).status_code == 200

    def test_decision_O11_other_sessions_stay(self, acme, here):
        elsewhere, somebody = visit(acme, here.client, here.user), visit(acme, here.client)

        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert not here.is_signed_in()
        assert elsewhere.is_signed_in()
        assert somebody.is_signed_in()

    def test_case_J16_whoever_signs_in_next_is_a_stranger_to_the_old_hint(self, acme, here):
        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)
        successor = acme.user()
        here.client.tokens_for(successor, here.browser)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert is_asked(answer)
        assert here.is_signed_in()

    def test_codes_that_were_not_redeemed_end(self, here):
        code = cast.query_of(here.browser.authorize(here.client).headers["Location"])["code"]

        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert here.client.redeem(code).json()["error"] == "invalid_grant"

    def test_case_G07_sessions_of_other_tenants_stay(self, here, rival):
        there = rival.application()
        rival_user = rival.user()
        abroad = Browser(rival, here.browser.http)
        there.tokens_for(rival_user, abroad)

        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert not here.is_signed_in()
        assert is_signed_in(abroad, there)

    def test_decision_A1_is_written_down_once(self, here):
        for _ in range(2):
            here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        entries = Entry.objects.filter(tenant_id=here.world.tenant.pk, key="Session.End")
        sid = independent.claims_of(here.hint)["sid"]
        assert [(entry.user_id, entry.payload) for entry in entries] == [
            (str(here.user.pk), {"session_id": sid})
        ]

    def test_a_suspended_person_has_no_session_to_end(self, here):
        with here.world.active():
            users.suspend(here.user)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME, state=STATE)

        assert sent_to(answer) == (HOME, {"state": STATE})


class TestThePage:
    def test_decision_O11_takes_hints_and_whatever_else(self, here):
        answer = here.end(
            id_token_hint=here.hint,
            logout_hint="<b>ada</b>",
            ui_locales="xx",
            foo="1",
            post_logout_redirect_uri=HOME,
        )

        assert sent_to(answer) == (HOME, {})

    def test_decision_O11_speaks_the_first_language_that_we_know(self, here):
        asked = here.end(ui_locales="tlh de-AT en")
        fields = question(asked)

        done = here.browser.post(PATH, data=fields)

        assert 'lang="de"' in asked.text
        assert 'lang="de"' in done.text
        assert not here.is_signed_in()

    def test_decision_O11_speaks_it_to_a_post_as_well(self, acme):
        page = acme.post(PATH, data={"ui_locales": "ja"})

        assert 'lang="ja"' in page.text
        assert page.headers["Content-Language"] == "ja"

    def test_case_J06_J07_allows_no_frame_no_inline_script_and_no_referrer_abroad(self, here):
        answer = here.end()

        policy = answer.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] in {"no-referrer", "same-origin"}

    def test_every_address_in_it_is_in_the_tenant(self, here):
        answer = here.end()

        actions = re.findall(r'(?:action|href)="(/[^"]*)"', answer.text)
        prefix = f"/t/{here.world.tenant.slug}/"
        assert actions
        assert all(address.startswith((prefix, "/static/")) for address in actions)

    def test_a_redirect_after_the_button_is_allowed_by_the_policy_of_the_page(self, acme):
        client = acme.application(
            "Native",
            redirect_uris=["com.example.app:/callback"],
            post_logout_redirect_uris=["com.example.app:/bye", "http://127.0.0.1:5000/bye"],
        )
        here = visit(acme, client)

        for target, source in [
            ("com.example.app:/bye", "com.example.app:"),
            ("http://127.0.0.1:5000/bye", "http://127.0.0.1:*"),
        ]:
            asked = here.end(client_id=client.client_id, post_logout_redirect_uri=target)

            assert is_asked(asked)
            policy = dict(part.split(" ", 1) for part in asked.headers["Content-Security-Policy"].split("; "))
            assert source in policy["form-action"].split()
