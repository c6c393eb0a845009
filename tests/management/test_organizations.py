"""/organizations and the templates: every row of the interface's tables and decision I7."""

import pytest

from tests.support.management import Caller, refusal_of, result_of
from tests.support.names import new_name


@pytest.fixture
def organization(admin):
    return admin.created("/organizations", name="Org", description="D", metadata={"plan": "free"})


@pytest.fixture
def role(admin):
    return admin.created("/organization-roles", name="editor", description="Edits")


@pytest.fixture
def machine_role(admin):
    return admin.created("/organization-roles", name="robot", type="MachineToMachine")


@pytest.fixture
def robot_application(admin):
    return admin.created("/applications", name="Robot", type="MachineToMachine")


@pytest.fixture
def member(acme, admin, organization):
    user = acme.user(email="m@x.org", name="Mia")
    result_of(admin.post(f"/organizations/{organization['id']}/users", user_ids=[str(user.pk)]))
    return user


class TestOrganization:
    def test_has_the_fields_of_the_interface(self, organization):
        assert set(organization) == {
            *("id", "name", "description", "logo_url", "metadata", "member_count"),
            *("branding", "is_mfa_required", "created_at", "updated_at"),
        }
        assert organization["metadata"] == {"plan": "free"}

    def test_may_share_its_name(self, admin, organization):
        assert admin.created("/organizations", name="Org")["id"] != organization["id"]

    def test_decision_H9_replaces_metadata_as_a_whole(self, admin, organization):
        changed = result_of(admin.patch(f"/organizations/{organization['id']}", metadata={"b": 1}))

        assert changed["metadata"] == {"b": 1}
        assert changed["name"] == "Org"

    @pytest.mark.parametrize("metadata", ["x", [1], 5, {"a": "x" * 70_000}])
    def test_case_L06_bounds_metadata(self, admin, organization, metadata):
        answer = admin.patch(f"/organizations/{organization['id']}", metadata=metadata)

        assert "metadata" in refusal_of(answer, 400)

    def test_is_deleted_with_memberships_and_roles(self, acme, admin, organization, member, role):
        path = f"/organizations/{organization['id']}"
        result_of(admin.put(f"{path}/users/{member.pk}/roles", organization_role_ids=[role["id"]]))

        assert result_of(admin.delete(path)) is None

        assert result_of(admin.get(f"/users/{member.pk}/organizations"))["total"] == 0
        assert result_of(admin.get(f"/users/{member.pk}"))["id"] == str(member.pk)


class TestMembers:
    def test_shows_a_page_of_members(self, admin, organization, member):
        page = result_of(admin.get(f"/organizations/{organization['id']}/users"))

        assert page["total"] == 1
        assert page["data"][0] | {"joined_at": 0} == {
            "id": str(member.pk),
            "username": member.username,
            "name": "Mia",
            "email": "m@x.org",
            "avatar": None,
            "joined_at": 0,
            "is_admin": False,
        }

    def test_refuses_a_member_again_and_adds_nobody(self, acme, admin, organization, member):
        new = acme.user()

        answer = admin.post(
            f"/organizations/{organization['id']}/users", user_ids=[str(new.pk), str(member.pk)]
        )

        assert str(member.pk) in refusal_of(answer, 400)
        assert result_of(admin.get(f"/organizations/{organization['id']}"))["member_count"] == 1

    def test_case_G05_refuses_a_user_of_another_tenant(self, admin, organization, rival):
        stranger = rival.user()

        answer = admin.post(f"/organizations/{organization['id']}/users", user_ids=[str(stranger.pk)])

        assert str(stranger.pk) in refusal_of(answer, 400)

    def test_decision_I7_makes_a_member_an_administrator(self, admin, organization, member):
        path = f"/organizations/{organization['id']}/users/{member.pk}"

        changed = result_of(admin.patch(path, is_admin=True))

        assert changed["is_admin"] is True
        assert changed["id"] == str(member.pk)
        assert "is_admin" in refusal_of(admin.patch(path), 400)

    def test_decision_I7_case_G20_an_organization_may_lose_its_last_administrator(
        self, admin, organization, member
    ):
        path = f"/organizations/{organization['id']}/users/{member.pk}"
        result_of(admin.patch(path, is_admin=True))

        assert result_of(admin.patch(path, is_admin=False))["is_admin"] is False
        result_of(admin.patch(path, is_admin=True))
        assert result_of(admin.delete(path)) is None

    def test_removes_a_member_with_the_roles_there(self, admin, organization, member, role):
        path = f"/organizations/{organization['id']}/users"
        result_of(admin.put(f"{path}/{member.pk}/roles", organization_role_ids=[role["id"]]))

        assert result_of(admin.delete(f"{path}/{member.pk}")) is None
        again = admin.delete(f"{path}/{member.pk}")
        result_of(admin.post(path, user_ids=[str(member.pk)]))

        assert again.status_code == 404
        assert result_of(admin.get(f"{path}/{member.pk}/roles")) == []


