"""Roles and memberships that an administrator gives or takes, so that the log does not say whose (AP34)."""

import re
from typing import Any

import pytest

from audit.models import Entry
from identity.resources.models import Resource, Scope
from identity.roles.models import Role
from identity.users.models import User
from tests.support import management, operators
from tests.support.admin_pages import operate
from tests.support.cast import World
from tests.support.enrollers import Enroller
from tests.support.management import Caller, result_of
from tests.support.operators import Operator, text_of


@pytest.fixture
def admin(acme: World) -> Caller:
    return management.superuser(acme)


def users(world: World, number: int) -> list[str]:
    return [str(world.user().pk) for _ in range(number)]


def payloads(world: World, key: str) -> list[dict[str, Any]]:
    found = Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "id")
    return [entry.payload for entry in found]


def found(admin: Caller, who: str) -> list[str]:
    """The keys of the entries of a user about roles and memberships, newest first."""
    entries = result_of(admin.get("/logs", who=who, page_size=100))["data"]
    return [entry["key"] for entry in entries if entry["key"] != "User.Create"]


def found_on_site(operator: Operator, who: str) -> list[str]:
    page = text_of(operator.get("/admin/audit/entry/", params={"q": who, "when": "all"}))
    keys = re.findall(r'class="field-key">([^<]+)<', page)
    return [key for key in keys if key != "User.Create"]


class TestRoles:
    @pytest.fixture
    def role(self, acme: World) -> Role:
        with acme.active():
            return Role.objects.create(name="Payroll", type=Role.Type.USER)

    def test_attack_AP34_who_is_given_a_role_that_many_have_is_in_the_log(self, acme, admin, role):
        many = users(acme, 101)
        result_of(admin.put(f"/roles/{role.pk}/users", user_ids=many))
        mine = str(acme.user("mine", email="mine@x.org").pk)
        assert [found(admin, one) for one in many] == [["Role.Update"]] * 101

        result_of(admin.put(f"/roles/{role.pk}/users", user_ids=[*many, mine]))

        written = payloads(acme, "Role.Update")[-1]
        assert (written["added"], written["removed"], written["count"]) == ([mine], [], 102)
        assert len(written["user_ids"]) == 100
        assert found(admin, "mine@x.org") == ["Role.Update"]
        assert {tuple(found(admin, one)) for one in many[:3]} == {("Role.Update",)}

    def test_attack_AP34_and_who_loses_it(self, acme, admin, role):
        many = users(acme, 102)
        result_of(admin.put(f"/roles/{role.pk}/users", user_ids=many))

        result_of(admin.put(f"/roles/{role.pk}/users", user_ids=many[:-1]))
        result_of(admin.put(f"/roles/{role.pk}/users", user_ids=[]))

        written = payloads(acme, "Role.Update")[102:]
        assert written[0]["removed"] == many[-1:]
        assert sorted(pk for one in written for pk in one["removed"]) == sorted(many)
        assert {len(one["removed"]) for one in written} == {1}
        assert [found(admin, one) for one in many] == [["Role.Update"] * 2] * 102

    def test_attack_AP34_on_the_site_too(self, acme, admin, role):
        many, operator = users(acme, 101), operators.at(acme)
        result_of(admin.put(f"/roles/{role.pk}/users", user_ids=many))
        mine = str(acme.user("mine").pk)

        operate(operator, "roles/role", role, "add-users", user_ids="mine")
        operate(operator, "roles/role", role, "remove-users", user_ids=f"mine\n{many[0]}")

        assert found(admin, "mine") == found_on_site(operator, "mine") == ["Role.Update"] * 2
        removed = [one["removed"] for one in payloads(acme, "Role.Update")[-2:]]
        assert sorted(removed) == sorted([many[:1], [mine]])

    def test_attack_AP34_and_the_roles_of_a_user_are_the_difference(self, acme, admin, role):
        user, other = users(acme, 1)[0], str(admin.created("/roles", name="Other", type="User")["id"])
        path = f"/users/{user}/roles"

        for role_ids in ([str(role.pk)], [other], [other]):
            result_of(admin.put(path, role_ids=role_ids))

        written = [(one["added"], one["removed"]) for one in payloads(acme, "User.Update")]
        assert written == [([str(role.pk)], []), ([other], [str(role.pk)]), ([], [])]
        assert found(admin, user) == ["User.Update"] * 3

    def test_attack_AP34_nor_is_a_scope_hidden_behind_a_hundred_others(self, acme, admin, role):
        with acme.active():
            api = Resource.objects.create(name="Orders", indicator="https://orders.example")
            new = [Scope(resource=api, name=f"s{number}") for number in range(151)]
            scopes = [str(scope.pk) for scope in Scope.objects.bulk_create(new)]

        result_of(admin.put(f"/roles/{role.pk}/scopes", scope_ids=scopes[:-1]))
        result_of(admin.put(f"/roles/{role.pk}/scopes", scope_ids=scopes))

        first, second, last = payloads(acme, "Role.Update")
        assert (len(first["added"]), len(second["added"])) == (100, 50)
        assert sorted(first["added"] + second["added"]) == sorted(scopes[:-1])
        assert (last["added"], last["count"]) == (scopes[-1:], 151)


