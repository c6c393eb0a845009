"""What operators see: one tenant at a time, its lists and pages, its log and its numbers."""

import csv
import html
import io
import re
from urllib.parse import quote

import httpx
import pytest
from django.test import Client
from zeal import zeal_context

from audit import context, log
from audit.events import Event
from audit.models import Entry
from identity.sessions import services as sessions
from identity.tenants.models import Tenant
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.verification.models import OutgoingMessage
from management.administrators.models import Administrator, Invitation
from oidc.keys.models import SigningKey
from tests.support import cast, operators
from tests.support.admin_pages import LISTS, SECRET, first_of, furnish
from tests.support.management import result_of, superuser
from tests.support.operators import Operator, address_of, administrator, pages


class TestTenants:
    @pytest.mark.parametrize("path", ["/admin", "/admin/", "/admin/login/", "/admin/users/user/"])
    def test_case_K10_below_a_tenant_there_is_no_such_site(self, acme, path):
        assert acme.get(path).status_code == 404

    def test_the_site_is_found_without_the_last_slash(self, address):
        assert httpx.get(f"{address}/admin").headers["Location"] == "/admin/"

    def test_an_unknown_page_leads_to_the_console_and_not_to_an_account(self, operator):
        answer = operator.get("/admin/nothing/")

        assert answer.status_code == 404
        assert '<a class="button button-primary" href="/admin/">Go to the console</a>' in answer.text
        assert "/account" not in answer.text

    def test_nothing_is_shown_before_one_is_chosen(self, acme, rival):
        operator = Operator(administrator())
        operator.sign_in()

        for path in ("/admin/", *LISTS):
            answer = operator.get(path)
            assert answer.headers["Location"] == f"/admin/tenant/?next={quote(path, safe='')}", path

    def test_who_manages_one_works_there(self, acme):
        operator = Operator(administrator(tenants=[acme.tenant.slug]))
        operator.sign_in()

        shown = operator.get("/admin/").text
        assert acme.tenant.name in shown
        assert f'href="/t/{acme.tenant.slug}/api/docs"' in shown

    def test_only_managed_ones_can_be_chosen(self, acme, rival):
        other = cast.new_world("Third")
        operator = Operator(administrator(tenants=[acme.tenant.slug, other.tenant.slug]))
        operator.sign_in()

        shown = operator.get("/admin/tenant/").text
        refused = operator.submit("/admin/tenant/", tenant=rival.tenant.pk)

        assert acme.tenant.slug in shown
        assert rival.tenant.slug not in shown
        assert refused.status_code == 404

    def test_one_that_is_taken_away_is_left_at_once(self, acme, rival):
        who = administrator(tenants=[acme.tenant.slug, rival.tenant.slug])
        operator = operators.at(rival, who)

        who.tenants.remove(rival.tenant)

        assert rival.tenant.slug not in operator.get("/admin/users/user/").text
        assert acme.tenant.name in operator.get("/admin/").text

    @pytest.mark.parametrize("path", ["/admin/tenants/tenant/", "/admin/administrators/administrator/"])
    def test_installation_wide_pages_are_for_superusers(self, acme, path):
        operator = operators.at(acme, administrator(tenants=[acme.tenant.slug, cast.new_world().tenant.slug]))

        assert operator.get(path).status_code == 403
        assert operator.get(f"{path}do/create/").status_code == 403
        assert path not in operator.get("/admin/").text

    def test_what_another_tenant_owns_is_unknown(self, acme, rival, operator):
        furnish(rival)

        for kind in pages():
            if kind.model in {Tenant, Administrator, Invitation}:  # which belong to no tenant
                continue
            row = first_of(kind, rival)
            assert operator.get(address_of(kind, row.pk, "change")).status_code == 404
            for operation in getattr(kind, "operations", ()):
                assert operator.get(address_of(kind, row.pk, "do", operation.name)).status_code == 404
            assert str(row.pk) not in operator.get(address_of(kind), follow_redirects=True).text


