"""The pages people meet, over HTTP and without scripts."""

import html
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx
import jwt
import pytest
from django.conf import settings
from django.test import Client

from identity.core import tenancy
from identity.sessions.models import Session
from identity.tenants.models import Tenant
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from interaction.experience.models import SignInExperience
from oidc.grants.models import AuthorizationRequest, Consent
from tests.support import cast, codes, server
from tests.support.cast import PASSWORD, Browser, RelyingParty, World, query_of
from tests.support.forms import form

STALE = "This page was open for too long"
EXPIRED = "This sign-in has expired"


def opened(browser: Browser, client: RelyingParty, **parameters: str) -> httpx.Response:
    """Start an authorization and open the page it leads to."""
    answer = browser.authorize(client, **parameters)
    assert answer.status_code == 303
    page = browser.get(answer.headers["Location"])
    assert page.status_code == 200, page.text
    return page


def followed(browser: Browser, answer: httpx.Response) -> httpx.Response:
    """Follow redirects within our own site, and return the first answer that leads elsewhere or nowhere."""
    while answer.headers.get("Location", "").startswith("/"):
        assert answer.status_code == 303
        answer = browser.get(answer.headers["Location"])
    return answer


def typed(user: User, **changes: Any) -> dict[str, Any]:
    return {"identifier": user.username, "password": PASSWORD} | changes


def signed_in(world: World, **fields: str) -> tuple[Browser, User]:
    user, browser = world.user(**fields), world.browser()
    assert browser.sign_in(user).status_code == 200
    return browser, user


def title(page: httpx.Response) -> str:
    found = re.search(r"<h1>(.*?)</h1>", page.text, re.DOTALL)
    assert found, page.text
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]).strip())