class TestMembers:
    def test_attack_AP34_everybody_who_becomes_a_member_is_in_the_log(self, acme, admin):
        many = users(acme, 150)
        organization = admin.created("/organizations", name="Home")["id"]

        result_of(admin.post(f"/organizations/{organization}/users", user_ids=many))

        written = payloads(acme, "OrganizationMember.Create")
        assert sorted(pk for one in written for pk in one["user_ids"]) == sorted(many)
        assert {one["id"] for one in written} == {organization}
        assert {tuple(found(admin, one)) for one in many} == {("OrganizationMember.Create",)}

    def test_attack_AP34_however_many_they_are(self, acme, admin):
        with acme.active():
            new = [User(username=f"p{number}") for number in range(6_000)]
            many = [str(user.pk) for user in User.objects.bulk_create(new)]
        organization = admin.created("/organizations", name="Home")["id"]
        role = admin.created("/roles", name="Payroll", type="User")["id"]

        result_of(admin.post(f"/organizations/{organization}/users", user_ids=many))
        result_of(admin.put(f"/roles/{role}/users", user_ids=many))
        result_of(admin.put(f"/roles/{role}/users", user_ids=[]))

        assert found(admin, many[0]) == ["Role.Update", "Role.Update", "OrganizationMember.Create"]
        assert len(payloads(acme, "Role.Update")) == 12_000

    def test_attack_AP34_and_whatever_else_happens_to_the_membership(self, acme, admin):
        ada, bob = acme.user("ada"), acme.user("bob")
        organization = admin.created("/organizations", name="Home")["id"]
        role = admin.created("/organization-roles", name="Chair")["id"]
        members = f"/organizations/{organization}/users"
        result_of(admin.post(members, user_ids=[str(ada.pk), str(bob.pk)]))

        result_of(admin.patch(f"{members}/{ada.pk}", is_admin=True))
        result_of(admin.put(f"{members}/{ada.pk}/roles", organization_role_ids=[role]))
        result_of(admin.delete(f"{members}/{ada.pk}"))

        events = [f"OrganizationMember.{name}" for name in ("Delete", "Update", "Update", "Create")]
        assert found(admin, "ada") == found_on_site(operators.at(acme), "ada") == events
        assert found(admin, "bob") == ["OrganizationMember.Create"]

    def test_attack_AP34_and_who_is_joined_by_phone(self, acme, admin):
        mine = Enroller(acme, "Mine")
        member = result_of(mine.post(phone="+4930123456"))
        operator = operators.at(acme)

        assert found(admin, "+49 30 123456") == ["OrganizationMember.Create"]
        assert found_on_site(operator, member["id"]) == ["OrganizationMember.Create"]
        page = operator.get("/admin/audit/entry/", params={"q": member["id"], "when": "all"}).text
        assert f"/admin/applications/application/{mine.caller.id}/change/" in page
        assert "Unknown identifier" not in page
