"""From an application through our pages and back, in a real browser, with scripts and without."""

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import jwt
import pytest
from playwright.sync_api import Page, expect

from identity.users.models import User
from interaction.experience.models import SignInExperience
from oidc.grants.models import Consent
from tests.support.callback import Site
from tests.support.cast import PASSWORD, RelyingParty, World, query_of
from tests.support.contrast import POOR_CONTRASTS
from tests.support.screens import Screens


def start(page: Page, client: RelyingParty, **parameters: str) -> None:
    """Go to the authorization endpoint, as a link of the application leads there."""
    page.goto(f"{client.world.address}/oidc/authorize?{urlencode(client.request(**parameters))}")


def sign_in(page: Page, user: User, password: str = PASSWORD) -> None:
    page.get_by_label("Username, email or phone").fill(user.username)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def subject(client: RelyingParty, answer: str) -> str:
    """Redeem the code of an answer, and return whom it stands for."""
    assert query_of(answer)["iss"] == client.world.issuer
    tokens = client.redeem(query_of(answer)["code"], redirect_uri=answer_uri(answer, client)).json()
    return str(jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"])


def answer_uri(answer: str, client: RelyingParty) -> str:
    """Return the redirect URI that an answer came to; a path is one of the registered site."""
    uri = re.split(r"[?#]", answer)[0]
    return uri if ":" in uri else client.application.redirect_uris[0]


def shows(page: Page, title: str) -> None:
    """Wait until a page with this heading is there."""
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


@pytest.fixture
def onward(site: Site) -> Iterator[Site]:
    """A second site on another port, to which the first hands the browser on."""
    with Site() as second:
        site.onward = f"{second.origin}/home"
        yield second


class TestSignIn:
    def test_leads_to_the_application_and_wherever_it_sends_the_browser(
        self, acme, screens, site, onward, scripts
    ):
        client, user = acme.application(name="Payroll", redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        shows(page, "Sign in to Payroll")
        sign_in(page, user)
        page.wait_for_url(site.onward)

        shows(page, "You are back")
        assert subject(client, site.answer()) == str(user.pk)

    def test_leads_to_an_application_on_the_web(self, acme, screens, scripts):
        client, user = acme.application(), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        with page.expect_request("https://rp.example/callback?**") as back:  # out of reach
            sign_in(page, user)

        assert subject(client, back.value.url) == str(user.pk)

    def test_leads_to_a_native_application_at_any_loopback_port(self, acme, screens, site, scripts):
        client, user = acme.application("Native", redirect_uris=["http://127.0.0.1/callback"]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client, redirect_uri=site.callback)
        sign_in(page, user)
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)

    def test_leads_to_a_native_application_at_an_ipv6_address(self, acme, screens, scripts):
        try:
            listening = Site("::1")
        except OSError:
            pytest.skip("this machine has no IPv6 loopback address")
        client, user = acme.application("Native", redirect_uris=["http://[::1]/callback"]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        with listening as site:
            start(page, client, redirect_uri=site.callback)
            sign_in(page, user)
            page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)

    def test_leads_to_a_native_application_with_a_scheme_of_its_own(self, acme, screens, scripts):
        client, user = acme.application("Native", redirect_uris=["com.example.app:/callback"]), acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)

        with page.expect_event(
            "requestfailed", lambda failed: failed.url.startswith("com.example.app:")
        ) as failed:
            sign_in(page, user)  # this machine has no such application: the browser tried, and that is all

        assert subject(client, failed.value.url) == str(user.pk)

    def test_answers_in_the_fragment_when_asked_to(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client, response_mode="fragment")
        sign_in(page, user)
        page.wait_for_url(f"{site.callback}#**")

        assert subject(client, page.url) == str(user.pk)

    def test_a_wrong_password_is_explained_where_people_look(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)

        sign_in(page, user, "wrong")

        expect(page).to_have_title(re.compile("^Error: Sign in"))
        expect(page.get_by_role("alert")).to_contain_text("Wrong username or password.")
        expect(page.get_by_role("alert")).to_be_focused()
        expect(page.get_by_label("Username, email or phone")).to_have_value(user.username)
        expect(page.get_by_label("Password", exact=True)).to_have_value("")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site.callback}?**")
        assert subject(client, page.url) == str(user.pk)

    def test_needs_no_mouse(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        expect(page.get_by_label("Username, email or phone")).to_be_focused()
        page.keyboard.type(user.username)
        page.keyboard.press("Tab")
        expect(page.get_by_label("Password", exact=True)).to_be_focused()
        page.keyboard.type(PASSWORD)
        if scripts:
            page.keyboard.press("Tab")
            expect(page.get_by_role("button", name="Show password")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_focused()
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)

    def test_each_of_two_tabs_ends_where_it_began(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        first = screens.open(java_script_enabled=scripts)
        second = first.context.new_page()
        start(first, client, state="first")
        start(second, client, state="second")

        for page, state in ((first, "first"), (second, "second")):
            sign_in(page, user)
            page.wait_for_url(f"{site.callback}?**")
            assert query_of(page.url)["state"] == state

    def test_of_somebody_who_is_signed_in_shows_no_page_of_ours(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, user)
        page.wait_for_url(f"{site.callback}?**")

        start(page, client, prompt="none", state="again")

        assert query_of(page.url)["state"] == "again"
        assert subject(client, page.url) == str(user.pk)

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_a_form_of_another_site_finds_the_session(self, acme, screens, site, scripts, method):
        """Browsers keep SameSite=Lax cookies from a POST across sites."""
        site.origin = site.origin.replace("127.0.0.1", "localhost")  # another site than ours
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        fields = "".join(f'<input name="{n}" value="{v}">' for n, v in client.request(prompt="none").items())
        action = f"{acme.address}/oidc/authorize"
        site.pages["/start"] = f'<form method="{method}" action="{action}">{fields}<button>Go</button></form>'
        page = screens.open(java_script_enabled=scripts)
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        shows(page, "Your account")
        page.goto(f"{site.origin}/start")

        page.get_by_role("button").click()
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)

    def test_a_long_form_of_another_site_keeps_other_tabs_and_finds_the_session(self, acme, screens, site):
        site.origin = site.origin.replace("127.0.0.1", "localhost")  # another site than ours
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        sent, action = client.request(state="x" * 9_000), f"{acme.address}/oidc/authorize"
        fields = "".join(f'<input name="{name}" value="{value}">' for name, value in sent.items())
        site.pages["/start"] = f'<form method="post" action="{action}">{fields}<button>Go</button></form>'
        page = screens.open()
        start(page, client)
        other = page.context.new_page()
        other.goto(f"{site.origin}/start")

        other.get_by_role("button").click()
        other.wait_for_url("**/sign-in?**")
        sign_in(page, user)
        page.wait_for_url(f"{site.callback}?**")
        other.goto(f"{site.origin}/start")
        other.get_by_role("button").click()
        other.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)
        assert subject(client, other.url) == str(user.pk)