class TestNewTenant:
    def test_superusers_find_the_form_where_they_choose_a_tenant(self, acme, operator):
        href = "/admin/tenants/tenant/do/create/"
        limited = operators.at(acme, administrator(tenants=[acme.tenant.slug]))

        assert f'<a href="{href}">Create tenant</a>' in operator.get("/admin/tenant/").text
        assert href not in limited.get("/admin/tenant/").text

    def test_its_form_asks_for_the_name_first(self, operator):
        page = operator.get("/admin/tenants/tenant/do/create/").text

        assert page.index('name="name"') < page.index('name="slug"')


class TestSettings:
    def test_those_of_tenants_come_first_then_access_to_the_site_then_the_protocol(self, operator):
        page = operator.get("/admin/tenants/tenant/").text

        tabs = re.search(r'<nav class="tabs"[^>]*>(.*?)</nav>', page, re.DOTALL)
        assert tabs
        assert re.findall(r"<a [^>]*>(.*?)</a>", tabs[1]) == [
            "Tenants", "Administrators", "Invitations", "OpenID Connect", "Signing keys",
        ]  # fmt: skip


class TestPages:
    def test_each_list_and_row_is_read_without_a_query_a_row_and_shows_no_secret(self, acme):
        people, applications = furnish(acme)
        operator = Operator(administrator(), Client())
        operator.sign_in()
        operator.choose(acme)
        with acme.active():
            secrets_of_rows = [
                SECRET,
                people[0].password,
                operator.who.password,
                applications[0].application.secret_digest,
                applications[0].secret,
                *SigningKey.objects.values_list("sealed_private_key", flat=True),
                *Connector.objects.values_list("sealed_config", flat=True),
                *OutgoingMessage.objects.values_list("sealed", flat=True),
                *people[0].sessions.values_list("token_hash", flat=True),
            ]

        for kind in pages():
            row = first_of(kind, acme)
            open_now = [
                operation.name
                for operation in operators.operations(kind)
                if operation.needs_row and operation.is_possible(row)
            ]
            paths = [address_of(kind), address_of(kind, row.pk, "change")]
            paths += [f"{address_of(kind)}?q=person"] if kind.search_fields else []
            paths += [address_of(kind, row.pk, "do", name) for name in open_now]
            for path in paths:
                with zeal_context():
                    answer = operator.get(path, follow=True)
                assert answer.status_code == 200, path
                assert [secret for secret in secrets_of_rows if secret in answer.content.decode()] == [], path

    @pytest.mark.parametrize("what", ["add", "{pk}/delete", "{pk}/history", "{pk}/password"])
    def test_django_s_own_forms_are_not_there(self, acme, operator, what):
        user = acme.user()

        assert operator.get(f"/admin/users/user/{what.format(pk=user.pk)}/").status_code == 404

    def test_nothing_is_saved_by_the_page_of_a_row(self, acme, operator):
        user = acme.user(name="Ada")

        answer = operator.submit(
            f"/admin/users/user/{user.pk}/change/", page="/admin/users/user/", name="Eve", is_suspended="on"
        )

        with acme.active():
            assert answer.status_code == 403
            assert User.objects.get(pk=user.pk).name == "Ada"

    @pytest.mark.parametrize(
        "path", ["users/user/nonsense", "users/user/%00", "keys/signingkey/1", "audit/entry/x"]
    )
    def test_what_is_no_id_is_unknown(self, operator, path):
        assert operator.get(f"/admin/{path}/change/").status_code == 404

    @pytest.mark.parametrize(
        "query", ["?p=999", "?q=%00", "?o=99", "?is_suspended__exact=x", "?nonsense=1", "?user__password=x"]
    )
    def test_no_query_is_a_failure(self, operator, query):
        assert operator.get(f"/admin/users/user/{query}").status_code in {200, 302, 400}
        assert operator.get(f"/admin/audit/entry/{query}").status_code in {200, 302, 400}

    def test_users_are_searched_like_in_the_api(self, acme, operator):
        acme.user("findme", name="Ada Lovelace")
        acme.user("nobody-else")

        found = operator.get("/admin/users/user/", params={"q": "LOVELACE"}).text

        assert "findme" in found
        assert "nobody-else" not in found

    def test_a_user_s_page_leads_to_all_sessions_of_the_user(self, acme, operator):
        user = acme.user("a+b&c=d#e")
        with acme.active():
            for _ in range(26):
                sessions.start(user, amr=["pwd"])

        page = operator.get(f"/admin/users/user/{user.pk}/change/").text
        (link,) = re.findall(r'href="(/admin/[a-z_]+/session/\?q=[^"]*)"', page)

        assert operator.get(html.unescape(link)).text.count('class="field-user') == 26

    @pytest.mark.parametrize("text", ["STRASSE", "straße", "Clin"])
    def test_members_are_searched_like_users_and_by_organization(self, acme, operator, text):
        admin = superuser(acme)
        for name, person in (("Clinic", "Ada Straße"), ("Office", "Bob")):
            organization = admin.created("/organizations", name=name)["id"]
            user = acme.user(name=person)
            result_of(admin.post(f"/organizations/{organization}/users", user_ids=[str(user.pk)]))

        found = operator.get("/admin/organizations/membership/", params={"q": text}).text

        assert found.count('class="field-organization') == 1
        assert "Clinic" in found


