"""The third-party member API: rules, page shape, error table and authentication errors."""

import threading
from datetime import datetime

import pytest

from identity.users.models import User
from management.members.serializers import OrganizationMemberSerializer
from tests.support import management
from tests.support.management import result_of


@pytest.fixture
def organization(admin):
    return admin.created("/organizations", name="Org")


@pytest.fixture
def manager(acme, organization):
    return management.member_manager(acme, organization["id"])


@pytest.fixture
def path(organization):
    return f"/m2m/organizations/{organization['id']}/members"


def error_of(answer, status, code):
    assert answer.status_code == status, answer.text
    body = answer.json()
    management.check_members(body)
    assert (body["code"], body["result"]) == (code, None)
    return body["message"]


class TestList:
    def test_has_a_page_shape_of_its_own(self, manager, path):
        member = result_of(manager.post(path, phone="+49 30 123456", name="Mia"))

        page = result_of(manager.get(path))

        assert set(page) == {"total", "result", "page", "page_size"}
        assert (page["total"], page["page"], page["page_size"]) == (1, 1, 20)
        assert page["result"] == [member]
        assert set(member) == {
            *("id", "username", "primary_phone", "primary_email", "name", "is_admin"),
            *("joined_at", "created_at"),
        }
        assert (member["username"], member["primary_email"]) == (None, None)

    def test_rows_are_what_the_documentation_describes(self, manager, path):
        result_of(manager.post(path, phone="+49 30 123456"))
        result_of(manager.post(path, phone="+49 30 654321", name="Mia", email="mia@x.org"))

        rows = result_of(manager.get(path))["result"]
        assert len(rows) == 2
        for row in rows:
            moments = {name: datetime.fromisoformat(row[name]) for name in ("joined_at", "created_at")}
            described = OrganizationMemberSerializer(row | moments).data
            assert list(described.items()) == list(row.items())

    def test_the_total_is_of_the_organization_and_of_what_filters_leave(self, acme, admin, manager, path):
        other = admin.created("/organizations", name="Other")["id"]
        result_of(admin.post(f"/organizations/{other}/users", user_ids=[str(acme.user().pk)]))
        for number in range(5):
            result_of(manager.post(path, phone=f"+49301234{number:02}", name=f"Mia {number % 2}"))

        def seen(**query):
            page = result_of(manager.get(path, **query))
            return page["total"], len(page["result"])

        assert seen() == (5, 5)
        assert seen(page_size=2) == (5, 2)
        assert seen(page_size=2, page=3) == (5, 1)
        assert seen(page_size=2, page=4) == (5, 0)
        assert seen(name="mia 1", page_size=1) == (2, 1)

    def test_case_G16_filters_by_phone_name_and_administrator(self, admin, manager, path, organization):
        mia = result_of(manager.post(path, phone="+4930123456", name="Mia 100%"))
        result_of(manager.post(path, phone="+4930999999", name="Bob"))
        result_of(admin.patch(f"/organizations/{organization['id']}/users/{mia['id']}", is_admin=True))

        def found(**query):
            return [member["id"] for member in result_of(manager.get(path, **query))["result"]]

        assert found(phone="49 30 123456") == [mia["id"]]
        assert found(phone="+493012345") == []
        assert found(name="mia") == [mia["id"]]
        assert found(name="%") == [mia["id"]]
        assert found(is_admin="true") == [mia["id"]]
        assert len(found(is_admin="false")) == 1
        assert found(is_admin="true", phone="+4930123456") == [mia["id"]]
        assert found(is_admin="true", phone="+4930999999") == []
        assert found(is_admin="false", name="mia") == []
        assert found(name="_") == []
        error_of(manager.get(path, is_admin="perhaps"), 400, 400)
        error_of(manager.get(path, page="0"), 400, 400)