class TestScripts:
    def test_the_password_can_be_looked_at_and_is_hidden_again(self, acme, screens):
        page = screens.open()
        page.goto(f"{acme.address}/sign-in")
        password = page.get_by_label("Password", exact=True)
        password.fill("secret")

        page.get_by_role("button", name="Show password").click()
        expect(password).to_have_attribute("type", "text")
        expect(page.get_by_role("status")).to_have_text("Your password is visible")

        page.get_by_role("button", name="Hide password").click()
        expect(password).to_have_attribute("type", "password")

    def test_a_double_click_sends_once(self, acme, screens, site):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open()
        posts: list[str] = []
        page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
        start(page, client)
        page.get_by_label("Username, email or phone").fill(user.username)
        page.get_by_label("Password", exact=True).fill(PASSWORD)

        page.get_by_role("button", name="Sign in", exact=True).dblclick(no_wait_after=True)
        page.wait_for_url(f"{site.callback}?**")

        assert len(posts) == 1
        assert subject(client, page.url) == str(user.pk)

    def test_without_them_nothing_is_there_that_does_nothing(self, acme, screens):
        page = screens.open(java_script_enabled=False)

        page.goto(f"{acme.address}/sign-in")

        expect(page.get_by_role("button")).to_have_count(1)

    def test_without_them_a_double_click_ends_well(self, acme, screens, site):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=False)
        start(page, client)
        page.get_by_label("Username, email or phone").fill(user.username)
        page.get_by_label("Password", exact=True).fill(PASSWORD)

        page.get_by_role("button", name="Sign in", exact=True).dblclick(no_wait_after=True)
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)


