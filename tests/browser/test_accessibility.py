"""axe-core looks at every page: light, dark, on a phone, and from right to left."""

import os
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from urllib.parse import urlencode, urljoin

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.providers.base import Profile
from interaction.experience import services as experiences
from interaction.social import services as identities
from oidc.applications import services as applications
from tests.support import codes, factors
from tests.support.cast import PASSWORD, World, query_of
from tests.support.codes import experience, message_to, new_email, new_phone
from tests.support.journeys import start
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page looks the same on every engine"
)

_LOOKS = {
    "light": ("light", {"width": 1280, "height": 800}),
    "dark": ("dark", {"width": 1280, "height": 800}),
    "phone": ("dark", {"width": 360, "height": 740}),
}
# Each of them once in an ordinary run: axe takes its time.
_LOOKS_IN = {"en": ("light", "dark"), "ar": ("phone",)}
_THOROUGH = bool(os.environ.get("GATEHOUSE_THOROUGH"))
_MOST_BYTES = 50_000

Look = Callable[[str], None]


@pytest.fixture(params=["en", "ar"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def page(screens: Screens, language: str) -> Page:
    return screens.open(locale=language, reduced_motion="reduce")


@pytest.fixture
def look(page: Page, acme: World, language: str) -> Iterator[Look]:
    """Let axe look at the page of the moment, in every look; what it finds is told at the end."""
    axe = Axe()
    looks = _LOOKS if _THOROUGH else _LOOKS_IN[language]
    found: list[str] = []
    addresses: set[str] = set()
    page.on("request", lambda sent: addresses.add(sent.url))

    def look(name: str) -> None:
        assert len(page.content().encode()) < _MOST_BYTES, name
        for look in looks:
            scheme, size = _LOOKS[look]
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.set_viewport_size(size)  # type: ignore[arg-type]
            # The dark page differs in its colours alone.
            rules = {"runOnly": ["color-contrast"]} if look == "dark" and not _THOROUGH else {}
            results = axe.run(page, options={"resultTypes": ["violations"], **rules})
            found.extend(
                f"{name}, {look}: {violation['id']} {[node['target'] for node in violation['nodes']]}"
                for violation in results.response["violations"]
            )
            wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
            assert not wide, f"{name}, {look}: has to be scrolled sideways"

    yield look
    assert found == []
    origin = acme.address.partition("/t/")[0]
    elsewhere = ("https://rp.example", "https://github.com/login/oauth/authorize?")
    assert {url for url in addresses if not url.startswith((origin, *elsewhere))} == set()


def send(page: Page, **typed: str) -> None:
    """Fill in the first form of a page, and send it."""
    form = page.locator("main form").first
    for name, text in typed.items():
        form.locator(f"[name={name}]").fill(text)
    with page.expect_navigation():
        form.locator("button[type=submit]").first.click()


def sign_in(page: Page, user: User) -> None:
    send(page, identifier=user.username, password=PASSWORD)


def test_axe_finds_what_is_wrong(page):
    page.set_content('<html lang="en"><title>x</title><main><h1>x</h1><img src="data:,"></main></html>')

    assert [violation["id"] for violation in Axe().run(page).response["violations"]] == ["image-alt"]


class TestPages:
    def test_of_second_factors(self, acme, page, look):
        codes.reachable(acme)
        factors.switch_on(acme, policy="Mandatory")
        user = acme.user()
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        look("set up two-step sign-in")
        key = page.locator("code.key").inner_text()
        app = factors.App(key)
        send(page, code="000000")
        look("set up two-step sign-in, refused")
        send(page, code=app.code())
        look("backup codes, offered")
        send(page)
        look("backup codes")
        for name in ("security", "security/authenticator", "security/codes"):
            page.goto(f"{acme.address}/account/{name}")
            look(f"account, {name}")
        with acme.active():
            Session.objects.update(second_factor_at=timezone.now() - timedelta(minutes=6))
        page.goto(f"{acme.address}/account/password")
        look("confirm")
        page.context.clear_cookies()
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        look("second factor")
        send(page, code="000000")
        look("second factor, refused")
        page.goto(f"{acme.address}/sign-in/second-factor?with=BackupCode")
        look("second factor, backup code")
        page.goto(f"{acme.address}/sign-in/recovery")
        look("recovery code")
        send(page, identifier="nobody", code="AAAA-AAAA-AAAA-AAAA")
        look("recovery code, refused")

    def test_of_a_mailed_second_factor(self, acme, page, look):
        codes.reachable(acme)
        factors.switch_on(acme, "EmailVerificationCode")
        user = acme.user(email=new_email(), email_verified=True)
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=True)
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        look("second factor by email")
        send(page)
        look("second factor by email, sent")
        send(page, code=message_to(user.email)["code"])
        expect(page).to_have_url(re.compile("/account"))

    def test_of_signing_in(self, acme, page, look):
        codes.reachable(acme)
        with acme.active():
            connectors.create(
                connector_id="google",
                type="Social",
                config={"client_id": "x", "client_secret": "y"},
                enabled=True,
                is_proven=True,
            )
        experience(
            acme,
            branding={"primary_color": "#ffff00"},
            sign_up={"identifiers": ["username", "email"], "verify": False},
            password_policy={"strength_meter": True},
        )
        user = acme.user(email=new_email(), name="Wolfeschlegelsteinhausenbergerdorff " * 3)
        client = acme.application(
            name="An application with a name of some sixty characters or so", is_third_party=True
        )

        start(page, client)
        look("sign in")
        send(page, identifier=user.username, password="not this one")
        look("sign in, refused")
        start(page, client)
        sign_in(page, user)
        look("consent")
        start(page, client, prompt="select_account")
        look("select account")
        page.goto(f"{acme.address}/register")
        look("register, prove the email")
        page.goto(f"{acme.address}/register?without=email")
        look("register")
        for password in ("monkey", "zebrafinch9", "another good one 2"):
            page.locator("[name=password]").fill(password)
            expect(page.locator(".strength [role=status]")).not_to_be_empty()
            look(f"register, with the password {password}")
            page.locator("[name=password]").fill("")
        send(page, username="a b", password="x")
        look("register, refused")
        page.goto(f"{acme.address}/nothing")
        look("nothing there")
        page.goto(f"{acme.address}/oidc/authorize?client_id=unknown")
        look("a link that does not work")
        page.goto(f"{acme.address}/oidc/end-session")
        look("sign out")
        send(page)
        look("signed out")

    def test_of_own_texts_and_the_checkbox_for_the_terms(self, acme, page, look):
        texts = {
            "sign_in_heading": "Welcome to {application}",
            "sign_in_introduction": "For members of {tenant}",
            "register_heading": "Join {tenant}",
            "help_line": "Questions? Ask " * 12,
            "support_url": "https://acme.example/help",
        }
        with acme.active():
            experiences.change(
                {
                    "sign_up": {"agree_to_terms": "manual"},
                    "terms_of_use_url": "https://acme.example/terms",
                    "privacy_policy_url": "https://acme.example/privacy",
                    "page_texts": [{"key": key, "language": "", "text": text} for key, text in texts.items()],
                },
                is_proven=True,
            )

        page.goto(f"{acme.address}/sign-in")
        look("sign in")
        page.goto(f"{acme.address}/register")
        look("register")
        page.locator("[name=agreed_to_terms]").evaluate("box => box.form.noValidate = true")
        send(page, username="ada", password="another good one 2")
        expect(page.locator("[name=agreed_to_terms]")).to_be_focused()
        look("register, refused")

    def test_of_codes(self, acme, page, look):
        codes.reachable(acme)
        address = new_email()
        acme.user(email=address)

        page.goto(f"{acme.address}/sign-in/code")
        look("where to send a code")
        send(page, identifier="somebody")
        look("where to send a code, refused")
        page.goto(f"{acme.address}/forgot-password")
        send(page, identifier=address)
        look("the code")
        send(page, code="000000")
        look("the code, refused")
        send(page, code=message_to(address)["code"])
        look("new password")
        send(page, new_password="short")
        look("new password, refused")
        send(page, new_password="another good one 2")
        look("password changed")

    def test_of_the_account(self, acme, page, look):
        codes.reachable(acme)
        experience(acme, account={"deletion": True, "username_change": True})
        user = acme.user(email=new_email())
        acme.browser().sign_in(user)
        acme.application(name="Payroll").tokens_for(user)

        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        look("account")
        for name in (
            *("profile", "username", "email", "phone", "password", "browsers", "applications", "linked"),
            *("activity", "language"),
            *("data", "delete"),
        ):
            page.goto(f"{acme.address}/account/{name}")
            look(name)
        page.goto(f"{acme.address}/account/password")
        send(page, password="wrong", new_password="x")
        look("password, refused")
        page.goto(f"{acme.address}/account/email")
        send(page, identifier=new_email(), password=PASSWORD)
        look("the code for an email address")
        send(page, code="000000")
        look("the code for an email address, refused")
        page.goto(f"{acme.address}/account/phone")
        send(page, identifier=new_phone(), password=PASSWORD)
        look("the code for a phone number")

    def test_of_accounts_elsewhere(self, acme, page, look):
        with acme.active():
            github = connectors.create(
                connector_id="github",
                type="Social",
                config={"client_id": "x", "client_secret": "y"},
                enabled=True,
                is_proven=True,
            )
            user = acme.user()
            known = Profile(provider="https://github.com", subject="1", email=f"{'a' * 60}@example.com")
            identities.link(user, known, github, "GitHub")
        page.goto(f"{acme.address}/sign-in")
        # What the link leads to, with the browser's cookies; github.com itself is out of reach.
        href = page.get_by_role("link", name="GitHub").get_attribute("href") or ""
        answer = page.request.get(urljoin(page.url, href), max_redirects=0)
        declined = {"state": query_of(answer.headers["location"])["state"], "error": "access_denied"}
        page.goto(f"{acme.address}/social/callback/{github.pk}?{urlencode(declined)}")
        look("declined")
        page.goto(f"{acme.address}/social/callback?state=unknown")
        look("a trip that nobody began")
        page.goto(f"{acme.address}/sign-in")
        with page.expect_navigation():
            page.evaluate("location.assign('social/nothing')")
        look("a provider that is not there")
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        page.goto(f"{acme.address}/account/linked")
        look("linked")

    def test_of_an_application_that_says_who_runs_it(self, acme, page, look):
        client = acme.application(name="Photo Prints", is_third_party=True)
        links = dict.fromkeys(
            ("client_uri", "policy_uri", "tos_uri", "initiate_login_uri"), "https://rp.example/x"
        )
        with acme.active():
            described = links | {"logo_uri": "https://rp.example/logo.png", "contacts": ["help@rp.example"]}
            applications.change(client.application, described, is_proven=True)
        page.route(
            "**/gatehouse/form_post*", lambda route: route.fulfill(content_type="text/javascript", body="")
        )

        start(page, client, response_mode="form_post")
        sign_in(page, acme.user())
        look("consent with links")
        with page.expect_navigation():
            page.locator("button[value=allow]").click()
        look("form post")
        page.goto(f"{acme.address}/account/applications")
        look("connected application with links")