def subject(client: RelyingParty, answer: httpx.Response) -> str:
    """Return whom the code of an answer stands for."""
    tokens = client.redeem(query_of(answer.headers["Location"])["code"]).json()
    return str(jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"])


def sessions(world: World) -> int:
    with world.active():
        return Session.objects.count()


class TestSignIn:
    def test_leads_from_the_application_and_back_to_it(self, acme):
        client, user = acme.application(name="Payroll"), acme.user()
        browser = acme.browser()

        page = opened(browser, client)
        answer = form(page).submit(browser, **typed(user))

        assert title(page) == "Sign in to Payroll"
        assert subject(client, followed(browser, answer)) == str(user.pk)

    def test_without_a_request_leads_to_the_account(self, acme):
        browser, user = acme.browser(), acme.user(name="Alice Example")

        page = browser.get("/sign-in")
        answer = followed(browser, form(page).submit(browser, **typed(user)))

        assert title(page) == "Sign in to Acme"
        assert title(answer) == "Your account"
        assert "Alice Example" in answer.text

    def test_case_J19_the_fields_are_what_password_managers_look_for(self, acme):
        page = acme.get("/sign-in")

        assert form(page).types["password"] == "password"
        assert 'autocomplete="username"' in page.text
        assert 'autocomplete="current-password"' in page.text
        assert "onpaste" not in page.text

    def test_is_filled_with_the_login_hint(self, acme):
        page = opened(acme.browser(), acme.application(), login_hint='alice"><script>')

        assert form(page).fields["identifier"] == 'alice"><script>'
        assert "<script>" not in page.text.replace('<script type="module"', "")

    @pytest.mark.parametrize(
        ("hint", "field"),
        [
            ("ada", "username"),
            ("ada@example.com", "email"),
            ("+44 1234 567890", "phone"),
            ('"><b>', "username"),
        ],
    )
    def test_so_is_the_field_of_a_registration_that_the_hint_fits(self, acme, hint, field):
        with acme.active():
            SignInExperience.objects.update(
                sign_up={"identifiers": ["username", "email", "phone"], "password": True, "verify": False}
            )
        browser = acme.browser()
        page = opened(browser, acme.application(), login_hint=hint)

        fields = form(browser.get(f"/register?interaction={form(page).fields['interaction']}")).fields

        kinds = ("username", "email", "phone")
        assert {kind: fields[kind] for kind in kinds} == dict.fromkeys(kinds, "") | {field: hint}

    def test_a_login_hint_does_not_tell_who_has_an_account(self, acme):
        user, browser, client = acme.user(), acme.browser(), acme.application()
        unknown = "v" + user.username[1:]

        pages = [opened(browser, client, login_hint=hint).text for hint in (user.username, unknown)]

        known, other = (re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|name=\"csrf[^>]*", "", page) for page in pages)
        assert known.replace(user.username, unknown) == other

    def test_cuts_a_login_hint_of_any_length(self, acme):
        page = opened(acme.browser(), acme.application(), login_hint="x" * 5000)

        assert form(page).fields["identifier"] == "x" * 254

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"password": "wrong"}, "That does not match any account"),
            ({"identifier": "nobody"}, "That does not match any account"),
            ({"identifier": "nobody@example.com"}, "That does not match any account"),
        ],
    )
    def test_says_the_same_for_unknown_and_wrong_and_keeps_what_was_typed(self, acme, changes, says):
        browser, user = acme.browser(), acme.user()
        sent = typed(user, **changes)

        answer = form(opened(browser, acme.application())).submit(browser, **sent)

        assert answer.status_code == 401
        assert says in answer.text
        assert form(answer).fields["identifier"] == sent["identifier"]
        assert form(answer).fields["password"] == ""
        assert sent["password"] not in answer.text
        assert "Set-Cookie" not in answer.headers or "session" not in answer.headers["Set-Cookie"]

    def test_goes_on_after_a_wrong_password(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        refused = form(opened(browser, client)).submit(browser, **typed(user, password="wrong"))
        answer = form(refused).submit(browser, **typed(user))

        assert subject(client, followed(browser, answer)) == str(user.pk)

    def test_case_I02_tells_of_a_suspension_after_the_right_password_only(self, acme):
        browser, user = acme.browser(), acme.user()
        with acme.active():
            users.suspend(user)
        page = browser.get("/sign-in")

        wrong = form(page).submit(browser, **typed(user, password="wrong"))
        right = form(page).submit(browser, **typed(user))

        assert (wrong.status_code, right.status_code) == (401, 403)
        assert "suspended" not in wrong.text
        assert "Your account is suspended" in right.text

    def test_decision_X3_says_that_a_method_is_off(self, acme):
        browser, user = acme.browser(), acme.user()
        shown = form(browser.get("/sign-in"))
        with acme.active():
            SignInExperience.objects.update(sign_in={"methods": []})

        answer = shown.submit(browser, **typed(user))

        assert answer.status_code == 400
        assert "That way is not offered here." in answer.text
        assert "Ask the people who run this service" in browser.get("/sign-in").text
        assert sessions(acme) == 0

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"identifier": ""}, "Enter your username, email or phone."),
            ({"identifier": "   "}, "Enter your username, email or phone."),
            ({"identifier": None}, "Enter your username, email or phone."),
            ({"password": ""}, "Enter your password."),
            ({"password": None}, "Enter your password."),
            ({"identifier": "x" * 255}, "254"),
            ({"password": "x" * 257}, "256"),
            ({"identifier": "a\0b"}, "Null characters"),
            ({"password": "a\0b"}, "Null characters"),
        ],
    )
    def test_says_beside_the_field_what_is_wrong(self, acme, changes, says):
        browser, user = acme.browser(), acme.user()

        answer = form(browser.get("/sign-in")).submit(browser, **typed(user) | changes)

        assert answer.status_code == 400
        assert says in answer.text
        field = next(iter(changes))
        assert re.search(rf'name="{field}"[^>]*aria-invalid="true" aria-describedby="(\w+)"', answer.text)
        assert "<title>Error: " in answer.text

    def test_spaces_around_a_password_are_part_of_it(self, acme):
        browser, user = acme.browser(), acme.user(password="  spaced out  ")

        right = form(browser.get("/sign-in")).submit(browser, **typed(user, password="  spaced out  "))
        wrong = form(acme.browser().get("/sign-in")).submit(browser, **typed(user, password="spaced out"))

        assert right.status_code == 303
        assert wrong.status_code in {401, 403}

    def test_too_many_at_once_are_told_to_come_back(self, acme, crowded):
        sent = {"identifier": "nobody", "password": PASSWORD}

        answer = Client().post(f"/t/{acme.tenant.slug}/sign-in", sent)

        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "2"
        assert "Many people are signing in" in answer.text

    def test_case_A27_the_password_is_never_sent_on(self, acme):
        browser, user = acme.browser(), acme.user()

        answer = form(opened(browser, acme.application())).submit(browser, **typed(user))

        assert answer.status_code == 303  # a 307 or 308 would repeat the POST
        assert PASSWORD not in answer.headers["Location"]

    def test_a_double_submit_does_no_harm(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        page = form(opened(browser, client))

        page.submit(browser, **typed(user))
        second = page.submit(browser, **typed(user))

        assert subject(client, followed(browser, second)) == str(user.pk)
        assert sessions(acme) == 1

    def test_a_double_submit_whose_first_answer_was_lost_does_no_harm(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        page = form(opened(browser, client))
        before = dict(browser.http.cookies)

        page.submit(browser, **typed(user))
        browser.http.cookies = httpx.Cookies(before)
        second = page.submit(browser, **typed(user))

        assert subject(client, followed(browser, second)) == str(user.pk)

    def test_the_back_button_after_the_end_explains_itself(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        page = opened(browser, client)
        followed(browser, form(page).submit(browser, **typed(user)))

        again = form(page).submit(browser, **typed(user))
        reloaded = browser.get(str(page.url))

        for answer in (again, reloaded):
            assert answer.status_code == 400
            assert title(answer) == EXPIRED
            assert "Go back to the application" in answer.text

    @pytest.mark.parametrize(
        "interaction", ["x", "0" * 36, "../account", "'\"><script>alert(1)</script>", "%00"]
    )
    @pytest.mark.parametrize("page", ["sign-in", "consent", "select-account"])
    def test_case_A25_a_tampered_interaction_is_expired(self, acme, page, interaction):
        browser, user = signed_in(acme)
        hidden = form(browser.get("/sign-in")).fields["csrfmiddlewaretoken"]

        got = browser.get(f"/{page}?{urlencode({'interaction': interaction})}")
        sent = browser.post(
            f"/{page}",
            data=typed(user) | {"interaction": interaction, "choice": "allow", "csrfmiddlewaretoken": hidden},
        )

        for answer in (got, sent):
            assert answer.status_code == 400
            assert title(answer) == EXPIRED
            assert "alert(1)" not in answer.text

    @pytest.mark.parametrize("page", ["sign-in", "consent", "select-account"])
    def test_case_A26_the_interaction_of_another_browser_is_expired(self, acme, page):
        client = acme.application(is_third_party=True)
        victim = acme.browser()
        interaction = query_of(victim.authorize(client).headers["Location"])["interaction"]
        thief, _ = signed_in(acme)
        thief.authorize(client)

        answer = thief.get(f"/{page}?interaction={interaction}")

        assert answer.status_code == 400
        assert title(answer) == EXPIRED

    def test_case_A25_other_hidden_fields_change_nothing(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tampered = {
            "redirect_uri": "https://evil.example/",
            "scope": "openid email",
            "client_id": "x",
            "next": "//evil",
        }

        answer = form(opened(browser, client, scope="openid")).submit(browser, **typed(user), **tampered)

        answer = followed(browser, answer)
        assert answer.headers["Location"].startswith("https://rp.example/callback?code=")
        assert client.redeem(query_of(answer.headers["Location"])["code"]).json()["scope"] == "openid"

    def test_each_tab_goes_on_with_its_own_request(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tabs = [opened(browser, client, state=f"tab-{tab}") for tab in range(3)]

        answers = [followed(browser, form(tabs[tab]).submit(browser, **typed(user))) for tab in (1, 2, 0)]

        states = [query_of(answer.headers["Location"])["state"] for answer in answers]
        assert states == ["tab-1", "tab-2", "tab-0"]

    def test_takes_a_large_form_for_what_it_is(self, acme):
        browser, user = acme.browser(), acme.user()
        page = form(browser.get("/sign-in"))

        many = page.submit(browser, **typed(user), **{f"x{number}": "" for number in range(2000)})
        large = page.submit(browser, **typed(user), x="x" * 2_000_000)

        for answer in (large, many):
            assert answer.status_code in {400, 413}
            assert answer.headers["Content-Type"].startswith("text/html")

    @pytest.mark.parametrize(
        "content_type", ["application/json", "text/plain", "multipart/form-data; boundary=x"]
    )
    def test_takes_no_other_content(self, acme, content_type):
        browser, user = acme.browser(), acme.user()
        hidden = form(browser.get("/sign-in")).fields["csrfmiddlewaretoken"]

        answer = browser.post(
            "/sign-in",
            content=urlencode(typed(user) | {"csrfmiddlewaretoken": hidden}).encode(),
            headers={"Content-Type": content_type, "X-CSRFToken": hidden},
        )

        assert answer.status_code in {400, 403}
        assert sessions(acme) == 0

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
    @pytest.mark.parametrize("page", ["sign-in", "consent", "select-account", "account", "", "brand.css"])
    def test_takes_get_and_post_only(self, acme, page, method):
        answer = httpx.request(method, f"{acme.address}/{page}")

        assert answer.status_code in {403, 405}


class TestCsrf:
    @pytest.mark.parametrize("token", [None, "", "x", "x" * 64, "a" * 32])
    def test_case_J04_a_form_without_its_token_is_not_sent(self, acme, token):
        browser, user = acme.browser(), acme.user()
        page = form(browser.get("/sign-in"))

        answer = page.submit(browser, **typed(user), csrfmiddlewaretoken=token)

        assert answer.status_code == 403
        assert title(answer) == STALE
        assert "reload the page" in answer.text
        assert sessions(acme) == 0

    def test_case_J04_nor_with_the_token_of_another_browser(self, acme):
        attacker, victim, user = acme.browser(), acme.browser(), acme.user()
        victim.get("/sign-in")

        answer = form(attacker.get("/sign-in")).submit(victim, **typed(user))

        assert answer.status_code == 403
        assert sessions(acme) == 0

    def test_nor_without_the_cookie(self, acme):
        browser, user = acme.browser(), acme.user()
        page = form(browser.get("/sign-in"))
        browser.http.cookies.clear()

        answer = page.submit(browser, **typed(user))

        assert answer.status_code == 403
        assert "Your browser must accept cookies" in answer.text

    @pytest.mark.parametrize(
        "origin", ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:1"]
    )
    def test_nor_from_another_origin_even_with_the_token(self, acme, origin):
        browser, user = acme.browser(), acme.user()

        page = form(browser.get("/sign-in"))
        browser.http.headers["Origin"] = origin

        answer = page.submit(browser, **typed(user))

        assert answer.status_code == 403
        assert sessions(acme) == 0

    def test_our_own_origin_is_fine(self, acme):
        browser, user = acme.browser(), acme.user()

        page = form(browser.get("/sign-in"))
        browser.http.headers["Origin"] = settings.BASE_URL

        answer = page.submit(browser, **typed(user))

        assert answer.status_code == 303

    @pytest.mark.parametrize("page", ["consent", "select-account"])
    def test_choices_need_the_token_too(self, acme, page):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)
        opened(browser, client)
        with acme.active():
            parked, session = AuthorizationRequest.objects.get(), Session.objects.get()
        sent = {"interaction": str(parked.pk), "session": str(session.pk)}

        for choice in ("allow", "continue"):
            answer = browser.post(f"/{page}", data=sent | {"choice": choice})
            assert answer.status_code == 403
        with acme.active():
            parked.refresh_from_db()
            assert (parked.consented_at, parked.account_chosen_at) == (None, None)
            assert not Consent.objects.exists()


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
        ("uri", "refusal"),
        [
            ("com.example.app:/cb", "interaction_required"),
            ("http://127.0.0.1/cb", "consent_required"),
            ("https://rp.example/cb", None),
        ],
    )
    def test_decision_O9_a_program_that_nothing_proves_is_asked_about_each_time(self, acme, uri, refusal):
        """RFC 8252 section 8.6."""
        client = acme.application("Native", redirect_uris=[uri], is_third_party=True)
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
            credentials.set_password(user, "something new")

        answer = followed(browser, page.submit(browser, choice="allow"))

        assert title(answer).startswith("Sign in to ")
        with acme.active():
            assert not Consent.objects.exists()

    def test_does_not_skip_the_sign_in_that_was_asked_for(self, acme):
        client = acme.application(is_third_party=True)
        browser, user = signed_in(acme)
        interaction = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]

        page = browser.get(f"/consent?interaction={interaction}")
        answer = followed(browser, form(page).submit(browser, choice="allow"))

        assert title(answer).startswith("Sign in to ")
        answer = followed(browser, form(answer).submit(browser, **typed(user)))
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


class TestSelectAccount:
    def test_shows_who_is_signed_in(self, acme):
        browser, _ = signed_in(acme, name="Alice Example")

        page = opened(browser, acme.application(name="Payroll"), prompt="select_account")

        assert title(page) == "Choose an account"
        assert "Alice Example" in page.text
        assert "Payroll" in page.text
        assert form(page).buttons == [("choice", "continue"), ("choice", "other")]

    def test_continue_goes_on_as_that_person(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        page = opened(browser, client, prompt="select_account")

        answer = followed(browser, form(page).submit(browser, choice="continue"))

        assert subject(client, answer) == str(user.pk)

    def test_other_goes_on_as_whoever_signs_in(self, acme):
        client, other = acme.application(), acme.user()
        browser, _ = signed_in(acme)
        page = opened(browser, client, prompt="select_account")

        sign_in = followed(browser, form(page).submit(browser, choice="other"))
        answer = followed(browser, form(sign_in).submit(browser, **typed(other)))

        assert title(sign_in).startswith("Sign in to ")
        assert subject(client, answer) == str(other.pk)

    def test_case_J17_continue_never_means_somebody_else(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme, name="Alice Example")
        page = opened(browser, client, prompt="select_account")
        browser.sign_in(acme.user(name="Bob Example"))

        answer = form(page).submit(browser, choice="continue")

        assert answer.status_code == 200
        assert "Bob Example" in answer.text

    def test_does_not_skip_the_sign_in_that_was_asked_for(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        interaction = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]

        page = browser.get(f"/select-account?interaction={interaction}")
        answer = followed(browser, form(page).submit(browser, choice="continue"))

        assert title(answer).startswith("Sign in to ")

    def test_without_a_session_leads_to_the_sign_in_page(self, acme):
        browser = acme.browser()
        interaction = query_of(browser.authorize(acme.application()).headers["Location"])["interaction"]

        answer = browser.get(f"/select-account?interaction={interaction}")

        assert answer.headers["Location"] == f"/t/{acme.tenant.slug}/sign-in?interaction={interaction}"


class TestClaimedRequest:
    """A request that one person signed in for, while somebody else signs in in another tab."""

    def test_case_J17_the_next_person_cannot_agree_for_it(self, acme):
        client = acme.application(is_third_party=True)
        browser, bob = acme.browser(), acme.user()
        claimed = form(followed(browser, form(opened(browser, client)).submit(browser, **typed(acme.user()))))
        other = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]
        browser.sign_in(bob, interaction=other)

        page = browser.get(f"/consent?interaction={claimed.fields['interaction']}")
        answer = followed(browser, form(page).submit(browser, choice="allow"))

        assert title(answer).startswith("Sign in to ")
        with acme.active():
            assert not Consent.objects.exists()

    def test_case_J17_the_next_person_cannot_continue_it(self, acme):
        client = acme.application()
        browser, bob = acme.browser(), acme.user()
        sign_in = form(opened(browser, client, prompt="login consent"))
        sign_in.submit(browser, **typed(acme.user()))
        other = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]
        browser.sign_in(bob, interaction=other)

        page = browser.get(f"/select-account?interaction={sign_in.fields['interaction']}")
        answer = followed(browser, form(page).submit(browser, choice="continue"))

        assert title(answer).startswith("Sign in to ")


class TestAccount:
    def test_shows_who_is_signed_in(self, acme):
        user = acme.user(name="Alice <b>Example", email="alice@example.com", phone="+4915112345678")
        browser = acme.browser()
        browser.sign_in(user)

        page = browser.get("/account")
        browsers = browser.get("/account/browsers")

        for text in ("Alice &lt;b&gt;Example", user.username, "alice@example.com", "+4915112345678"):
            assert text in page.text
        assert "127.0.0.1" in browsers.text
        assert "<b>" not in browsers.text
        assert form(page).action == f"/t/{acme.tenant.slug}/oidc/end-session"

    def test_leads_to_the_sign_in_page_without_a_session(self, acme):
        answer = acme.get("/account")

        assert (answer.status_code, answer.headers["Location"]) == (303, f"/t/{acme.tenant.slug}/sign-in")

    def test_home_leads_there(self, acme):
        answer = acme.get("/")

        assert (answer.status_code, answer.headers["Location"]) == (303, f"/t/{acme.tenant.slug}/account")

    def test_signs_out_with_one_button(self, acme):
        browser, _ = signed_in(acme)

        answer = form(browser.get("/account")).submit(browser)

        assert title(answer) == "You are signed out"
        assert browser.get("/account").status_code == 303

    def test_the_default_tenant_has_pages_at_the_root(self, address):
        answer = httpx.get(f"{address}/sign-in")

        assert title(answer) == "Sign in to Gatehouse"


class TestErrorPages:
    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("/nothing", 404),
            ("/sign-in/", 404),
            ("/.env", 404),
            ("/.git/config", 404),
            ("/admin/", 404),
            ("/__debug__/", 404),
            ("/static/..%2f..%2fmanage.py", 404),
            ("/static/../manage.py", 404),
            ("/oidc/authorize", 400),
            ("/oidc/authorize/x", 404),
            ("/<script>alert(1)</script>", 404),
            ("/%00", 404),
            ("/%ff%fe", 404),
            ("//evil.example/", 404),
        ],
    )
    def test_case_K10_say_what_to_do_and_give_a_reference(self, acme, path, status):
        answer = acme.get(path)

        assert answer.status_code == status
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Request-Id"] in answer.text
        assert "alert(1)" not in answer.text
        assert "Location" not in answer.headers

    @pytest.mark.parametrize(
        "path",
        [
            "/t/nobody/",
            "/t/nobody/sign-in",
            "/t/default/sign-in",
            "/t/",
            "/t//sign-in",
            "/t/UPPER/sign-in",
            "/t/a%2fb/",
        ],
    )
    def test_a_tenant_that_is_not_there_is_a_page_not_found(self, address, path):
        answer = httpx.get(f"{address}{path}")

        assert answer.status_code == 404
        assert title(answer) == "There is nothing here"
        assert "Gatehouse" in answer.text

    def test_case_K11_a_failure_of_ours_shows_no_code(self, acme, monkeypatch):
        def fail(*_: object) -> None:
            raise RuntimeError("the database password is hunter2")

        monkeypatch.setattr("identity.sessions.cookies.current_session", fail)

        answer = Client(raise_request_exception=False).get(f"/t/{acme.tenant.slug}/account")

        assert answer.status_code == 500
        text = answer.content.decode()
        assert "Something went wrong on our side" in text
        assert answer.headers["X-Request-Id"] in text
        assert "hunter2" not in text
        assert "Traceback" not in text


HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "</title><script>alert(1)</script>",
    "{{7*7}}{% debug %}${7*7}%s",
    "\u202egnp.exe",
    "' onmouseover='alert(1)",
    "N" * 256,
]


class TestEscaping:
    @pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
    def test_case_J10_a_name_is_text_wherever_it_stands(self, acme, name):
        client = acme.application(name=name, is_third_party=True)
        user = acme.user(name=name)
        with tenancy.using(tenancy.EVERYWHERE):
            Tenant.objects.filter(pk=acme.tenant.pk).update(name=name)
        browser = acme.browser()

        pages = [opened(browser, client)]
        pages.append(followed(browser, form(pages[0]).submit(browser, **typed(user))))
        pages.append(opened(browser, client, prompt="select_account"))
        pages += [browser.get("/account"), browser.get("/oidc/end-session"), browser.get("/nothing")]

        assert [page.status_code for page in pages] == [200, 200, 200, 200, 200, 404]
        for page in pages:
            assert html.escape(name) in page.text
            assert html.escape(name) == name or name not in page.text

    def test_case_J08_addresses_of_the_brand_are_attributes(self, acme):
        with acme.active():
            experience = SignInExperience.objects.get()
            experience.branding |= {
                "logo_url": 'https://cdn.example/"onerror="alert(1)',
                "dark_logo_url": "https://cdn.example/dark.svg",
                "favicon": "https://cdn.example/x.ico",
            }
            experience.terms_of_use_url = 'https://acme.example/terms"><script>'
            experience.save()

        page = acme.get("/sign-in")

        assert '"onerror="' not in page.text
        assert '"><script>' not in page.text
        assert 'href="https://cdn.example/x.ico"' in page.text

    @pytest.mark.parametrize(
        "colour",
        ["red;}body{display:none", "expression(alert(1))", "</style>", "url(//evil)", "#12345", "#xyz", ""],
    )
    def test_case_J09_a_colour_that_is_none_paints_nothing(self, acme, colour):
        with acme.active():
            experience = SignInExperience.objects.get()
            experience.branding |= {"primary_color": colour, "dark_primary_color": colour}
            experience.save()

        answer = acme.get("/brand.css")

        assert (answer.status_code, answer.text) == (200, "")
        assert answer.headers["Content-Type"] == "text/css; charset=utf-8"

    @pytest.mark.parametrize(("colour", "text"), [("#ffff00", "#000"), ("#123", "#fff"), ("#1a73e8", "#000")])
    def test_a_colour_gets_the_text_that_can_be_read_on_it(self, acme, colour, text):
        with acme.active():
            experience = SignInExperience.objects.get()
            experience.branding |= {"primary_color": colour}
            experience.save()

        answer = acme.get("/brand.css")
        again = acme.get("/brand.css", headers={"If-None-Match": answer.headers["ETag"]})

        assert f":root{{--brand:{colour};--on-brand:{text}}}" in answer.text
        assert again.status_code == 304