class TestAudit:
    def test_is_narrowed_by_key_and_result(self, acme, operator):
        user = acme.user("ada")
        acme.browser().sign_in(user)
        acme.browser().sign_in(user, "wrong")

        failed = operator.get("/admin/audit/entry/?key=SignIn.Password&result=failed").text

        assert failed.count('class="field-key"') == 1
        assert "the password is wrong" in failed

    def test_an_entry_is_a_sentence_with_the_name_of_its_object(self, acme, operator):
        admin = superuser(acme)
        admin.created("/users", username="ada", password=cast.PASSWORD)
        admin.created("/applications", name="Shop <b>", type="SPA", redirect_uris=["https://shop.example/"])
        acme.browser().sign_in(acme.user("bob"), "wrong")

        rows = re.findall(r'class="field-what">(.*?)</td>', operator.get("/admin/audit/entry/").text)
        told = [html.unescape(re.sub("<[^>]*>", "", row)) for row in rows]

        assert "A user was created. ada" in told
        assert "An application was created. Shop <b>" in told
        assert "Sign-in with a password failed: the password is wrong." in [row.strip() for row in told]

    def test_the_page_of_an_entry_names_the_rows_whose_ids_it_has(self, acme, operator):
        admin, ada = superuser(acme), acme.user("ada", name="Ada <b>")
        role, later = (admin.created("/roles", name=name, type="User")["id"] for name in ("Clerk", "Gone"))
        result_of(admin.put(f"/users/{ada.pk}/roles", role_ids=[role, later]))
        admin.delete(f"/roles/{later}")

        listed = operator.get("/admin/audit/entry/?key=User.Update").text
        (url,) = re.findall(r'href="(/admin/audit/entry/[0-9a-f-]+/change/)', listed)
        page = operator.get(url).text

        assert f'{role}&quot; <a href="/admin/roles/role/{role}/change/"><bdi>Clerk (User)</bdi></a>' in page
        assert f'{ada.pk}&quot; <a href="/admin/users/user/{ada.pk}/change/"><bdi>{ada.username}' in page
        assert f"{later}&quot;\n" in page

    def test_the_user_and_the_application_of_an_entry_have_a_name_before_the_id(self, acme, operator):
        user = acme.user("ada")
        acme.browser().sign_in(user)

        listed = operator.get("/admin/audit/entry/?key=SignIn.Password").text
        (url,) = re.findall(r'href="(/admin/audit/entry/[0-9a-f-]+/change/)', listed)
        page = operator.get(url).text

        named = f'<bdi>{user.username}</bdi></a> <code class="quiet">{user.pk}</code>'
        assert f'href="/admin/users/user/{user.pk}/change/">{named}' in page

    def test_an_entry_about_a_deleted_object_is_shown(self, acme, operator):
        admin = superuser(acme)
        role = admin.created("/roles", name="Clerk", type="User")
        admin.delete(f"/roles/{role['id']}")

        page = operator.get("/admin/audit/entry/").text

        assert 'A role was created. <span class="second"><bdi>Clerk</bdi></span>' in page
        assert "A role was deleted." in page

    def test_a_reference_explains_a_refusal_in_whatever_tenant_it_was(self, acme, rival, operator):
        answer = acme.browser().sign_in(acme.user("ada"), "wrong")
        reference = answer.headers["X-Request-Id"]

        told = operator.get("/admin/why/", params={"reference": reference}).text
        elsewhere = operators.at(rival).get("/admin/why/", params={"reference": reference}).text
        limited = operators.at(rival, administrator(tenants=[rival.tenant.slug]))
        unseen = limited.get("/admin/why/", params={"reference": reference}).text

        sentence = "Sign-in with a password failed: the password is wrong."
        assert sentence in told
        assert "Switch to this tenant" not in told
        assert sentence in elsewhere
        assert f"In the log of <strong>{acme.tenant.name}</strong>" in elsewhere
        assert "has an entry with this reference" in unseen

    @pytest.mark.parametrize(
        "reference",
        [
            "x",
            "ffffffff-ffff-7fff-bfff-ffffffffffff",
            "00000000-0000-7000-8000-000000000000",
            "1" * 500,
        ],
    )
    def test_a_reference_that_is_none_finds_nothing(self, operator, reference):
        answer = operator.get("/admin/why/", params={"reference": reference})

        assert answer.status_code == 200
        assert "has an entry with this reference" in answer.text

    def test_is_taken_along_as_a_table_of_this_tenant(self, acme, rival, operator):
        acme.user("=1+1")
        rival.user("somebody-else")
        with (
            acme.active(),
            context.new_request(ip="=cmd", user_agent="", request_id=""),
            context.tenant(acme.tenant.pk),
        ):
            log.record(Event.USER_EXPORT, id="x")

        answer = operator.get("/admin/audit/entry/export/")

        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert {row["key"] for row in rows} >= {"User.Create", "Tenant.Create"}
        assert [row["ip"] for row in rows if row["key"] == "User.Export"] == ["'=cmd"]
        assert "somebody-else" not in answer.text
        assert len(rows) == Entry.objects.filter(tenant_id=acme.tenant.pk).count()

    def test_keeps_the_filters_of_the_list(self, acme, operator):
        acme.user()

        rows = list(
            csv.DictReader(io.StringIO(operator.get("/admin/audit/entry/export/?key=User.Create").text))
        )

        assert [row["key"] for row in rows] == ["User.Create"]


class TestDashboard:
    def test_counts_what_happened_in_this_tenant(self, acme, rival, operator):
        user = acme.user("ada")
        browser = acme.browser()
        client = acme.application()
        client.redeem(browser.code_for(client, user))
        acme.browser().sign_in(user, "wrong")
        rival.browser().sign_in(rival.user("eve"))

        shown = operator.get("/admin/").text

        headlines = r"<span>([^<]+)</span> <strong>(\d+)(?: a day on average)?</strong>"
        numbers = dict(re.findall(headlines, shown))
        assert numbers == {
            "Sign-ins": "1",
            "Failed sign-ins": "1",
            "New users": "1",
            "Active users": "1",
            "Tokens by grant": "1",
        }
        assert "Authorization code" in shown
        assert "Sign-in with a password failed" in shown
        assert "style=" not in shown

    def test_is_there_for_a_tenant_where_nothing_happened(self, operator):
        assert "No recent failures." in operator.get("/admin/").text
