"""Who may use an application, as administrators decide it: decisions Q9 and Q10."""

from functools import partial

import pytest
from django.db import connection

from identity.organizations.models import Organization
from identity.roles.models import Role
from identity.tenants import services as tenants
from oidc.applications.models import AllowedRole, Application
from tests.support.admin_pages import operate
from tests.support.audit_log import entries
from tests.support.management import refusal_of, result_of, superuser
from tests.support.threads import at_once, rounds

UNKNOWN = "01890000-0000-7000-8000-000000000000"
LISTS = ("allowed_role_ids", "allowed_organization_ids")


@pytest.fixture
def role(admin):
    return admin.created("/roles", name="Staff", type="User")["id"]


@pytest.fixture
def organization(admin):
    return admin.created("/organizations", name="Acme Ltd")["id"]


def restricted(admin, role_ids=(), organization_ids=(), **fields):
    """Register an application with these lists, and return its id."""
    metadata = {"allowed_role_ids": list(role_ids), "allowed_organization_ids": list(organization_ids)}
    body = {"name": "Wiki", "type": "Traditional", "oidc_client_metadata": metadata} | fields
    return admin.created("/applications", **body)["id"]


def lists_of(admin, pk):
    metadata = result_of(admin.get(f"/applications/{pk}"))["oidc_client_metadata"]
    return tuple(metadata[name] for name in LISTS)


def change(admin, pk, **lists):
    return admin.patch(f"/applications/{pk}", oidc_client_metadata=lists)


class TestLists:
    def test_decision_Q9_an_application_without_lists_shows_empty_ones(self, admin):
        application = admin.created("/applications", name="A", type="SPA")

        assert lists_of(admin, application["id"]) == ([], [])

    def test_decision_Q9_are_shown_alone_and_in_the_list(self, admin, role, organization):
        pk = restricted(admin, [role], [organization])
        other = restricted(admin, name="Open")

        listed = {
            row["id"]: row["oidc_client_metadata"] for row in result_of(admin.get("/applications"))["data"]
        }

        assert lists_of(admin, pk) == ([role], [organization])
        assert tuple(listed[pk][name] for name in LISTS) == ([role], [organization])
        assert tuple(listed[other][name] for name in LISTS) == ([], [])

    def test_decision_Q9_a_patch_replaces_the_list_that_it_sends(self, admin, role, organization):
        pk = restricted(admin, [role])
        other = admin.created("/roles", name="Others", type="User")["id"]

        change(admin, pk, allowed_organization_ids=[organization])
        change(admin, pk, allowed_role_ids=[other, other])
        admin.patch(f"/applications/{pk}", name="Renamed")

        assert lists_of(admin, pk) == ([other], [organization])

    def test_decision_Q9_ids_that_are_not_of_this_tenant_or_kind_are_named(self, admin, rival, organization):
        there = superuser(rival)
        foreign_role = there.created("/roles", name="Staff", type="User")["id"]
        foreign_organization = there.created("/organizations", name="Rival Ltd")["id"]
        machine_role = admin.created("/roles", name="Robots", type="MachineToMachine")["id"]
        pk = restricted(admin, [], [organization])

        for field, bad in [
            ("allowed_role_ids", UNKNOWN),
            ("allowed_role_ids", "x"),
            ("allowed_role_ids", foreign_role),
            ("allowed_role_ids", machine_role),
            ("allowed_role_ids", organization),
            ("allowed_organization_ids", UNKNOWN),
            ("allowed_organization_ids", foreign_organization),
        ]:
            changed = refusal_of(change(admin, pk, **{field: [bad]}), 400)
            metadata = {field: [bad]}
            created = admin.post("/applications", name="B", type="SPA", oidc_client_metadata=metadata)
            assert field in changed
            assert bad in changed
            assert bad in refusal_of(created, 400)
        assert lists_of(admin, pk) == ([], [organization])

    @pytest.mark.parametrize("field", LISTS)
    @pytest.mark.parametrize("value", [None, "x", 1, {}, [1], [None], [""], [["x"]], ["x"] * 1001])
    def test_decision_Q9_anything_but_a_list_of_ids_is_refused(self, admin, field, value):
        pk = restricted(admin)

        assert field in refusal_of(change(admin, pk, **{field: value}), 400)

    def test_decision_Q9_a_machine_application_has_no_lists(self, admin, role, organization):
        machine = admin.created("/applications", name="R", type="MachineToMachine")["id"]

        for field, item in zip(LISTS, (role, organization), strict=True):
            assert field in refusal_of(change(admin, machine, **{field: [item]}), 400)
            metadata = {field: [item]}
            answer = admin.post(
                "/applications", name="R", type="MachineToMachine", oidc_client_metadata=metadata
            )
            assert field in refusal_of(answer, 400)
        assert result_of(change(admin, machine, allowed_role_ids=[], allowed_organization_ids=[]))

    def test_decision_Q10_a_restriction_ends_only_with_both_lists_sent_empty(self, admin, role, organization):
        pk = restricted(admin, [role], [organization])

        result_of(change(admin, pk, allowed_role_ids=[]))
        refused = refusal_of(change(admin, pk, allowed_organization_ids=[]), 400)
        before = lists_of(admin, pk)
        result_of(change(admin, pk, allowed_role_ids=[], allowed_organization_ids=[]))

        assert "allowed_organization_ids" in refused
        assert before == ([], [organization])
        assert lists_of(admin, pk) == ([], [])
        result_of(admin.delete(f"/organizations/{organization}"))

    def test_an_edit_of_an_older_version_changes_no_list(self, admin, role):
        pk = restricted(admin)
        tag = admin.get(f"/applications/{pk}").headers["ETag"]
        admin.patch(f"/applications/{pk}", name="Renamed")

        answer = change(admin.saying(if_match=tag), pk, allowed_role_ids=[role])

        assert answer.status_code == 412
        assert lists_of(admin, pk) == ([], [])

    def test_the_audit_log_has_the_lists(self, acme, admin, role):
        pk = restricted(admin)
        change(admin, pk, allowed_role_ids=[role])

        entry = entries(acme, "Application.Update")[-1]

        assert entry.payload["fields"] == ["allowed_role_ids"]
        assert entry.payload["allowed_role_ids"] == [role]


