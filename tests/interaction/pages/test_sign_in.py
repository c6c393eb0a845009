"""The sign-in page: from the application, through the form, and back to the application."""

import re
from urllib.parse import urlencode

import httpx
import pytest
from django.test import Client

from identity.users import services as users
from interaction.experience.models import SignInExperience
from tests.support.cast import PASSWORD, query_of, signed_in
from tests.support.forms import form
from tests.support.pages import EXPIRED, followed, opened, sessions, subject, title, typed


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
            ({"password": "wrong"}, "Wrong username or password."),
            ({"identifier": "nobody"}, "Wrong username or password."),
            ({"identifier": "nobody@example.com"}, "Wrong username or password."),
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
        assert "sign in this way here. Try another way." in answer.text
        assert "Contact the people who run this service" in browser.get("/sign-in").text
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
            assert "Go to your account" in answer.text

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
