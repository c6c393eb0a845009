"""What the log says of those who manage, and to whom (AP12, AP13, AP15, AP26)."""

import csv
import io
import re
import secrets

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import Client

from audit import context, counting, log
from audit.events import Event
from audit.models import CountSegment, Entry
from management.administrators import invitations
from management.observability import refusals
from tests.support import cast, management, operators
from tests.support.management import refusal_of, result_of

ADMINISTRATIVE = (
    Event.ADMIN_SIGN_IN, Event.ADMINISTRATOR_CREATE, Event.TENANT_UPDATE, Event.SECOND_STEP_DELETE,
    Event.RECOVERY_CODE_USE,
)  # fmt: skip


def newest(world, key):
    found = Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("-created_at", "-id")
    return found[0].payload


@pytest.fixture
def root(address):
    return management.superuser(cast.default_world())


class TestValues:
    def test_attack_AP12_who_was_made_a_superuser_is_found_out_afterwards(self, root):
        who = management.new_administrator()

        result_of(root.patch(f"/administrators/{who.pk}", is_superuser=True, role="auditor"))

        written = newest(root.world, "Administrator.Update")
        assert written["values"] == {"is_superuser": True, "role": "auditor"}
        assert written["before"] == {"is_superuser": False, "role": "administrator"}
        assert written["username"] == who.username

    def test_attack_AP12_and_whose_tenants_an_administrator_was_given(self, root, acme, rival):
        who = management.new_administrator(acme)

        result_of(root.patch(f"/administrators/{who.pk}", tenants=[rival.tenant.slug]))

        written = newest(root.world, "Administrator.Update")
        assert (written["before"], written["values"]) == (
            {"tenants": [acme.tenant.slug]}, {"tenants": [rival.tenant.slug]},
        )  # fmt: skip

    def test_attack_AP12_a_new_administrator_is_written_down_with_what_was_granted(self, root, acme):
        body = {"username": f"a-{secrets.token_hex(4)}", "password": "correct horse", "role": "support"}

        root.created("/administrators", **body, tenants=[acme.tenant.slug])

        written = newest(root.world, "Administrator.Create")
        assert written["values"] == {
            "is_superuser": False, "role": "support", "tenants": [acme.tenant.slug],
        }  # fmt: skip
        assert "correct horse" not in str(written)

    def test_attack_AP12_a_member_s_entry_names_user_and_organization(self, acme):
        admin, user = management.superuser(acme), acme.user()
        home = admin.created("/organizations", name="Home")["id"]
        result_of(admin.post(f"/organizations/{home}/users", user_ids=[str(user.pk)]))

        result_of(admin.patch(f"/organizations/{home}/users/{user.pk}", is_admin=True))
        result_of(admin.put(f"/organizations/{home}/users/{user.pk}/roles", organization_role_ids=[]))

        roles, made = Entry.objects.filter(
            tenant_id=acme.tenant.pk, key="OrganizationMember.Update"
        ).order_by("-created_at", "-id")
        whose = {"organization_id": home, "user_ids": [str(user.pk)]}
        assert made.payload | whose == made.payload
        assert roles.payload | whose == roles.payload
        assert (made.payload["values"], made.payload["before"]) == ({"is_admin": True}, {"is_admin": False})

    def test_attack_AP12_where_an_application_may_send_people_is_kept(self, acme):
        admin = management.superuser(acme)
        made = admin.created("/applications", name="Shop", type="SPA")

        metadata = {"redirect_uris": ["https://shop.example/cb"]}
        result_of(
            admin.patch(f"/applications/{made['id']}", oidc_client_metadata=metadata, is_third_party=True)
        )

        written = newest(acme, "Application.Update")
        assert written["values"] == {"is_third_party": True, "redirect_uris": ["https://shop.example/cb"]}
        assert written["before"] == {"is_third_party": False, "redirect_uris": []}


