"""The branding of an application or an organization, on the pages of a sign-in that names it."""

import html
import re
import uuid

import pytest

from audit.models import Entry
from interaction.experience.models import OwnedPicture, StoredPicture
from tests.support import cast, management
from tests.support.cast import signed_in
from tests.support.management import refusal_of, result_of
from tests.support.pages import opened
from tests.support.pictures import SVG, data_url, png
from tests.support.statement_costs import Inside, cost

LOGO = "https://cdn.example.com/{}.svg"
TENANT = {"logo_url": LOGO.format("tenant"), "primary_color": "#111111", "layout": "split"}


@pytest.fixture
def admin(acme):
    caller = management.superuser(acme)
    result_of(caller.patch("/sign-in-experience", branding=TENANT))
    return caller


@pytest.fixture
def shop(acme, admin):
    """An application with a logo and a colour."""
    client = acme.application(name="Shop")
    brand(admin, client, logo_url=LOGO.format("shop"), primary_color="#00aa00")
    return client


def brand(admin, client, **branding):
    return result_of(admin.patch(f"/applications/{client.application.pk}", branding=branding))


def organization(admin, **branding):
    return str(admin.created("/organizations", name="Northwind", branding=branding)["id"])


def logos(page):
    """The logos of the header; that of the coloured half has no text."""
    return re.findall(r'<img src="([^"]+)" alt="[^"]+" referrerpolicy', page.text)


def stylesheet(page):
    (path,) = re.findall(r'href="([^"]+brand\.css[^"]*)"', page.text)
    return html.unescape(path)


def css(world, page):
    return world.get(stylesheet(page).removeprefix(f"/t/{world.tenant.slug}")).text


def price(world, client, **parameters):
    """Return what the page of a sign-in costs in statements: reads, then writes."""
    browser, inside = world.browser(), Inside(world)
    browser.authorize(client, **parameters)
    inside.http.cookies.load({cookie.name: cookie.value for cookie in browser.http.cookies.jar})
    inside.get("/.well-known/openid-configuration")  # the worker knows the tenant from now on
    inside.get("/sign-in")  # and has compiled its statements
    return cost(lambda: inside.get("/sign-in"), 200)


def count(world, model):
    with world.active():
        return model.objects.count()


class TestAnApplicationsBranding:
    def test_decision_X18_replaces_the_members_that_it_sets_and_no_others(self, acme, shop):
        page = opened(acme.browser(), shop)

        assert logos(page) == [LOGO.format("shop")]
        assert "--brand:#00aa00" in css(acme, page)
        assert '<body class="split"' in page.text

    def test_is_on_every_page_of_the_sign_in(self, acme, shop, reachable):
        browser = acme.browser()
        browser.authorize(shop)

        for path in ("/sign-in", "/sign-in/code", "/register", "/forgot-password"):
            assert logos(browser.get(path)) == [LOGO.format("shop")], path

    def test_is_on_the_pages_for_consent_and_for_the_account(self, acme, shop):
        browser, _ = signed_in(acme)

        for prompt in ("consent", "select_account"):
            assert logos(opened(browser, shop, prompt=prompt)) == [LOGO.format("shop")], prompt

    def test_is_for_front_ends_too(self, acme, shop):
        browser = acme.browser()
        browser.authorize(shop)

        branding = browser.get("/api/interaction/sign-in-experience").json()["result"]["branding"]
        assert (branding["logo_url"], branding["layout"]) == (LOGO.format("shop"), "split")

    def test_is_on_no_page_of_another_application_or_of_none(self, acme, shop):
        other = opened(acme.browser(), acme.application())
        none = acme.get("/sign-in")

        for page in (other, none):
            assert logos(page) == [LOGO.format("tenant")]
            assert stylesheet(page).endswith("/brand.css")
            assert "#111111" in css(acme, page)

    def test_decision_X18_of_a_third_party_is_never_shown(self, acme, admin):
        client = acme.application(is_third_party=True)
        brand(admin, client, logo_url=LOGO.format("stranger"), primary_color="#00aa00")

        page = opened(acme.browser(), client)

        assert "stranger" not in page.text
        assert "#111111" in css(acme, page)

    def test_with_a_light_member_replaces_the_dark_one(self, acme, admin, shop):
        dark = {"dark_logo_url": LOGO.format("night"), "dark_primary_color": "#222222"}
        result_of(admin.patch("/sign-in-experience", branding=dark))

        page = opened(acme.browser(), shop)

        assert "night" not in page.text
        assert css(acme, page).count("#00aa00") == 2
        assert "#222222" not in css(acme, page)

    def test_costs_no_statement(self, acme, shop):
        assert price(acme, shop) == price(acme, acme.application())


