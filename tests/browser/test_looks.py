"""Users' pages in a real browser: they fit, can be read, and obey no hostile text."""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from interaction.experience.models import SignInExperience
from tests.support.callback import Site
from tests.support.cast import World
from tests.support.contrast import POOR_CONTRASTS
from tests.support.journeys import shows, sign_in, start
from tests.support.screens import Screens


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