class TestRefusals:
    @pytest.fixture(autouse=True)
    def none_before(self):
        refusals.flush(older_than=0)

    def test_attack_AP12_what_an_auditor_was_refused_leaves_one_entry_a_minute(self, acme):
        who = operators.administrator(role="auditor", tenants=[acme.tenant.slug])
        token = management.administrator_token(who.username, cast.PASSWORD, acme.address)
        here = Client(headers={"Authorization": f"Bearer {token}"})  # in this process, whose minutes are ours
        api = f"/t/{acme.tenant.slug}/api/v1"

        answers = [here.delete(f"{api}/users/{acme.user().pk}") for _ in range(5)]
        answers.append(here.post(f"{api}/signing-keys/rotate"))
        assert {answer.status_code for answer in answers} == {403}
        first = self.written(acme)
        refusals.flush(older_than=0)
        refusals.flush(older_than=0)

        rest = self.written(acme)[len(first) :]
        assert [entry["count"] for entry in first] == [1]
        assert [entry["count"] for entry in rest] == [5]
        assert rest[0]["requests"] == {
            "DELETE /api/v1/users/<str:pk>": 4, "POST /api/v1/signing-keys/rotate": 1,
        }  # fmt: skip
        assert {entry["administrator_id"] for entry in first + rest} == {who.pk}

    def test_attack_AP12_one_that_is_refused_at_the_operators_site_too(self, acme):
        auditor = operators.at(acme, operators.administrator(role="auditor", tenants=[acme.tenant.slug]))

        assert auditor.get("/admin/users/user/do/create/").status_code == 403

        assert [entry["administrator_id"] for entry in self.written(acme)] == [auditor.who.pk]

    def test_attack_AP12_and_an_application(self, acme):
        robot = management.machine(acme, roles=[])

        refusal_of(robot.get("/users"), 403)

        (entry,) = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Access.Refuse")
        assert (entry.application_id, entry.payload["count"]) == (robot.id, 1)

    def test_strangers_leave_none(self, acme):
        refusal_of(management.Caller(acme, None).get("/users"), 401)

        assert self.written(acme) == []

    def written(self, world):
        found = Entry.objects.filter(tenant_id=world.tenant.pk, key="Access.Refuse")
        return [entry.payload for entry in found.order_by("created_at", "id")]


