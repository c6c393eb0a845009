"""RP-initiated logout that has to ask, and where nobody is signed in."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db.models.functions import Now

from identity.sessions.models import Session
from tests.support.end_session import (
    HOME,
    PATH,
    STATE,
    is_asked,
    is_refused,
    is_signed_out_page,
    question,
    sent_to,
    visit,
)


class TestWithoutAHint:
    def test_case_E07_asks_and_does_nothing_yet(self, here):
        answer = here.end()

        assert is_asked(answer)
        assert here.user.username in answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        assert here.is_signed_in()

    def test_case_E07_the_button_signs_out(self, here):
        fields = question(here.end())

        answer = here.browser.post(PATH, data=fields)

        assert is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_conformance_only_a_state_is_a_page_and_no_redirect(self, here):
        fields = question(here.end(state=STATE))

        answer = here.browser.post(PATH, data=fields)

        assert is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_conformance_a_target_alone_asks_and_then_redirects_nowhere(self, here):
        fields = question(here.end(post_logout_redirect_uri=HOME, state=STATE))

        answer = here.browser.post(PATH, data=fields)

        assert is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_decision_O11_with_a_client_id_the_button_leads_back(self, here):
        asked = here.end(client_id=here.client.client_id, post_logout_redirect_uri=HOME, state=STATE)
        fields = question(asked)

        answer = here.browser.post(PATH, data=fields)

        assert here.client.application.name in asked.text
        assert sent_to(answer) == (HOME, {"state": STATE})
        assert not here.is_signed_in()

    def test_decision_O11_with_a_client_id_alone_there_is_a_page(self, here):
        fields = question(here.end(client_id=here.client.client_id))

        assert is_signed_out_page(here.browser.post(PATH, data=fields))
        assert not here.is_signed_in()

    @pytest.mark.parametrize(
        "spoilt",
        [
            {"csrfmiddlewaretoken": None},
            {"csrfmiddlewaretoken": "x" * 64},
            {"csrfmiddlewaretoken": ""},
            {"confirm": None},
            {"confirm": "no"},
        ],
        ids=["no token", "wrong token", "empty token", "no confirmation", "another word"],
    )
    def test_case_E07_without_the_token_of_the_form_nothing_happens(self, here, spoilt):
        fields = question(here.end()) | spoilt

        answer = here.browser.post(PATH, data={name: value for name, value in fields.items() if value})

        assert answer.status_code in {200, 403}
        assert "You are signed out" not in answer.text
        assert here.is_signed_in()

    def test_case_E07_the_token_of_another_browser_does_not_do(self, acme, here):
        stranger = visit(acme)
        theirs = question(stranger.end())

        answer = here.browser.post(PATH, data=theirs)

        assert "You are signed out" not in answer.text
        assert here.is_signed_in()

    def test_case_E07_a_form_of_another_origin_does_not_do(self, here):
        fields = question(here.end())

        answer = here.browser.post(PATH, data=fields, headers={"Origin": "https://evil.example"})

        assert "You are signed out" not in answer.text
        assert here.is_signed_in()

    def test_a_form_of_another_origin_does_not_say_that_the_user_is_signed_out(self, here):
        form = {"confirm": "yes", "ui_locales": "en"}

        answer = here.world.post(PATH, data=form, headers={"Origin": "https://evil.example"})

        assert answer.status_code == 303
        assert is_asked(here.browser.get(answer.headers["Location"]))

    def test_a_confirmation_at_another_address_than_base_url_signs_out(self, here):
        host = f"localhost:{urlsplit(here.world.address).port}"
        headers = {"Host": host, "Origin": f"http://{host}"}
        fields = question(here.end())

        answer = here.browser.post(PATH, data=fields, headers=headers)

        assert is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_case_E07_a_confirmation_by_get_does_not_do(self, here):
        fields = question(here.end())

        answer = here.end(**fields)

        assert is_asked(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"])
    def test_case_L12_no_other_method_signs_out(self, here, method):
        answer = here.browser.http.request(
            method, f"{here.world.address}{PATH}", params={"id_token_hint": here.hint}
        )

        assert answer.status_code in {204, 403, 405}
        assert here.is_signed_in()

    def test_the_page_shows_nothing_a_client_sent_unescaped(self, here):
        nasty = '"><script>alert(1)</script>'

        answer = here.end(client_id=here.client.client_id, state=nasty, post_logout_redirect_uri=HOME)

        assert "<script>alert" not in answer.text


class TestWithoutASession:
    """Nobody is signed in: nothing to lose."""

    def test_decision_O11_redirects_at_once_to_a_uri_of_the_client(self, acme):
        client = acme.application(post_logout_redirect_uris=[HOME])

        answer = acme.browser().get(
            PATH,
            params={"client_id": client.client_id, "post_logout_redirect_uri": HOME, "state": STATE},
        )

        assert sent_to(answer) == (HOME, {"state": STATE})

    def test_decision_O11_without_a_client_any_application_of_the_tenant_will_do(self, acme):
        acme.application(post_logout_redirect_uris=["https://rp.example/elsewhere"])
        acme.application(post_logout_redirect_uris=[HOME])

        answer = acme.browser().get(PATH, params={"post_logout_redirect_uri": HOME, "state": STATE})

        assert sent_to(answer) == (HOME, {"state": STATE})

    def test_decision_O11_the_session_may_have_ended_long_ago(self, here):
        with here.world.active():
            Session.objects.update(expires_at=Now() - timedelta(days=30))

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME, state=STATE)

        assert sent_to(answer) == (HOME, {"state": STATE})

    def test_decision_T2_not_to_an_application_of_another_tenant(self, acme, rival):
        theirs = rival.application(post_logout_redirect_uris=[HOME])

        for parameters in ({}, {"client_id": theirs.client_id}):
            answer = acme.browser().get(PATH, params=parameters | {"post_logout_redirect_uri": HOME})

            assert is_refused(answer)

    def test_decision_O11_a_uri_of_another_client_is_not_good_for_this_one(self, acme):
        acme.application(post_logout_redirect_uris=[HOME])
        client = acme.application(post_logout_redirect_uris=["https://rp.example/elsewhere"])

        answer = acme.browser().get(
            PATH, params={"client_id": client.client_id, "post_logout_redirect_uri": HOME}
        )

        assert is_refused(answer)

    def test_an_unknown_client_is_good_for_nothing(self, acme):
        acme.application(post_logout_redirect_uris=[HOME])

        for client_id in ("unknown", "0" * 24, "\u00e9", "'"):
            answer = acme.browser().get(
                PATH, params={"client_id": client_id, "post_logout_redirect_uri": HOME}
            )

            assert is_refused(answer)

    def test_says_that_nobody_is_signed_in(self, acme):
        assert is_signed_out_page(acme.browser().get(PATH))