class TestDeletion:
    @pytest.mark.parametrize("kind", ["roles", "organizations"])
    def test_decision_Q10_of_the_last_one_is_refused_and_names_the_applications(
        self, admin, role, organization, kind
    ):
        allowed = ([role], []) if kind == "roles" else ([], [organization])
        first, second = restricted(admin, *allowed), restricted(admin, *allowed, name="Shop")
        both = restricted(admin, [role], [organization], name="Both")
        path = f"/{kind}/{role if kind == 'roles' else organization}"

        message = refusal_of(admin.delete(path), 400)

        assert all(text in message for text in ("Wiki", "Shop", first, second))
        assert both not in message
        assert lists_of(admin, first) == tuple(allowed)
        assert admin.get(path).status_code == 200

    def test_decision_Q10_of_one_of_several_is_done(self, admin, role, organization):
        pk = restricted(admin, [role], [organization])

        result_of(admin.delete(f"/roles/{role}"))

        assert lists_of(admin, pk) == ([], [organization])
        assert "Wiki" in refusal_of(admin.delete(f"/organizations/{organization}"), 400)

    def test_decision_Q10_a_deleted_application_stands_in_nobody_s_way(self, admin, role):
        pk = restricted(admin, [role])

        result_of(admin.delete(f"/applications/{pk}"))

        result_of(admin.delete(f"/roles/{role}"))

    def test_decision_Q10_holds_on_the_operators_site(self, acme, admin, operator, role, organization):
        restricted(admin, [role])
        restricted(admin, [], [organization], name="Shop")
        with acme.active():
            kept, group = Role.objects.get(pk=role), Organization.objects.get(pk=organization)

        of_role = operate(operator, "roles/role", kept, "delete")
        of_organization = operate(operator, "organizations/organization", group, "delete")

        assert of_role.status_code == of_organization.status_code == 400
        assert "Wiki" in of_role.text
        assert "Shop" in of_organization.text

    def test_of_a_tenant_takes_everything_with_it(self, rival):
        there = superuser(rival)
        role = there.created("/roles", name="Staff", type="User")["id"]
        pk = restricted(there, [role])
        root = superuser(rival)

        tenants.remove(rival.tenant)

        assert root.get(f"/applications/{pk}").status_code == 404
        assert not AllowedRole._base_manager.filter(application=pk).exists()

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="real concurrency is tested on PostgreSQL")
    def test_decision_Q10_two_at_once_cannot_empty_a_list(self, acme, admin):
        for number in range(rounds(15)):
            role = admin.created("/roles", name=f"Staff {number}", type="User")["id"]
            group = admin.created("/organizations", name="Acme Ltd")["id"]
            pk = restricted(admin, [role], [group])

            paths = (f"/roles/{role}", f"/organizations/{group}")

            answers = at_once(2, lambda index, paths=paths: admin.delete(paths[index]))

            assert sorted(answer.status_code for answer in answers) == [200, 400]
            assert any(lists_of(admin, pk))

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="real concurrency is tested on PostgreSQL")
    def test_decision_Q10_a_list_that_is_set_meanwhile_is_not_emptied(self, acme, admin):
        for number in range(rounds(15)):
            role = admin.created("/roles", name=f"Staff {number}", type="User")["id"]
            pk = restricted(admin)

            calls = (
                partial(admin.delete, f"/roles/{role}"),
                partial(change, admin, pk, allowed_role_ids=[role]),
            )

            deleted, changed = at_once(2, lambda index, calls=calls: calls[index]())

            assert sorted((deleted.status_code, changed.status_code)) == [200, 400]
            with acme.active():
                is_restricted = Application.objects.get(pk=pk).is_restricted
            assert is_restricted == bool(lists_of(admin, pk)[0])


class TestOperatorsSite:
    def test_decision_Q9_roles_and_organizations_are_chosen(self, acme, admin, operator, role, organization):
        pk = restricted(admin)
        with acme.active():
            row = Application.objects.get(pk=pk)

        answer = operate(
            operator, "applications/application", row, "access",
            allowed_role_ids=role, allowed_organization_ids=f"{organization} Acme Ltd\n\n",
        )  # fmt: skip

        assert answer.status_code == 303
        assert lists_of(admin, pk) == ([role], [organization])
        form = operator.get(f"/admin/applications/application/{pk}/do/access/").text
        assert f"{organization} Acme Ltd" in form
        rows = (f"applications/application/{pk}", f"roles/role/{role}")
        for path in (*rows, f"organizations/organization/{organization}"):
            page = operator.get(f"/admin/{path}/change/").text
            assert all(name in page for name in (["Staff", "Acme Ltd"] if pk in path else ["Wiki"]))

    def test_decision_Q9_an_unknown_organization_is_named(self, acme, admin, operator):
        pk = restricted(admin)
        with acme.active():
            row = Application.objects.get(pk=pk)

        answer = operate(
            operator, "applications/application", row, "access", allowed_organization_ids=UNKNOWN
        )

        assert answer.status_code == 400
        assert UNKNOWN in answer.text