class TestAnOrganizationsBranding:
    def test_decision_X18_wins_over_the_applications_member_by_member(self, acme, admin, shop):
        northwind = organization(admin, primary_color="#aa0000")

        page = opened(acme.browser(), shop, organization_id=northwind)

        assert logos(page) == [LOGO.format("shop")]
        assert "--brand:#aa0000" in css(acme, page)
        assert '<body class="split"' in page.text

    def test_of_another_tenant_changes_nothing(self, acme, shop):
        beta = cast.new_world("Beta")
        foreign = organization(management.superuser(beta), logo_url=LOGO.format("beta"))

        page = opened(acme.browser(), shop, organization_id=foreign)

        assert logos(page) == [LOGO.format("shop")]

    @pytest.mark.parametrize("unknown", [str(uuid.uuid4()), "x", "0", "../../x", "%00"])
    def test_decision_X18_that_is_unknown_looks_like_one_without_branding(self, acme, admin, shop, unknown):
        plain = organization(admin)

        first = opened(acme.browser(), shop, organization_id=plain)
        second = opened(acme.browser(), shop, organization_id=unknown)

        assert logos(first) == logos(second) == [LOGO.format("shop")]
        assert stylesheet(first) == stylesheet(second)

    def test_costs_one_statement(self, acme, admin, shop):
        northwind = organization(admin, primary_color="#aa0000")
        reads, writes = price(acme, shop)

        assert price(acme, shop, organization_id=northwind) == (reads + 1, writes)


class TestTheStylesheet:
    def test_names_its_colours_and_has_an_etag_of_them(self, acme, shop):
        path = stylesheet(opened(acme.browser(), shop)).removeprefix(f"/t/{acme.tenant.slug}")
        first = acme.get(path)

        assert path == "/brand.css?primary_color=%2300aa00&dark_primary_color="
        assert acme.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
        assert acme.get("/brand.css").headers["ETag"] != first.headers["ETag"]

    @pytest.mark.parametrize(
        "text", ["red", "#fff}body{display:none", "url(https://x.example)", "#fff;--x:1"]
    )
    def test_has_nothing_but_colours_of_its_query(self, acme, text):
        query = {"primary_color": text, "dark_primary_color": text}
        answer = acme.get("/brand.css", params=query)

        assert (answer.status_code, answer.text) == (200, "")