class TestEnrol:
    def test_rule_1_creates_and_joins_an_unknown_phone(self, admin, manager, path):
        member = result_of(manager.post(path, phone="+49 (30) 12-34.56", name="Mia", email="mia@x.org"))

        user = result_of(admin.get(f"/users/{member['id']}"))

        assert member["primary_phone"] == "+4930123456"
        assert (user["name"], user["email"], user["phone_verified"]) == ("Mia", "mia@x.org", False)

    def test_rule_1_case_G13_reuses_a_known_phone_and_leaves_the_user_as_it_is(
        self, acme, admin, manager, path
    ):
        known = acme.user(
            phone="+4930123456", name="Known", email="known@x.org", custom_data={"salary": "canary"}
        )
        elsewhere = admin.created("/organizations", name="Elsewhere")["id"]
        result_of(admin.post(f"/organizations/{elsewhere}/users", user_ids=[str(known.pk)]))
        before = result_of(admin.get(f"/users/{known.pk}"))

        answer = manager.post(path, phone="49 30 123456", name="Other", email="other@x.org")

        member = result_of(answer)
        assert member["id"] == str(known.pk)
        assert (member["name"], member["primary_email"]) == ("Known", "known@x.org")
        assert result_of(admin.get(f"/users/{known.pk}")) == before
        # Nothing of the user that the interface does not list, nor of the other organization.
        assert set(member) == {
            *("id", "username", "primary_phone", "primary_email", "name", "is_admin"),
            *("joined_at", "created_at"),
        }
        assert "canary" not in answer.text
        assert elsewhere not in answer.text

    @pytest.mark.parametrize(
        "spelling",
        [
            *("+44 20 7946 0018", "442079460018", "+44-20.7946(0018)", "44 20 7946 0018"),
            *("+\uff14\uff14 \uff12\uff10 7946 0018", "\uff0b442079460018", " +442079460018 "),
        ],
    )
    def test_decision_I2_case_G14_spellings_of_one_phone_are_one_user(self, acme, manager, path, spelling):
        first = result_of(manager.post(path, phone="+442079460018"))

        again = result_of(manager.post(path, phone=spelling))

        assert again["id"] == first["id"]
        assert result_of(manager.get(path))["total"] == 1

    def test_decision_I2_case_G14_two_zeros_are_no_plus(self, manager, path):
        first = result_of(manager.post(path, phone="+442079460018"))

        assert result_of(manager.post(path, phone="00442079460018"))["id"] != first["id"]

    def test_rule_1_may_be_repeated(self, manager, path):
        first = result_of(manager.post(path, phone="+4930123456"))
        second = result_of(manager.post(path, phone="+4930123456"))

        assert first == second

    def test_case_G15_never_attaches_to_the_owner_of_an_email(self, acme, manager, path):
        acme.user(email="taken@x.org")

        message = error_of(manager.post(path, phone="+4930123456", email="taken@x.org"), 400, 400)

        assert message == "email: already exists"
        assert result_of(manager.get(path))["total"] == 0

    @pytest.mark.parametrize("phone", ["", "123", "abc", "+49 30 x", None, 5, "1" * 16])
    def test_refuses_what_is_no_phone(self, manager, path, phone):
        assert "phone" in error_of(manager.post(path, phone=phone), 400, 400)

    def test_case_M06_of_many_at_once_all_get_the_same_member(self, acme, manager, path):
        answers = []
        together = threading.Barrier(20)

        def enrol() -> None:
            together.wait()
            answers.append(manager.post(path, phone="+4930777777", name="Mia"))

        threads = [threading.Thread(target=enrol) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.json()["result"]["id"] for answer in answers}) == 1
        with acme.active():
            assert User.objects.filter(phone_key="4930777777").count() == 1
        assert result_of(manager.get(path))["total"] == 1


class TestRemove:
    def test_rule_2_keeps_the_user(self, admin, manager, path):
        member = result_of(manager.post(path, phone="+4930123456"))

        assert result_of(manager.delete(f"{path}/{member['id']}")) is None

        assert result_of(admin.get(f"/users/{member['id']}"))["id"] == member["id"]
        error_of(manager.delete(f"{path}/{member['id']}"), 404, 41301)

    def test_rule_4_case_G12_keeps_an_administrator(self, admin, manager, path, organization):
        member = result_of(manager.post(path, phone="+4930123456"))
        result_of(admin.patch(f"/organizations/{organization['id']}/users/{member['id']}", is_admin=True))

        error_of(manager.delete(f"{path}/{member['id']}"), 403, 41305)

        assert result_of(manager.get(path))["total"] == 1

    @pytest.mark.parametrize("is_admin", [True, False])
    def test_rule_4_case_G12_roles_make_and_unmake_no_administrator(
        self, admin, manager, path, organization, is_admin
    ):
        member = result_of(manager.post(path, phone="+4930123456"))
        here = f"/organizations/{organization['id']}/users/{member['id']}"
        result_of(admin.patch(here, is_admin=is_admin))
        role = admin.created("/organization-roles", name="admin")

        for role_ids in ([role["id"]], []):
            result_of(manager.put(f"{path}/{member['id']}/roles", role_ids=role_ids))

            [shown] = result_of(manager.get(path))["result"]
            assert shown["is_admin"] is is_admin

    def test_rule_4_case_G12_makes_nobody_an_administrator(self, manager, path):
        member = result_of(manager.post(path, phone="+4930123456", is_admin=True))

        assert member["is_admin"] is False
        assert manager.patch(f"{path}/{member['id']}", is_admin=True).status_code == 405


