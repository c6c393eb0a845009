"""The operators' site as a console: its navigation, search, empty lists, first steps and dangers."""

import re
from html import unescape

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import Client

from config.single_sign_on import Provider
from identity.organizations.models import Organization
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.experience import services as experiences
from management.site.navigation import SECTIONS
from tests.support import operators
from tests.support.admin_pages import operate
from tests.support.operators import Operator, administrator, text_of

USERS = "/admin/users/user/"


def texts(page: str, tag: str) -> list[str]:
    """The texts of all elements of a kind, without the tags inside them."""
    found = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", page, re.DOTALL)
    return [unescape(re.sub(r"<[^>]+>", " ", text)).strip() for text in found]


def search(operator, text):
    page = operator.get("/admin/search/", params={"q": text}).text
    return page[page.index('<div id="hits">') :]


class TestNavigation:
    def test_the_sidebar_has_every_section_in_order_and_marks_the_current_page(self, acme, operator):
        page = operator.get("/admin/resources/scope/").text

        (sidebar,) = re.findall(r'<nav class="side".*?</nav>', page, re.DOTALL)
        names = [unescape(text) for text in re.findall(r'title="([^"]*)"', sidebar)]
        assert names == ["Dashboard", *SECTIONS]
        current = re.search(r'<a href="([^"]*)" aria-current="page">Scopes', sidebar)
        assert current is not None
        assert current[1] == "/admin/resources/scope/"
        assert '<a href="/admin/roles/role/">Roles</a>' in sidebar

    def test_settings_of_the_installation_are_only_there_for_superusers(self, acme):
        limited = operators.at(acme, administrator(tenants=[acme.tenant.slug]))

        page = limited.get("/admin/keys/signingkey/").text

        assert "/admin/oidc_settings/oidcsettings/" in page
        assert "/admin/administrators/administrator/" not in page

    def test_the_members_of_an_organization_are_reached_from_its_page(self, acme, operator):
        with acme.active():
            organization = Organization.objects.create(name="Chapter & Co")

        page = operator.get("/admin/organizations/membership/").text

        assert "Members" not in texts(operator.get(USERS).text, "a")
        assert organization.name not in page
        assert 'aria-current="true"' in page  # the section, whose sidebar has no such list


class TestLists:
    def test_an_empty_list_offers_what_to_do_and_no_search(self, acme, operator):
        page = operator.get(USERS).text

        assert "Nothing here yet" in texts(page, "h2")
        assert texts(page, "a").count("Create user") == 2  # above, and in the card
        assert 'id="searchbar"' not in page
        assert 'class="filters"' not in page
        assert ACTION_CHECKBOX_NAME not in page

    def test_a_search_that_finds_nobody_says_so(self, acme, operator):
        acme.user("ada")

        page = operator.get(USERS, params={"q": "<zz>"}).text

        assert "Nothing matches \N{LEFT SINGLE QUOTATION MARK}<zz>" in " ".join(texts(page, "h2"))
        assert "Clear the search" in texts(page, "a")
        assert 'id="searchbar"' in page

    def test_the_log_keeps_its_filters_when_nothing_matches_them(self, acme, operator):
        page = operator.get("/admin/audit/entry/?when=hour&result=failed").text

        assert 'class="filters"' in page
        assert "Failed" in page

    def test_flags_are_words_and_labels_have_their_capitals(self, acme, operator):
        user = acme.user(email="ada@acme.example")
        acme.application("SPA", name="Shop")
        path = f"{USERS}{user.pk}/change/"

        page, listed = operator.get(path).text, operator.get("/admin/applications/application/").text

        assert '<span class="badge warning">Unverified</span>' in page
        assert '<span class="badge good">Active</span>' in page
        assert '<span class="badge quiet">No</span>' in listed
        assert "SPA" in listed
        assert "Spa<" not in listed
        assert "icon-no" not in page + listed
        assert texts(page, "dt")[-1] == "ID"
        assert f'data-copy-text="{user.pk}"' in page

    def test_columns_with_names_of_programmers_have_labels_for_people(self, acme, operator):
        user = acme.user()
        acme.browser().sign_in(user)

        labels = texts(operator.get(f"{USERS}{user.pk}/change/").text, "dt")
        listed, sessions = operator.get(USERS).text, operator.get("/admin/identity_sessions/session/").text

        assert {"Last sign-in", "Number of sign-ins", "Registered by the user"} <= set(labels)
        assert "<summary>Registered by the user" in listed
        assert "<summary>Signed in at" in sessions

    def test_an_operation_is_named_after_its_row_and_dangers_come_last(self, acme, operator):
        user = acme.user(name='Ada "<b>" {name}')
        path = f"{USERS}{user.pk}/"

        row = operator.get(f"{path}change/").text
        form = operator.get(f"{path}do/delete/").text

        assert 'Delete Ada "<b>" {name}?' in texts(form, "h1")
        assert 'value="Delete Ada &quot;&lt;b&gt;&quot; {name}"' in form
        assert row.index("Edit user") < row.index("Danger zone") < row.index("do/delete/")
        assert row.index("Danger zone") < row.index("do/suspend/")

    def test_what_was_created_is_shown_and_a_new_tenant_can_be_chosen(self, acme, operator):
        user = operate(operator, "users/user", None, "create", username="new", password="quite long enough")
        slug = f"made-{operator.who.pk}"
        tenant = operate(operator, "tenants/tenant", None, "create", slug=slug, name="Made")

        assert re.fullmatch(rf"{USERS}[^/]+/change/", user.headers["Location"])
        page = operator.get(tenant.headers["Location"]).text
        assert 'value="Go to Made"' in page
        chosen = operator.submit("/admin/tenant/", page=tenant.headers["Location"])
        assert chosen.headers["Location"] == "/admin/"
        assert "<h1>Made</h1>" in operator.get("/admin/").text