class TestConsent:
    def test_allow_leads_back_with_a_code_and_is_remembered(self, acme, screens, site, onward, scripts):
        client = acme.application(name="Photo Prints", redirect_uris=[site.callback], is_third_party=True)
        user = acme.user(name="Alice Example")
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        sign_in(page, user)
        shows(page, "Allow Photo Prints to use your account?")
        expect(page.get_by_text("Alice Example")).to_be_visible()
        page.get_by_role("button", name="Allow").click()
        page.wait_for_url(site.onward)
        start(page, client, state="again")

        assert page.url == site.onward
        assert query_of(site.answer())["state"] == "again"
        assert subject(client, site.answer()) == str(user.pk)

    def test_deny_leads_back_with_an_error(self, acme, screens, site, onward, scripts):
        client = acme.application(redirect_uris=[site.callback], is_third_party=True)
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user())

        page.get_by_role("button", name="Deny").click()
        page.wait_for_url(site.onward)

        assert query_of(site.answer())["error"] == "access_denied"
        with acme.active():
            assert not Consent.objects.exists()

    def test_not_you_leads_to_another_sign_in(self, acme, screens, site, scripts):
        client = acme.application(redirect_uris=[site.callback], is_third_party=True)
        bob = acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user())

        page.get_by_role("link", name="Not you?").click()
        sign_in(page, bob)
        page.get_by_role("button", name="Allow").click()
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(bob.pk)

    def test_needs_no_mouse(self, acme, screens, site, scripts):
        client = acme.application(redirect_uris=[site.callback], is_third_party=True)
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user())

        expect(page.get_by_role("button", name="Allow")).to_be_visible()
        for name in ("Not you?", "Allow", "Deny"):
            page.keyboard.press("Tab")
            expect(page.locator(":focus")).to_have_text(name)
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Space")
        page.wait_for_url(f"{site.callback}?**")

        assert "code" in query_of(page.url)


class TestSelectAccount:
    def test_continue_and_another_account(self, acme, screens, site, scripts):
        client = acme.application(redirect_uris=[site.callback])
        alice, bob = acme.user(name="Alice Example"), acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, alice)
        page.wait_for_url(f"{site.callback}?**")

        start(page, client, prompt="select_account")
        page.get_by_role("button", name="Alice Example").click()
        page.wait_for_url(f"{site.callback}?**")
        assert subject(client, page.url) == str(alice.pk)

        start(page, client, prompt="select_account")
        page.get_by_role("button", name="Use another account").click()
        sign_in(page, bob)
        page.wait_for_url(f"{site.callback}?**")
        assert subject(client, page.url) == str(bob.pk)


class TestSignOut:
    def test_asks_first_and_leads_to_where_the_application_wants(self, acme, screens, site, scripts):
        client = acme.application(name="Payroll", redirect_uris=[site.callback])
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user())
        page.wait_for_url(f"{site.callback}?**")
        query = {
            "client_id": client.client_id,
            "post_logout_redirect_uri": f"{site.origin}/bye",
            "state": "s",
        }

        page.goto(f"{acme.address}/oidc/end-session?{urlencode(query)}")
        shows(page, "Sign out of Acme?")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"{site.origin}/bye?state=s")
        start(page, client)

        shows(page, "Sign in to Payroll")

    def test_staying_keeps_the_session(self, acme, screens, scripts):
        user = acme.user()
        page = screens.open(java_script_enabled=scripts)
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        shows(page, "Your account")
        page.goto(f"{acme.address}/oidc/end-session")

        page.get_by_role("link", name="Stay signed in").click()

        shows(page, "Your account")
        expect(page.get_by_text(user.username).first).to_be_visible()

    def test_case_E13_the_back_button_shows_nothing_afterwards(self, acme, screens, scripts):
        user = acme.user(name="Alice Example")
        page = screens.open(java_script_enabled=scripts)
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        expect(page.get_by_text("Alice Example").first).to_be_visible()

        page.get_by_role("button", name="Sign out").click()
        shows(page, "You are signed out")
        page.go_back()

        shows(page, "Sign in to Acme")
        expect(page.get_by_text("Alice Example")).to_have_count(0)
        page.goto(f"{acme.address}/account")
        shows(page, "Sign in to Acme")