class TestRoles:
    def test_rule_3_replaces_them_in_this_organization_alone(self, admin, manager, path):
        member = result_of(manager.post(path, phone="+4930123456"))
        other = admin.created("/organizations", name="Other")
        result_of(admin.post(f"/organizations/{other['id']}/users", user_ids=[member["id"]]))
        first, second = (admin.created("/organization-roles", name=name) for name in ("A", "B"))
        there = f"/organizations/{other['id']}/users/{member['id']}/roles"
        result_of(admin.put(there, organization_role_ids=[first["id"]]))

        result_of(manager.put(f"{path}/{member['id']}/roles", role_ids=[second["id"]]))
        shown = result_of(manager.get(f"{path}/{member['id']}/roles"))

        assert [set(role) for role in shown] == [{"id", "name", "description", "type", "created_at"}]
        assert [role["id"] for role in shown] == [second["id"]]
        assert [role["id"] for role in result_of(admin.get(there))] == [first["id"]]

    def test_names_unknown_ids(self, manager, path):
        member = result_of(manager.post(path, phone="+4930123456"))

        message = error_of(manager.put(f"{path}/{member['id']}/roles", role_ids=["x"]), 400, 400)

        assert message.startswith("role_ids")

    def test_are_of_members_alone(self, acme, manager, path):
        stranger = acme.user()

        error_of(manager.get(f"{path}/{stranger.pk}/roles"), 404, 41301)
        error_of(manager.put(f"{path}/{stranger.pk}/roles", role_ids=[]), 404, 41301)


class TestWhoMayComeIn:
    def test_nobody_without_a_good_token(self, manager, path):
        for token in (None, "x", manager.token + "x"):
            answer = management.Caller(manager.world, token).get(path)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        malformed = management.Caller(manager.world, None, {"Authorization": manager.token}).get(path)
        assert malformed.status_code == 401

    def test_no_end_user_and_no_administrator(self, acme, admin, path):
        tokens = acme.application().tokens_for(acme.user())

        assert management.Caller(acme, tokens["access_token"]).get(path).status_code == 403
        assert admin.get(path).status_code == 401

    @pytest.mark.parametrize("permission", ["manage:organizations", "all"])
    def test_case_G10_no_end_user_who_holds_the_very_scope(self, acme, admin, organization, path, permission):
        user, client = acme.user(), acme.application()
        held = admin.created("/organization-permissions", name=permission)
        role = admin.created("/organization-roles", name="manager")
        result_of(admin.put(f"/organization-roles/{role['id']}/scopes", scope_ids=[held["id"]]))
        here = f"/organizations/{organization['id']}/users"
        result_of(admin.post(here, user_ids=[str(user.pk)]))
        result_of(admin.put(f"{here}/{user.pk}/roles", organization_role_ids=[role["id"]]))
        tokens = client.tokens_for(user, organization_id=organization["id"])

        answer = management.Caller(acme, tokens["access_token"]).get(path)

        assert permission in tokens["scope"].split()
        assert answer.status_code == 403

    def test_case_G09_no_token_of_another_organization(self, acme, admin, path):
        other = admin.created("/organizations", name="Other")

        assert management.member_manager(acme, other["id"]).get(path).status_code == 403

    @pytest.mark.parametrize("permission", ["xmanage:organizationsx", "manage:organizations2", "ALL", "read"])
    def test_case_G10_G11_no_token_without_the_very_scope(self, acme, organization, path, permission):
        caller = management.member_manager(acme, organization["id"], permission=permission)

        assert caller.get(path).status_code == 403

    def test_all_is_enough(self, acme, organization, path):
        caller = management.member_manager(acme, organization["id"], permission="all")

        assert caller.get(path).status_code == 200

    def test_no_token_of_another_tenant(self, rival, path):
        there = management.superuser(rival).created("/organizations", name="Org")
        foreign = management.member_manager(rival, there["id"])

        assert foreign.get(path).status_code == 404 or foreign.get(path).status_code == 403

    def test_decision_O15_reads_binding_and_roles_live(self, admin, manager, path, organization):
        bound = f"/organizations/{organization['id']}/applications/{manager.id}"

        result_of(admin.put(f"{bound}/roles", organization_role_ids=[]))
        without_role = manager.get(path)
        result_of(admin.delete(bound))
        without_binding = manager.get(path)
        result_of(admin.delete(f"/applications/{manager.id}"))
        without_application = manager.get(path)

        assert without_role.status_code == 403
        assert without_binding.status_code == 403
        assert without_application.status_code == 401

    def test_case_G17_an_organization_that_was_deleted_is_41000(self, admin, manager, path, organization):
        result_of(admin.delete(f"/organizations/{organization['id']}"))

        error_of(manager.get(path), 404, 41000)
        error_of(manager.post(path, phone="+4930123456"), 404, 41000)

    def test_decision_O15_its_token_does_not_open_the_management_api(self, manager):
        assert manager.get("/users").status_code == 403