class TestMany:
    @pytest.fixture
    def people(self, acme):
        return [acme.user() for _ in range(10)]

    def send(self, operator, people, **more):
        page = operator.get(USERS).text
        (token, *_) = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        ids = [str(user.pk) for user in people]
        sent = {"csrfmiddlewaretoken": token, "action": "delete", ACTION_CHECKBOX_NAME: ids}
        return operator.http.post(USERS, data={**sent, "drawn_for": operator.tenant, **more})

    def test_ten_are_deleted_only_after_their_number_was_typed(self, acme, operator, people):
        asked = self.send(operator, people)
        refused = self.send(operator, people, confirmed="yes", number="9")

        with acme.active():
            assert User.objects.count() == 10
        assert "Type 10 to confirm" in asked.text
        assert (refused.status_code, "Type 10 to confirm." in refused.text) == (400, True)

        done = self.send(operator, people, confirmed="yes", number=" 10 ")

        with acme.active():
            assert done.status_code == 303
            assert not User.objects.exists()

    def test_nine_need_no_number(self, acme, operator, people):
        assert "to confirm" not in self.send(operator, people[:9]).text
        self.send(operator, people[:9], confirmed="yes")

        with acme.active():
            assert User.objects.count() == 1


class TestFirstSteps:
    def steps(self, operator):
        page = operator.get("/admin/").text
        done = re.findall(r'<li class="done">.*?<span>([^<]+) <span', page)
        left = re.findall(r'<li><svg.*?<a href="([^"]+)">([^<]+)</a><br>', page)
        return done, left

    def test_are_ticked_from_what_the_tenant_has(self, acme):
        operator = operators.at(acme, administrator(tenants=[acme.tenant.slug]))
        done, left = self.steps(operator)
        assert done == []
        assert [name for _, name in left] == [
            "Register an application", "Set up email", "Choose how users sign in",
            "Add your logo and colour", "Turn on two-step sign-in",
        ]  # fmt: skip
        assert [operator.get(unescape(href)).status_code for href, _ in left] == [200] * 5

        acme.application()
        with acme.active():
            connectors.create(
                connector_id="outbox-email", type="Email", config={}, enabled=True, is_proven=True
            )
            row = experiences.current()
            branding = {**row.branding, "primary_color": "#0a84ff"}
            experiences.change(
                {"branding": branding, "sign_up": {**row.sign_up, "verify": True}}, is_proven=True
            )

        done, left = self.steps(operator)
        assert [name for _, name in left] == ["Turn on two-step sign-in"]
        assert len(done) == 4

    def test_say_that_everyone_can_register_until_that_is_turned_off(self, acme, operator):
        warning = "Everyone who reaches the sign-in page can create an account."
        page = operator.get("/admin/").text
        assert warning in page
        (href,) = re.findall(rf'{warning} <a href="([^"]+)">Turn this off in', page)
        assert "Sign-up" in operator.get(href).text

        with acme.active():
            experiences.change({"sign_up": {"identifiers": []}}, is_proven=True)

        assert warning not in operator.get("/admin/").text

    def test_an_auditor_is_asked_for_nothing_but_a_second_step(self, acme):
        auditor = operators.at(acme, administrator(role="auditor", tenants=[acme.tenant.slug]))

        _, left = self.steps(auditor)

        assert [name for _, name in left] == ["Turn on two-step sign-in"]

    def test_there_are_no_empty_charts(self, acme, operator):
        page = operator.get("/admin/").text

        assert "<figure" not in page
        assert "Charts appear here" in page