class TestMemberRoles:
    def test_replaces_the_whole_set(self, admin, organization, member, role):
        path = f"/organizations/{organization['id']}/users/{member.pk}/roles"

        result_of(admin.put(path, organization_role_ids=[role["id"], role["id"]]))

        assert result_of(admin.get(path)) == [{"id": role["id"], "name": "editor", "description": "Edits"}]

    def test_refuses_a_role_for_machines(self, admin, organization, member, machine_role):
        path = f"/organizations/{organization['id']}/users/{member.pk}/roles"

        answer = admin.put(path, organization_role_ids=[machine_role["id"]])

        assert refusal_of(answer, 400).startswith("organization_role_ids")

    def test_is_for_members_alone(self, acme, admin, organization, role):
        path = f"/organizations/{organization['id']}/users/{acme.user().pk}/roles"

        assert admin.get(path).status_code == 404
        assert admin.put(path, organization_role_ids=[role["id"]]).status_code == 404

    def test_holds_in_one_organization_alone(self, admin, organization, member, role):
        other = admin.created("/organizations", name="Other")
        result_of(admin.post(f"/organizations/{other['id']}/users", user_ids=[str(member.pk)]))

        result_of(
            admin.put(
                f"/organizations/{organization['id']}/users/{member.pk}/roles",
                organization_role_ids=[role["id"]],
            )
        )

        assert result_of(admin.get(f"/organizations/{other['id']}/users/{member.pk}/roles")) == []


class TestRoleTemplates:
    def test_has_the_fields_of_the_interface(self, role):
        assert set(role) == {"id", "name", "description", "type", "created_at", "updated_at"}
        assert role["type"] == "User"

    def test_has_a_name_of_its_own(self, admin, role, rival):
        assert refusal_of(admin.post("/organization-roles", name="editor"), 400) == "name: already exists"
        admin.at(rival).created("/organization-roles", name="editor")

    def test_keeps_its_type(self, admin, role):
        answer = admin.patch(f"/organization-roles/{role['id']}", type="MachineToMachine", name="x")

        assert refusal_of(answer, 400).startswith("type")
        assert result_of(admin.get(f"/organization-roles/{role['id']}"))["name"] == "editor"

    def test_takes_assignments_along_when_deleted(self, admin, organization, member, role):
        path = f"/organizations/{organization['id']}/users/{member.pk}/roles"
        result_of(admin.put(path, organization_role_ids=[role["id"]]))

        assert result_of(admin.delete(f"/organization-roles/{role['id']}")) is None

        assert result_of(admin.get(path)) == []

    def test_holds_permissions(self, admin, role):
        permission = admin.created("/organization-permissions", name="doc:edit", description="E")
        path = f"/organization-roles/{role['id']}/scopes"

        result_of(admin.put(path, scope_ids=[permission["id"]]))

        assert result_of(admin.get(path)) == [
            {"id": permission["id"], "name": "doc:edit", "description": "E"}
        ]

    def test_says_where_the_scopes_of_api_resources_go(self, admin, rival, role):
        def new_scope(caller: Caller) -> str:
            api = caller.created("/resources", name="R", indicator=f"https://{new_name()}.example")
            return str(caller.created(f"/resources/{api['id']}/scopes", name="read")["id"])

        permission = admin.created("/organization-permissions", name="doc:edit")["id"]
        path = f"/organization-roles/{role['id']}/scopes"
        hint = "the scopes of API resources go to /organization-roles/:id/resource-scopes"
        of_api, of_rival = new_scope(admin), new_scope(admin.at(rival))

        answer = admin.put(path, scope_ids=[permission, of_api, "x"])

        assert refusal_of(answer, 400) == (
            f"scope_ids: unknown or not of the required type: {of_api}, x ({hint})"
        )
        assert [(each["field"], each["code"]) for each in answer.json()["errors"]] == [
            ("scope_ids", "unknown")
        ]
        assert result_of(admin.get(path)) == []
        assert hint not in refusal_of(admin.put(path, scope_ids=[of_rival, "x"]), 400)

    def test_decision_I7_carries_scopes_of_api_resources(self, admin, role):
        api = admin.created("/resources", name="R", indicator="https://r.example")
        scope = admin.created(f"/resources/{api['id']}/scopes", name="read")
        path = f"/organization-roles/{role['id']}/resource-scopes"

        result_of(admin.put(path, scope_ids=[scope["id"]]))

        assert result_of(admin.get(path)) == [
            {"id": scope["id"], "name": "read", "description": "", "resource_id": api["id"]}
        ]