class TestReaders:
    @pytest.fixture
    def default(self, address):
        world = cast.default_world()
        with context.tenant("default"):
            for event in ADMINISTRATIVE:
                log.record(event, username="somebody-above-tenants")
            log.record(Event.SIGN_IN_PASSWORD, username="of-default")
        return world

    def test_attack_AP13_a_limited_administrator_of_default_reads_no_administrative_log(self, default):
        limited, root = management.administrator(default), management.superuser(default)

        for event in ADMINISTRATIVE:
            assert result_of(limited.get("/logs", key=event.value))["total"] == 0
            assert result_of(root.get("/logs", key=event.value))["total"] > 0
        seen = result_of(limited.get("/logs", page_size=100))["data"]
        assert not [row for row in seen if row["payload"].get("username") == "somebody-above-tenants"]
        hidden = result_of(root.get("/logs", key="Tenant.Update"))["data"][0]["id"]
        refusal_of(limited.get(f"/logs/{hidden}"), 404)

    def test_attack_AP13_nor_does_an_application_of_default(self, default):
        robot = management.machine(default)

        assert result_of(robot.get("/logs", key="Admin.SignIn"))["total"] == 0

    def test_attack_AP13_totals_are_those_of_what_is_seen(self, default):
        limited = management.administrator(default)

        page = result_of(limited.get("/logs"))

        subjects = "Admin|Invitation|ProviderAccount|Tenant|SecondStep|RecoveryCode"
        hidden = Entry.objects.filter(tenant_id="default", key__regex=f"^({subjects})")
        every = Entry.objects.filter(tenant_id="default").count()
        assert page["total"] == every - hidden.count()

    def test_attack_AP13_nor_at_the_operators_site(self, default):
        limited = operators.Operator(operators.administrator(tenants=["default"]))
        limited.sign_in()
        everything = operators.at(default)
        hidden = Entry.objects.filter(tenant_id="default", key="Tenant.Update").latest("created_at")
        path = f"/admin/audit/entry/{hidden.pk}/change/"

        pages = [
            limited.get(path).text
            for path in ("/admin/", "/admin/audit/entry/", "/admin/audit/entry/export/")
        ]

        assert limited.get("/admin/").status_code == 200
        assert [page for page in pages if "somebody-above-tenants" in page] == []
        assert "Admin.SignIn" not in limited.get("/admin/audit/entry/").text
        assert (limited.get(path).status_code, everything.get(path).status_code) == (404, 200)
        assert "somebody-above-tenants" in everything.get("/admin/audit/entry/export/").text

    def test_attack_AP13_a_page_in_the_middle_is_found_without_what_is_hidden(self, acme, monkeypatch):
        monkeypatch.setattr(counting, "SEGMENT_SIZE", 5)
        with context.tenant(acme.tenant.pk):
            for number in range(40):
                event = Event.ADMIN_SIGN_IN if number % 3 else Event.SIGN_IN_PASSWORD
                log.record(event, username=str(number))
        of_tenant = Entry.objects.filter(tenant_id=acme.tenant.pk)
        moments = list(of_tenant.order_by("created_at").values_list("created_at", flat=True))
        edges = sorted(set(moments[5::5]))
        for since, edge in zip([moments[0], *edges], edges, strict=False):
            entries = of_tenant.filter(created_at__gte=since, created_at__lt=edge).count()
            CountSegment.objects.create(tenant_id=acme.tenant.pk, end=edge, entries=entries)
        hidden = {"Admin.SignIn"}
        seen = list(of_tenant.exclude(key__in=hidden).order_by("-created_at", "-id"))

        for skipped in range(8, len(seen) - 1):
            before, rest = counting.find_page_start(acme.tenant.pk, skipped, len(seen), hidden=hidden)
            later = [entry for entry in seen if entry.created_at < before]
            assert later[rest] == seen[skipped]


class TestExport:
    @pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
    def test_attack_AP15_no_cell_of_a_spreadsheet_is_a_formula(self, acme, separator):
        browser = acme.browser()
        for agent in ("z;=1+1;", "=1+1", "a;+1", "a; @SUM(1)", "x;-1;y", "\uff1d1+1", "a,=1"):
            browser.post(
                "/api/interaction/sign-in",
                json={"identifier": "x;=1+1;y", "password": "x"},
                headers={"User-Agent": agent.encode()},
            )
        with acme.active():
            log.record(Event.USER_UPDATE, fields=["x;=cmd|' /C calc'!A0"])

        text = operators.at(acme).get("/admin/audit/entry/export/").text

        quoted = [line for line in text.splitlines() if line and not line.startswith('"')]
        cells = [cell for row in csv.reader(io.StringIO(text), delimiter=separator) for cell in row]
        assert quoted == []
        assert [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d"))] == []


def test_attack_AP26_what_a_superuser_does_to_many_rows_is_not_in_the_log_of_a_tenant(acme, root):
    operator, mail = operators.at(acme), f"{secrets.token_hex(5)}@example.com"
    invited = invitations.invite(
        email=mail, is_superuser=True, by=operator.who, current_password=cast.PASSWORD
    ).invitation

    ticked = {ACTION_CHECKBOX_NAME: [str(invited.pk)], "confirmed": "yes", "drawn_for": operator.tenant}
    page = operator.get("/admin/tenant/").text
    (token, *_) = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    path = "/admin/administrators/invitation/"
    operator.http.post(path, data={"csrfmiddlewaretoken": token, "action": "delete", **ticked})

    (entry,) = Entry.objects.filter(key=Event.INVITATION_DELETE, payload__id=str(invited.pk))
    assert entry.tenant_id == cast.default_world().tenant.pk
