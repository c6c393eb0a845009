"""The other ways on the sign-in page: providers, codes, a forgotten password, and signing in again."""

import re

import httpx
import pytest
from django.conf import settings

from identity.limits.models import Counter
from tests.support import codes
from tests.support.cast import PASSWORD, World, signed_in
from tests.support.forms import form, forms
from tests.support.pages import followed, opened, subject, title, typed
from tests.support.social import connect

KEYS = {"client_id": "x", "client_secret": "y"}
OAUTH2 = KEYS | {
    "authorization_endpoint": "https://wechat.example/a",
    "token_endpoint": "https://wechat.example/t",
    "userinfo_endpoint": "https://wechat.example/u",
}


def buttons(page: httpx.Response) -> list[str]:
    """Return what stands in each provider's button."""
    return re.findall(r'class="button provider"[^>]*>(.*?)</a>', page.text, re.DOTALL)


def text(fragment: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", fragment).split())


class TestProviders:
    def test_each_has_its_icon_or_its_first_letter(self, acme):
        connect(acme, KEYS, "google")
        connect(acme, KEYS, "github")
        connect(acme, KEYS | {"issuer": "https://id.example", "display_name": "corp"}, "oidc")

        page = acme.get("/sign-in")

        shown = {text(button): button for button in buttons(page)}
        assert shown.keys() == {"Continue with Google", "Continue with GitHub", "Continue with corp"}
        assert 'data-initial="C"' in shown["Continue with corp"]
        assert 'class="icons"' not in page.text
        for name in ("Google", "GitHub"):
            [address] = re.findall(r'<img[^>]* src="(/static/[^"]+)" alt=""', shown[f"Continue with {name}"])
            icon = httpx.get(f"{settings.BASE_URL}{address}")
            assert f"/providers/{name.lower()}." in address
            assert icon.headers["Content-Type"] == "image/svg+xml"
        assert "one-colour" in shown["Continue with GitHub"]

    def test_more_than_three_are_a_row_of_icons_with_names(self, acme):
        for name in ("google", "github", "microsoft"):
            connect(acme, KEYS | ({"tenant": "common"} if name == "microsoft" else {}), name)
        connect(acme, OAUTH2 | {"display_name": "WeChat"}, "oauth2")

        page = acme.get("/sign-in")

        row = page.text.partition('class="icons"')[2].partition("</nav>")[0]
        names = {"Google", "GitHub", "Microsoft", "WeChat"}
        assert {text(button) for button in buttons(page)} == {f"Continue with {name}" for name in names}
        assert set(re.findall(r' title="([^"]+)"', row)) == names
        assert row.count('class="unseen"') == row.count("<img ") == 4

    def test_a_code_is_one_of_the_other_ways(self, acme):
        codes.reachable(acme)

        page = acme.get("/sign-in")

        [button] = re.findall(
            r'<button class="([^"]+)"[^>]*>(?:<span[^>]*></span>)Sign in with a code', page.text
        )
        assert button == "button provider"
        assert "envelope" in page.text
        assert page.text.count('class="or"') == 1


class TestCarriedIdentifier:
    @pytest.fixture(autouse=True)
    def _reachable(self, acme: World) -> None:
        codes.reachable(acme)

    @pytest.mark.parametrize("path", ["/sign-in/code", "/forgot-password"])
    @pytest.mark.parametrize("password", ["", "typed already"])
    def test_goes_along_and_nothing_is_sent_or_refused(self, acme, path, password):
        browser, address = acme.browser(), codes.new_email()
        acme.user(email=address)
        client = acme.application(name="Payroll")
        fields = form(opened(browser, client)).fields
        sent = fields | {"identifier": f" {address} ", "password": password, "carry": "yes"}

        page = followed(browser, browser.post(path, data=sent))

        assert page.status_code == 200
        assert form(page).fields["identifier"] == address
        assert form(page).fields["interaction"] == fields["interaction"]
        assert "aria-invalid" not in page.text
        assert "typed already" not in page.text
        assert codes.messages_to(address) == []

    @pytest.mark.parametrize(
        "identifier", ["", "ada", "a\0b@example.com", "x" * 400 + "@example.com", '"><b>@x']
    )
    @pytest.mark.parametrize("path", ["/sign-in/code", "/forgot-password"])
    def test_only_where_a_code_can_be_sent_to_it(self, acme, path, identifier):
        browser = acme.browser()
        sent = form(browser.get("/sign-in")).fields | {"identifier": identifier, "carry": "yes"}

        page = followed(browser, browser.post(path, data=sent))

        assert page.status_code == 200
        assert "<b>" not in page.text
        if "@" not in identifier:
            assert form(page).fields["identifier"] == ""

    @pytest.mark.parametrize("path", ["/sign-in/code", "/forgot-password"])
    def test_a_form_of_another_site_is_refused(self, acme, path):
        answer = acme.browser().post(path, data={"identifier": "a@example.com", "carry": "yes"})

        assert answer.status_code == 403


class TestErrors:
    @pytest.mark.parametrize(
        ("kinds", "message"),
        [
            (["username", "email", "phone"], "Wrong username or password."),
            (["email"], "Wrong email or password."),
            (["phone"], "Wrong phone number or password."),
            (["email", "phone"], "Wrong email, phone number or password."),
        ],
    )
    def test_the_reason_is_the_title_and_stands_once(self, acme, kinds, message):
        methods = [{"identifier": kind, "password": True, "verification_code": False} for kind in kinds]
        codes.experience(acme, sign_in={"methods": methods})
        known, browser = codes.new_email(), acme.browser()
        acme.user(email=known, phone="+491701234567")
        unknown = codes.new_email() if "email" in kinds else "+491709999999"
        identifier = known if "email" in kinds else "+491701234567"

        pages = [
            form(browser.get("/sign-in")).submit(browser, identifier=name, password="wrong")
            for name in (identifier, unknown)
        ]

        for page in pages:
            assert page.status_code == 401
            assert page.text.count(message) == 1
            assert f'<h2 id="errors-title">{message}</h2>' in page.text
            assert "not signed in yet" not in page.text

    @pytest.mark.parametrize("with_codes", [True, False])
    def test_a_lock_says_how_long_and_what_else_works(self, acme, with_codes):
        if with_codes:
            codes.reachable(acme)
        user, browser = acme.user(), acme.browser()
        for name in (user.username, "nobody"):
            form(browser.get("/sign-in")).submit(browser, identifier=name, password="wrong")
        with acme.active():
            Counter.objects.filter(kind="pair").update(count=settings.LOCK_PAIR_FAILURES - 1)
        for name in (user.username, "nobody"):
            form(browser.get("/sign-in")).submit(browser, identifier=name, password="wrong")

        for name in (user.username, "nobody"):
            page = form(browser.get("/sign-in")).submit(browser, identifier=name, password=PASSWORD)

            minutes = -(-int(page.headers["Retry-After"]) // 60)
            time = f"{page.headers['Retry-After']} seconds" if minutes == 1 else f"{minutes} minutes"
            code = ", or use a code if your account has an email or phone" if with_codes else ""
            says = f"Too many attempts. Try again in {time}{code}."
            assert page.status_code == 401
            assert page.text.count(says) == 1

    def test_a_field_that_is_empty_is_named_once_and_gets_the_focus(self, acme):
        browser = acme.browser()

        page = form(browser.get("/sign-in")).submit(browser, identifier="ada", password="")

        assert page.text.count("Enter your password.") == 1
        assert page.text.count("autofocus") == 1
        assert re.search(r'name="password"[^>]*autofocus aria-invalid="true"', page.text)


class TestCodePage:
    def test_says_what_to_type_where_it_went_and_when_another_can_be_sent(self, acme):
        codes.reachable(acme)
        address, browser = codes.new_email(), acme.browser()

        page = form(browser.get("/sign-in/code")).submit(browser, identifier=address)

        shown = page.text.partition("<main>")[2]
        assert title(browser.get("/sign-in/code")) == "Get a code to sign in"
        assert "6 digits" in shown
        assert "pattern=" not in shown  # full-width digits and codes of ten characters may be typed
        assert f"{address[0]}•••@{address.partition('@')[2]}" in shown
        assert address not in re.sub(r'value="[^"]*"', "", shown)
        assert "Check your spam folder." in shown
        assert f'data-wait="{settings.LIMIT_CODE_PAUSE_SECONDS}"' in shown
        assert "You can get a new code in 60 seconds." in shown

    def test_a_request_that_comes_too_early_says_how_long_to_wait(self, acme):
        codes.reachable(acme)
        address, browser = codes.new_email(), acme.browser()
        page = form(browser.get("/sign-in/code")).submit(browser, identifier=address)

        again = forms(page)[1].submit(browser)

        assert f'data-wait="{again.headers["Retry-After"]}"' in again.text
        assert "We sent a code a moment ago." in again.text


class TestSigningInAgain:
    @pytest.mark.parametrize("asked", [{"prompt": "login"}, {"max_age": "0"}])
    def test_asks_only_for_the_password_of_the_user_who_is_signed_in(self, acme, asked):
        client = acme.application()
        browser, user = signed_in(acme, name="Ada Lovelace")

        page = opened(browser, client, **asked)
        wrong = form(page).submit(browser, password="wrong")
        right = form(wrong).submit(browser, password=PASSWORD)

        for shown in (page, wrong):
            assert "Ada Lovelace" in shown.text
            assert "Not you?" in shown.text
            assert "Username, email or phone" not in shown.text
            assert form(shown).fields["identifier"] == user.username
            assert shown.text.count("autofocus") == 1
        assert wrong.status_code == 401
        assert subject(client, followed(browser, right)) == str(user.pk)

    def test_another_user_can_sign_in_instead(self, acme):
        client, other = acme.application(), acme.user()
        browser, user = signed_in(acme)
        page = opened(browser, client, prompt="login", login_hint=user.username)
        [link] = re.findall(r'href="([^"]+switch=1)"', page.text)

        switched = browser.get(link.replace("&amp;", "&"))
        answer = form(switched).submit(browser, **typed(other))

        assert "Not you?" not in switched.text
        assert form(switched).fields["identifier"] == ""
        assert subject(client, followed(browser, answer)) == str(other.pk)

    @pytest.mark.parametrize("page_of", ["select_account", "language"])
    def test_another_account_stays_chosen(self, acme, page_of):
        client = acme.application()
        browser, _ = signed_in(acme, name="Ada Lovelace")
        if page_of == "select_account":
            page = opened(browser, client, prompt="select_account", max_age="3600")
            switched = followed(browser, forms(page)[0].submit(browser, choice="other"))
        else:
            page = opened(browser, client, prompt="login")
            [link] = re.findall(r'href="([^"]+switch=1)"', page.text)
            page = browser.get(link.replace("&amp;", "&"))
            [german] = re.findall(r'href="([^"]+ui_locales=de)"', page.text)
            switched = browser.get(german.replace("&amp;", "&"))

        assert "Ada Lovelace" not in switched.text
        assert "switch" in str(switched.url)

    @pytest.mark.parametrize(
        "why", ["nobody", "not asked", "other hint", "other token", "forged", "no password"]
    )
    def test_everybody_else_is_asked_for_both(self, acme, why):
        client, other = acme.application(), acme.user()
        browser, user = signed_in(acme)
        asked = {"prompt": "login"}
        if why == "nobody":
            browser = acme.browser()
        elif why == "not asked":
            asked = {"prompt": "select_account"}
        elif why == "other hint":
            asked["login_hint"] = other.username
        elif why == "other token":
            asked["id_token_hint"] = client.tokens_for(other, scope="openid")["id_token"]
        elif why == "forged":
            asked["id_token_hint"] = "a.b.c"
        else:
            with acme.active():
                type(user).objects.filter(pk=user.pk).update(password="")

        page = opened(browser, client, **asked)
        if why == "not asked":
            page = browser.get("/sign-in")

        assert "Not you?" not in page.text
        assert "Username, email or phone" in page.text