def policy(page: httpx.Response) -> dict[str, list[str]]:
    directives = [directive.split() for directive in page.headers["Content-Security-Policy"].split(";")]
    return {name: sources for name, *sources in directives}


@pytest.fixture(scope="module")
def pages(address):
    """One of each kind of page, errors included."""
    world = cast.new_world("Acme")
    client = world.application(is_third_party=True)
    browser, user = signed_in(world)
    return [
        world.get("/sign-in"),
        opened(world.browser(), client),
        opened(browser, client),
        opened(browser, client, prompt="select_account"),
        browser.get("/account"),
        browser.get("/oidc/end-session"),
        world.get("/oidc/end-session"),
        world.get("/nothing"),
        world.get("/oidc/authorize"),
        world.post("/sign-in", data=typed(user)),
        httpx.get(f"{address}/t/nobody/sign-in"),
    ]


class TestHeaders:
    def test_case_J06_every_page_forbids_what_it_does_not_need(self, pages):
        for page in pages:
            rules = policy(page)
            assert rules["default-src"] == rules["frame-ancestors"] == ["'none'"]
            assert rules["base-uri"] == rules["object-src"] == ["'none'"]
            assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == ["'self'"]
            assert rules["form-action"] == ["'self'", "https:"]
            assert not any("unsafe" in source for sources in rules.values() for source in sources)
            assert page.headers["X-Content-Type-Options"] == "nosniff"
            assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert "camera=()" in page.headers["Permissions-Policy"]

    def test_case_J07_no_page_is_shown_in_a_frame(self, pages):
        for page in pages:
            assert page.headers["X-Frame-Options"] == "DENY"
            assert policy(page)["frame-ancestors"] == ["'none'"]

    def test_case_A28_no_page_is_kept_or_tells_where_it_was(self, pages):
        for page in pages:
            assert page.headers["Cache-Control"] == "no-store", page.url
            assert page.headers["Referrer-Policy"] in {"no-referrer", "same-origin"}

    def test_case_A28_pages_load_from_this_site_alone_and_hold_no_inline_code(self, pages):
        for page in pages:
            for address in re.findall(r'(?:src|href|action)="([^"]*)"', page.text):
                assert address.startswith("/")
                assert not address.startswith("//")
            assert "style=" not in page.text
            assert "<style" not in page.text
            assert not re.search(r"\son\w+=", page.text)
            assert re.findall(r"<script[^>]*>(.*?)</script>", page.text) == [""]

    def test_pages_say_language_and_title(self, pages):
        for page in pages:
            assert '<html lang="en" dir="ltr">' in page.text
            assert re.search(r"<title>[^<]+ \u2013 (Acme|Gatehouse)</title>", page.text)
            assert page.text.count("<h1>") == 1

    @pytest.mark.parametrize(
        ("kind", "uri", "target"),
        [
            ("Traditional", "https://rp.example/cb", None),
            ("Traditional", "http://localhost:3000/cb", "http://localhost:*"),
            ("Native", "http://127.0.0.1/cb", "http://127.0.0.1:*"),
            ("Native", "http://[::1]/cb", "http:"),
            ("Native", "com.example.app:/cb", "com.example.app:"),
        ],
    )
    def test_case_J06_a_form_may_lead_to_the_application_that_waits(self, acme, kind, uri, target):
        page = opened(acme.browser(), acme.application(kind, redirect_uris=[uri]))

        assert policy(page)["form-action"] == ["'self'", "https:", *([target] if target else [])]

    @pytest.mark.parametrize(("path", "files"), [("/sign-in", 3), ("/register", 5)])
    def test_static_files_are_kept_and_harmless(self, acme, path, files):
        codes.experience(acme, password_policy={"strength_meter": True})
        page = acme.get(path)
        addresses = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)

        assert len(addresses) == files
        for address in addresses:
            answer = httpx.get(f"{settings.BASE_URL}{address}")
            assert answer.status_code == 200
            assert "immutable" in answer.headers["Cache-Control"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert len(answer.content) < 13 * 1024

    def test_plain_http_says_nothing_of_https(self, acme):
        assert "Strict-Transport-Security" not in acme.get("/sign-in").headers


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