class TestPermissionTemplates:
    def test_has_the_fields_of_the_interface(self, admin):
        permission = admin.created("/organization-permissions", name="doc:edit")

        assert set(permission) == {"id", "name", "description", "created_at"}
        assert refusal_of(admin.post("/organization-permissions", name="doc:edit"), 400) == (
            "name: already exists"
        )
        assert result_of(admin.get("/organization-permissions"))["data"] == [permission]

    @pytest.mark.parametrize("name", ["", "doc edit", 'a"b', "a\\b", "é", "a\nb"])
    def test_is_one_word_of_a_scope_parameter(self, admin, name):
        """RFC 6749 section 3.3."""
        assert "name" in refusal_of(admin.post("/organization-permissions", name=name), 400)

    def test_is_detached_from_all_roles_when_deleted(self, admin, role):
        permission = admin.created("/organization-permissions", name="doc:edit")
        result_of(admin.put(f"/organization-roles/{role['id']}/scopes", scope_ids=[permission["id"]]))

        assert result_of(admin.delete(f"/organization-permissions/{permission['id']}")) is None

        assert result_of(admin.get(f"/organization-roles/{role['id']}/scopes")) == []


class TestApplicationsOfAnOrganization:
    def test_decision_I7_are_bound_shown_and_unbound(self, admin, organization, robot_application):
        path = f"/organizations/{organization['id']}/applications"

        result_of(admin.post(path, application_ids=[robot_application["id"]]))
        result_of(admin.post(path, application_ids=[robot_application["id"]]))
        page = result_of(admin.get(path))
        removed = result_of(admin.delete(f"{path}/{robot_application['id']}"))

        assert [row["id"] for row in page["data"]] == [robot_application["id"]]
        assert removed is None
        assert result_of(admin.get(path))["total"] == 0
        assert admin.delete(f"{path}/{robot_application['id']}").status_code == 404

    @pytest.mark.parametrize("kind", ["Traditional", "SPA", "Native"])
    def test_decision_I7_are_machines_alone(self, admin, organization, kind):
        application = admin.created("/applications", name="Web", type=kind)

        answer = admin.post(
            f"/organizations/{organization['id']}/applications", application_ids=[application["id"]]
        )

        assert refusal_of(answer, 400).startswith("application_ids")

    def test_decision_I7_have_roles_for_machines(
        self, admin, organization, robot_application, role, machine_role
    ):
        path = f"/organizations/{organization['id']}/applications"
        result_of(admin.post(path, application_ids=[robot_application["id"]]))
        roles = f"{path}/{robot_application['id']}/roles"

        refused = admin.put(roles, organization_role_ids=[role["id"]])
        result_of(admin.put(roles, organization_role_ids=[machine_role["id"]]))

        assert refused.status_code == 400
        assert [row["id"] for row in result_of(admin.get(roles))] == [machine_role["id"]]