class TestTheApi:
    @pytest.mark.parametrize("path", ["/applications", "/organizations"])
    def test_merges_members_and_empties_them(self, admin, path):
        created = admin.created(path, **fields(path), branding={"primary_color": "#abc"})
        row = f"{path}/{created['id']}"
        empty = dict.fromkeys(
            ("logo_url", "dark_logo_url", "favicon", "primary_color", "dark_primary_color", "layout"), ""
        )
        assert created["branding"] == empty | {"primary_color": "#abc"}

        changed = result_of(admin.patch(row, branding={"layout": "plain"}))
        assert changed["branding"] == empty | {"primary_color": "#abc", "layout": "plain"}
        assert result_of(admin.get(row))["branding"] == changed["branding"]
        listed = next(each for each in result_of(admin.get(path))["data"] if each["id"] == created["id"])
        assert listed["branding"] == changed["branding"]

        cleared = result_of(admin.patch(row, branding={"primary_color": "", "layout": ""}))
        assert cleared["branding"] == empty

    @pytest.mark.parametrize("path", ["/applications", "/organizations"])
    @pytest.mark.parametrize(
        ("member", "wrong"),
        [
            ("primary_color", "red"),
            ("primary_color", "#fff}body{"),
            ("logo_url", "javascript:alert(1)"),
            ("logo_url", "data:text/html;base64,eA=="),
            ("layout", "wide"),
        ],
    )
    def test_has_the_rules_of_the_tenants(self, admin, path, member, wrong):
        row = f"{path}/{admin.created(path, **fields(path))['id']}"

        for answer in (
            admin.patch(row, branding={member: wrong}),
            admin.post(path, **fields(path), branding={member: wrong}),
        ):
            assert f"branding.{member}" in refusal_of(answer, 400)

    @pytest.mark.parametrize("path", ["/applications", "/organizations"])
    def test_stores_uploads_and_deletes_them_with_the_row(self, acme, admin, path):
        branding = {"logo_url": data_url(png()), "favicon": data_url(SVG)}
        created = admin.created(path, **fields(path), branding=branding)
        row = f"{path}/{created['id']}"
        logo = created["branding"]["logo_url"].removeprefix(acme.address)
        assert acme.get(logo).content == png()
        assert count(acme, OwnedPicture) == 2

        assert result_of(admin.patch(row, branding=created["branding"]))["branding"] == created["branding"]
        result_of(admin.patch(row, branding={"favicon": ""}))
        assert count(acme, OwnedPicture) == 1

        result_of(admin.delete(row))
        assert count(acme, OwnedPicture) == 0
        assert acme.get(logo).status_code == 404

    def test_copies_a_picture_of_another_branding(self, acme, admin):
        tenants = result_of(admin.patch("/sign-in-experience", branding={"logo_url": data_url(png())}))
        row = admin.created(
            "/organizations", name="N", branding={"logo_url": tenants["branding"]["logo_url"]}
        )
        assert row["branding"]["logo_url"] != tenants["branding"]["logo_url"]

        result_of(admin.patch("/sign-in-experience", branding={"logo_url": ""}))

        assert acme.get(row["branding"]["logo_url"].removeprefix(acme.address)).content == png()
        back = {"favicon": row["branding"]["logo_url"]}
        favicon = result_of(admin.patch("/sign-in-experience", branding=back))["branding"]["favicon"]
        result_of(admin.delete(f"/organizations/{row['id']}"))
        assert acme.get(favicon.removeprefix(acme.address)).content == png()
        assert (count(acme, StoredPicture), count(acme, OwnedPicture)) == (1, 0)

    def test_never_takes_another_tenants_picture(self, acme, admin):
        beta = cast.new_world("Beta")
        row = admin.created("/organizations", name="N", branding={"logo_url": data_url(png())})
        path = row["branding"]["logo_url"].removeprefix(acme.address)

        assert beta.get(path).status_code == 404
        for url in (f"{acme.address}{path}", f"{beta.address}{path}"):
            answer = management.superuser(beta).post("/organizations", name="B", branding={"logo_url": url})
            refusal_of(answer, 400)


class TestTheAuditLog:
    @pytest.mark.parametrize("kind", ["tenant", "application", "organization"])
    def test_names_the_members_that_changed(self, acme, admin, shop, kind):
        of_organization = organization(admin, logo_url=LOGO.format("north"))
        path, event = {
            "tenant": ("/sign-in-experience", "SignInExperience.Update"),
            "application": (f"/applications/{shop.application.pk}", "Application.Update"),
            "organization": (f"/organizations/{of_organization}", "Organization.Update"),
        }[kind]

        before = result_of(admin.get(path))["branding"]
        changed = before | {"primary_color": "#0000ff", "favicon": data_url(png())}
        result_of(admin.patch(path, branding=changed))
        assert self.last(acme, event) == ["branding.favicon", "branding.primary_color"]

        unset = {"favicon": "", "logo_url": "", "dark_logo_url": ""}
        result_of(admin.patch(path, branding=unset))
        assert self.last(acme, event) == ["branding.favicon", "branding.logo_url"]

    def last(self, acme, event):
        return (
            Entry.objects.filter(tenant_id=acme.tenant.pk, key=event).latest("created_at").payload["fields"]
        )


def fields(path):
    return {"name": "N"} | ({"type": "SPA"} if path == "/applications" else {})