class TestSearch:
    def test_finds_users_applications_and_organizations_by_name_and_id(self, acme, operator):
        user = acme.user("findme-1", name="Ada Lovelace")
        client = acme.application(name="Lovelace Shop")
        with acme.active():
            organization = Organization.objects.create(name="Lovelace & Co", description="A chapter")

        found = search(operator, "LOVELACE")

        for row, kind in ((user, "users/user"), (client.application, "applications/application")):
            assert f"/admin/{kind}/{row.pk}/change/" in found
            assert f"/admin/{kind}/{row.pk}/change/" in search(operator, str(row.pk))
        assert f"/admin/organizations/organization/{organization.pk}/change/" in found
        assert "findme-1" in found
        assert f"/{client.application.pk}/change/" in search(operator, client.client_id)

    def test_never_finds_what_another_tenant_owns(self, acme, rival, operator):
        user, client = rival.user("findme-2", name="Hidden Person"), rival.application(name="Hidden Shop")
        with rival.active():
            organization = Organization.objects.create(name="Hidden Chapter")

        ids = [str(row.pk) for row in (user, client.application, organization)]
        found = "".join(search(operator, text) for text in ("hidden", "findme-2", client.client_id, *ids))

        assert "/change/" not in found
        assert "Hidden" not in found

    def test_finds_pages_actions_and_references(self, acme, operator):
        reference = acme.browser().sign_in(acme.user("ada"), "wrong").headers["X-Request-Id"]

        assert "/admin/keys/signingkey/" in search(operator, "signing keys")
        assert "/admin/users/user/do/create/" in search(operator, "create user")
        assert f"/admin/why/?reference={reference}" in search(operator, reference)

    @pytest.mark.parametrize("has_more", [True, False])
    def test_finds_the_pages_of_the_menu_of_the_account(self, acme, settings, has_more):
        settings.EMAIL_HOST = "mail.example.com" if has_more else ""
        issuer = "https://sso.example" if has_more else ""
        settings.ADMIN_OIDC = Provider(issuer, "client", "secret", "Example", "own", ())
        here = Operator(administrator(), Client())  # in this process, which has the settings
        here.sign_in()
        here.choose(acme)

        shown = text_of(here.get("/admin/search/"))

        (menu,) = re.findall(r'<div class="panel-over">.*?</ul>', shown, re.DOTALL)
        found = shown[shown.index('<div id="hits">') :]
        pages = re.findall(r'href="(/admin/[^"]+)"', menu)
        assert len(pages) == (6 if has_more else 4)
        assert [page for page in pages if f'href="{page}"' not in found] == []

    def test_offers_only_what_the_role_allows(self, acme):
        auditor = operators.at(acme, administrator(role="auditor", tenants=[acme.tenant.slug]))

        everything = search(auditor, "")

        assert "/do/" not in everything
        assert "/admin/tenants/" not in everything
        assert USERS in everything

    @pytest.mark.parametrize("text", ["SMTP", "acme mail", "email", "smtp"])
    def test_finds_a_connector_by_the_name_that_is_shown(self, acme, rival, operator, text):
        config = {"host": "mail.acme.example", "from_email": "id@acme.example"}
        for world in (acme, rival):
            with world.active():
                connectors.create(connector_id="smtp", type="Email", config=config, is_proven=True)
                row = connectors.create(
                    connector_id="oidc",
                    type="Social",
                    config={"issuer": "https://id.example.com", "client_id": "a", "client_secret": "b"}
                    | {"display_name": "Acme mail"},
                    is_proven=True,
                )

        hits = search(operator, text)

        names = [" ".join(name.split()) for name in texts(hits, "a")]
        assert ("Acme mail Sign-in" if text == "acme mail" else "SMTP Email") in names
        assert hits.count("/admin/connectors/connector/0") == 1
        assert str(row.pk) not in hits

    @pytest.mark.parametrize("text", ["", "a", "ab", "%", "'", "<script>", "\ud7ff", "x" * 1500, " "])
    def test_takes_any_text(self, acme, operator, text):
        acme.user("ab")

        answer = operator.get("/admin/search/", params={"q": text})

        assert answer.status_code == 200
        assert "/change/" not in answer.text

    def test_is_for_people_who_are_signed_in(self, acme):
        stranger = operators.Operator(administrator())

        answer = stranger.get("/admin/search/?q=ada")

        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/admin/login/")