class TestSafety:
    def test_case_J07_no_page_appears_in_a_frame(self, acme, screens, site):
        client = acme.application(redirect_uris=[site.callback])
        query = urlencode(client.request())
        site.pages["/frame"] = "".join(
            f'<iframe src="{acme.address}{path}"></iframe>'
            for path in ("/sign-in", f"/oidc/authorize?{query}", "/nothing", "/oidc/end-session", "/account")
        )
        page = screens.open()

        page.goto(f"{site.origin}/frame")
        page.wait_for_load_state("networkidle")

        frames = page.frames[1:]
        assert len(frames) == 5
        assert all(frame.url.startswith("chrome-error:") for frame in frames)
        assert len([text for text in screens.complaints if "frame" in text]) >= 5
        screens.complaints.clear()  # that the browser complains is the point

    def test_case_J10_a_hostile_name_is_read_and_not_obeyed(self, acme, screens, site):
        name = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>'
        client = acme.application(name=name, redirect_uris=[site.callback], is_third_party=True)
        page = screens.open()

        start(page, client, login_hint='"><script>window.owned=1</script>')
        expect(page.get_by_role("heading", level=1)).to_contain_text(name)
        assert page.evaluate("window.owned") is None
        sign_in(page, acme.user(name=name))

        expect(page.get_by_role("heading", level=1)).to_contain_text(name)
        expect(page.locator("main img, main script")).to_have_count(0)
        assert page.evaluate("window.owned") is None

    def test_an_inline_script_would_not_run(self, acme, screens):
        page = screens.open()
        page.goto(f"{acme.address}/sign-in")

        page.evaluate(
            "() => { const s = document.createElement('script'); s.textContent = 'document.title=\"owned\"';"
            " document.head.append(s); }"
        )

        expect(page).not_to_have_title("owned")
        assert any("script-src" in text for text in screens.complaints)
        screens.complaints.clear()  # that the browser complains is the point


def pages_of(world: World, screens: Screens, site: Site, **options: object) -> Iterator[tuple[str, Page]]:
    """Walk through every kind of page, with long names on them."""
    name = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    client = world.application(name=name, redirect_uris=[site.callback], is_third_party=True)
    user = world.user(name="Wolfeschlegelsteinhausenbergerdorff", email=f"{'a' * 60}@{'b' * 60}.example")
    page = screens.open(**options)
    start(page, client)
    yield "sign-in", page
    sign_in(page, user, "wrong")
    expect(page.get_by_role("alert")).to_be_visible()
    yield "refused", page
    sign_in(page, user)
    expect(page.get_by_role("button", name="Allow")).to_be_visible()
    yield "consent", page
    start(page, client, prompt="select_account")
    yield "select-account", page
    start(page, world.application("Native", name=name, redirect_uris=["com.example.app:/cb"]))
    expect(page.get_by_role("button", name="Continue as")).to_be_visible()
    yield "continue", page
    for path in ("account", "oidc/end-session", "nothing"):
        page.goto(f"{world.address}/{path}")
        yield path.replace("oidc/", ""), page
    page.goto(f"{world.address}/account")
    page.get_by_role("button", name="Sign out").click()
    shows(page, "You are signed out")
    yield "signed-out", page


class TestLooks:
    @pytest.mark.parametrize("width", [320, 360, 1280])
    def test_every_page_fits_and_can_be_touched(self, acme, screens, site, width):
        for name, page in pages_of(acme, screens, site, viewport={"width": width, "height": 740}):
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            for control in page.locator("button:visible, input:visible, a.button:visible").all():
                box = control.bounding_box()
                assert box is not None
                assert box["height"] >= 44, (name, control.inner_text())
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("colour", ["", "#ffff00", "#777777"])
    def test_every_text_can_be_read_whatever_the_brand(self, acme, screens, site, scheme, colour):
        """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
        with acme.active():
            experience = SignInExperience.objects.get()
            experience.branding |= {"primary_color": colour}
            experience.save()

        for name, page in pages_of(acme, screens, site, color_scheme=scheme):
            poor = page.evaluate(POOR_CONTRASTS)
            assert poor == [], name

    def test_dark_is_dark(self, acme, screens):
        grounds = []
        for scheme in ("light", "dark"):
            page = screens.open(color_scheme=scheme)
            page.goto(f"{acme.address}/sign-in")
            grounds.append(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))

        assert grounds == ["rgb(244, 245, 247)", "rgb(14, 16, 20)"]
