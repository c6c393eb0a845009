"""The consent page: what it says, what each button does, and who may answer."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings

from identity.users import assigned_passwords
from oidc.grants.models import Consent
from tests.support.cast import query_of, signed_in
from tests.support.forms import form
from tests.support.pages import EXPIRED, followed, opened, subject, title, typed


class TestConsent:
    def test_says_who_asks_for_what_and_for_whom(self, acme):
        client = acme.application(name="Photo Prints", is_third_party=True)
        browser, _ = signed_in(acme, name="Alice Example")

        page = opened(browser, client, scope="openid email offline_access nonsense")

        assert title(page) == "Allow Photo Prints to use your account?"
        for text in (
            "rp.example",
            "Third-party app",
            "Alice Example",
            "See your email address",
            "Stay connected",
        ):
            assert text in page.text
        assert "See your phone number" not in page.text
        assert form(page).buttons == [("choice", "allow"), ("choice", "deny")]

    def test_allow_answers_with_a_code(self, acme):
        client = acme.application(is_third_party=True)
        browser, user = signed_in(acme)

        answer = followed(browser, form(opened(browser, client)).submit(browser, choice="allow"))

        assert subject(client, answer) == str(user.pk)

    def test_deny_answers_with_access_denied_and_ends_the_request(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)
        page = opened(browser, client, response_mode="fragment")

        answer = form(page).submit(browser, choice="deny")

        assert answer.status_code == 303
        location = urlsplit(answer.headers["Location"])
        assert (location.netloc, location.query) == ("rp.example", "")
        said = query_of(answer.headers["Location"])
        assert (said["error"], said["state"], said["iss"]) == ("access_denied", "af0ifjsldkj", acme.issuer)
        assert form(page).submit(browser, choice="allow").status_code == 400
        with acme.active():
            assert not Consent.objects.exists()

    def test_decision_O9_a_third_party_is_remembered(self, acme):
        client = acme.application(is_third_party=True)
        browser, user = signed_in(acme)
        followed(browser, form(opened(browser, client, scope="openid email")).submit(browser, choice="allow"))

        again = browser.authorize(client, scope="openid email")
        less = browser.authorize(client, scope="openid", prompt="none")
        elsewhere = acme.browser()
        elsewhere.sign_in(user)

        assert "code" in query_of(again.headers["Location"])
        assert "code" in query_of(less.headers["Location"])
        assert "code" in query_of(elsewhere.authorize(client, scope="openid email").headers["Location"])

    @pytest.mark.parametrize(
        ("kind", "uri", "refusal"),
        [
            ("Native", "com.example.app:/cb", "interaction_required"),
            ("Native", "http://127.0.0.1/cb", "consent_required"),
            ("Native", "https://rp.example/cb", None),
            ("Traditional", "http://127.0.0.1/cb", None),
        ],
    )
    def test_decision_O9_a_program_that_nothing_proves_is_asked_about_each_time(
        self, acme, kind, uri, refusal
    ):
        """RFC 8252 section 8.6."""
        client = acme.application(kind, redirect_uris=[uri], is_third_party=True)
        browser, _ = signed_in(acme)
        allowed = followed(browser, form(opened(browser, client)).submit(browser, choice="allow"))

        silent, again = browser.authorize(client, prompt="none"), browser.authorize(client)

        assert "code" in query_of(allowed.headers["Location"])
        assert ("code" in query_of(again.headers["Location"])) is (refusal is None)
        assert query_of(silent.headers["Location"]).get("error") == refusal

    def test_a_third_party_that_wants_more_asks_again_and_keeps_both(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)
        followed(browser, form(opened(browser, client, scope="openid email")).submit(browser, choice="allow"))

        silent = browser.authorize(client, scope="openid phone", prompt="none")
        followed(browser, form(opened(browser, client, scope="openid phone")).submit(browser, choice="allow"))

        assert query_of(silent.headers["Location"])["error"] == "consent_required"
        with acme.active():
            assert Consent.objects.get().scopes == ["email", "openid", "phone"]

    def test_offline_access_is_agreed_to_like_the_rest_and_not_before(self, acme):
        """OpenID Connect Core 11: an OP MUST always obtain consent to returning a refresh token."""
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)
        followed(browser, form(opened(browser, client, scope="openid email")).submit(browser, choice="allow"))

        silent = browser.authorize(client, scope="openid email offline_access", prompt="none")
        page = opened(browser, client, scope="openid email offline_access")
        agreed = query_of(followed(browser, form(page).submit(browser, choice="allow")).headers["Location"])

        assert query_of(silent.headers["Location"])["error"] == "consent_required"
        assert "Stay connected" in page.text
        assert client.redeem(agreed["code"]).json()["refresh_token"]

    def test_case_A29_consent_to_one_application_or_of_one_person_is_not_anothers(self, acme):
        first, second = (acme.application(is_third_party=True) for _ in range(2))
        browser, _ = signed_in(acme)
        stranger, _ = signed_in(acme)
        followed(browser, form(opened(browser, first)).submit(browser, choice="allow"))

        refusals = [browser.authorize(second, prompt="none"), stranger.authorize(first, prompt="none")]

        for refusal in refusals:
            assert query_of(refusal.headers["Location"])["error"] == "consent_required"

    def test_decision_O9_prompt_consent_asks_every_time(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        for _ in range(2):
            page = opened(browser, client, prompt="consent")
            assert title(page).startswith("Allow ")
            answer = followed(browser, form(page).submit(browser, choice="allow"))
            assert "code" in query_of(answer.headers["Location"])

    def test_a_first_party_is_said_to_be_ours(self, acme):
        browser, _ = signed_in(acme)

        page = opened(browser, acme.application(), prompt="consent")

        assert "Third-party app" not in page.text
        assert "Run by <bdi>Acme</bdi>" in page.text

    @pytest.mark.parametrize("choice", [None, "", "ALLOW", "yes", "allow,deny"])
    def test_no_other_choice_counts(self, acme, choice):
        browser, _ = signed_in(acme)
        page = opened(browser, acme.application(is_third_party=True))

        answer = form(page).submit(browser, choice=choice)

        assert answer.status_code == 200
        assert title(answer) == title(page)

    def test_a_double_allow_does_no_harm(self, acme):
        client = acme.application(is_third_party=True)
        browser, user = signed_in(acme)
        page = form(opened(browser, client))

        page.submit(browser, choice="allow")
        answer = followed(browser, page.submit(browser, choice="allow"))

        assert subject(client, answer) == str(user.pk)

    def test_many_at_the_same_time_do_no_harm(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)
        page = form(opened(browser, client))
        cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())

        with ThreadPoolExecutor(6) as threads:
            answers = list(
                threads.map(
                    lambda _: httpx.post(
                        f"{settings.BASE_URL}{page.action}",
                        data=page.fields | {"choice": "allow"},
                        headers={"Cookie": cookies},
                    ),
                    range(6),
                )
            )

        assert {answer.status_code for answer in answers} == {303}
        assert "code" in query_of(followed(browser, answers[0]).headers["Location"])
        with acme.active():
            assert Consent.objects.count() == 1

    def test_leads_to_the_sign_in_page_when_the_session_ended_meanwhile(self, acme):
        client = acme.application(is_third_party=True)
        browser, user = signed_in(acme)
        page = form(opened(browser, client))
        with acme.active():
            assigned_passwords.set_password(user, "something new", is_proven=True)

        answer = followed(browser, page.submit(browser, choice="allow"))

        assert title(answer).startswith("Sign in to ")
        with acme.active():
            assert not Consent.objects.exists()

    def test_does_not_skip_the_sign_in_that_was_asked_for(self, acme):
        client = acme.application(is_third_party=True)
        browser, user = signed_in(acme)
        interaction = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]

        sign_in = followed(browser, browser.get(f"/consent?interaction={interaction}"))
        page = followed(browser, form(sign_in).submit(browser, **typed(user)))
        answer = followed(browser, form(page).submit(browser, choice="allow"))

        assert title(sign_in).startswith("Sign in to ")
        assert subject(client, answer) == str(user.pk)

    def test_case_J17_a_page_of_one_person_does_not_agree_for_another(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme, name="Alice Example")
        page = opened(browser, client)
        browser.sign_in(bob := acme.user(name="Bob Example"))

        answer = form(page).submit(browser, choice="allow")

        assert "Alice Example" in page.text
        assert answer.status_code == 200
        assert "Bob Example" in answer.text
        with acme.active():
            assert not Consent.objects.exists()
        answer = followed(browser, form(answer).submit(browser, choice="allow"))
        assert subject(client, answer) == str(bob.pk)

    def test_case_J17_what_one_person_agreed_to_does_not_count_for_the_next(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)
        page = opened(browser, client)
        agreed = form(page).submit(browser, choice="allow")  # and does not go on
        other = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]
        browser.sign_in(bob := acme.user(), interaction=other)

        answer = followed(browser, agreed)

        assert title(answer).startswith("Sign in to ")
        answer = followed(browser, form(answer).submit(browser, **typed(bob)))
        assert title(answer).startswith("Allow ")

    @pytest.mark.parametrize("page", ["consent", "select-account"])
    def test_without_a_request_it_is_expired(self, acme, page):
        browser, _ = signed_in(acme)

        answer = browser.get(f"/{page}")

        assert answer.status_code == 400
        assert title(answer) == EXPIRED
