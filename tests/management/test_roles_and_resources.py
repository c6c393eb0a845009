"""/roles and /resources: every row of the interface's tables."""

import pytest

from identity.resources.models import Resource
from tests.support.management import MANAGEMENT_ROLE, management_role, refusal_of, result_of


@pytest.fixture
def role(admin):
    return admin.created("/roles", name="Editor", type="User", description="May edit")


@pytest.fixture
def resource(admin):
    return admin.created("/resources", name="Orders", indicator="https://orders.example")


@pytest.fixture
def scope(admin, resource):
    return admin.created(f"/resources/{resource['id']}/scopes", name="read:orders", description="Read")


class TestRole:
    def test_has_the_fields_of_the_interface(self, role):
        assert set(role) == {"id", "name", "description", "type", "created_at", "updated_at"}

    @pytest.mark.parametrize(
        ("body", "field"),
        [({"type": "User"}, "name"), ({"name": "X"}, "type"), ({"name": "X", "type": "Robot"}, "type")],
    )
    def test_asks_for_a_name_and_one_of_two_types(self, admin, body, field):
        assert field in refusal_of(admin.post("/roles", **body), 400)

    def test_has_a_name_of_its_own_in_the_tenant(self, admin, role, rival):
        assert refusal_of(admin.post("/roles", name="Editor", type="User"), 400) == "name: already exists"
        assert admin.at(rival).created("/roles", name="Editor", type="User")["name"] == "Editor"

    def test_changes_name_and_description(self, admin, role):
        changed = result_of(admin.patch(f"/roles/{role['id']}", name="Author", description=""))

        assert (changed["name"], changed["description"]) == ("Author", "")

    def test_decision_H9_keeps_its_type(self, admin, role):
        assert refusal_of(admin.patch(f"/roles/{role['id']}", type="MachineToMachine"), 400).startswith(
            "type"
        )
        assert result_of(admin.patch(f"/roles/{role['id']}", type="User"))["type"] == "User"

    def test_is_deleted_with_its_links(self, acme, admin, role, scope):
        user = acme.user()
        result_of(admin.put(f"/roles/{role['id']}/scopes", scope_ids=[scope["id"]]))
        result_of(admin.put(f"/roles/{role['id']}/users", user_ids=[str(user.pk)]))

        assert result_of(admin.delete(f"/roles/{role['id']}")) is None

        assert result_of(admin.get(f"/users/{user.pk}/roles")) == []
        assert admin.get(f"/roles/{role['id']}").status_code == 404


class TestRoleScopes:
    def test_shows_them_with_their_resource(self, admin, role, resource, scope):
        result_of(admin.put(f"/roles/{role['id']}/scopes", scope_ids=[scope["id"]]))

        assert result_of(admin.get(f"/roles/{role['id']}/scopes")) == [
            {
                "id": scope["id"],
                "name": "read:orders",
                "description": "Read",
                "resource_id": resource["id"],
                "resource_name": "Orders",
            }
        ]

    def test_case_G04_refuses_a_scope_of_another_tenant(self, admin, role, rival):
        there = admin.at(rival)
        api = there.created("/resources", name="R", indicator="https://r.example")
        foreign = there.created(f"/resources/{api['id']}/scopes", name="read")

        assert foreign["id"] in refusal_of(
            admin.put(f"/roles/{role['id']}/scopes", scope_ids=[foreign["id"]]), 400
        )


class TestRoleUsers:
    def test_replaces_the_whole_set(self, acme, admin, role):
        first, second = acme.user(), acme.user()

        result_of(admin.put(f"/roles/{role['id']}/users", user_ids=[str(first.pk)]))
        result_of(admin.put(f"/roles/{role['id']}/users", user_ids=[str(second.pk)]))

        assert result_of(admin.get(f"/roles/{role['id']}/users")) == [
            {"id": str(second.pk), "username": second.username, "name": "", "email": "", "avatar": None}
        ]

    def test_decision_I6_gives_no_machine_role_to_people(self, acme, admin):
        role = admin.created("/roles", name="Robot", type="MachineToMachine")

        answer = admin.put(f"/roles/{role['id']}/users", user_ids=[str(acme.user().pk)])

        assert refusal_of(answer, 400).startswith("user_ids")


class TestProtectedRole:
    def test_decision_T3_every_tenant_is_born_with_it(self, acme, admin):
        scopes = result_of(admin.get(f"/roles/{management_role(acme)}/scopes"))

        assert [scope["name"] for scope in scopes] == ["all"]

    def test_decision_T3_stays_as_it_is(self, acme, admin):
        path = f"/roles/{management_role(acme)}"

        assert admin.delete(path).status_code == 400
        assert admin.patch(path, name="Mine").status_code == 400
        assert admin.put(f"{path}/scopes", scope_ids=[]).status_code == 400
        assert result_of(admin.get(path))["name"] == MANAGEMENT_ROLE

    def test_decision_T3_takes_more_scopes_beside_all(self, acme, admin, scope):
        path = f"/roles/{management_role(acme)}/scopes"
        all_of_it = result_of(admin.get(path))[0]["id"]

        result_of(admin.put(path, scope_ids=[all_of_it, scope["id"]]))

        assert {row["name"] for row in result_of(admin.get(path))} == {"all", "read:orders"}


class TestResource:
    def test_has_the_fields_of_the_interface_and_of_decision_I8(self, resource):
        assert set(resource) == {
            *("id", "name", "indicator", "access_token_ttl", "is_default", "scope_count"),
            *("access_token_signing_alg", "claims", "custom_claims", "required_acr"),
            *("created_at", "updated_at"),
        }
        assert resource["access_token_ttl"] == 3600

    def test_has_an_indicator_of_its_own(self, admin, resource):
        answer = admin.post("/resources", name="Again", indicator="https://orders.example")

        assert refusal_of(answer, 400) == "indicator: already exists"

    @pytest.mark.parametrize("indicator", ["", "orders", "/orders", "https://x#y", "https://x y"])
    def test_is_known_by_an_absolute_uri(self, admin, indicator):
        assert "indicator" in refusal_of(admin.post("/resources", name="R", indicator=indicator), 400)

    def test_attack_AP35_is_ascii_so_that_it_fits_into_the_index(self, admin):
        long = "https://x/" + "".join(chr(0x4E00 + number) for number in range(2_038))

        for indicator in (long, "https://\u00e4.example"):
            answer = admin.post("/resources", name="R", indicator=indicator)
            assert refusal_of(answer, 400) == "indicator: must be plain ASCII"
        assert admin.created("/resources", name="R", indicator="https://x/" + "y" * 2_038)

    def test_one_of_an_earlier_release_is_read_and_edited(self, acme, admin, operator, resource):
        indicator, path = "https://\u00e4.example", f"/resources/{resource['id']}"
        with acme.active():
            Resource.objects.filter(pk=resource["id"]).update(indicator=indicator)

        read = result_of(admin.get(path))
        changed = result_of(admin.patch(path, indicator=indicator, access_token_ttl=600))

        assert read["indicator"] == changed["indicator"] == indicator
        assert changed["access_token_ttl"] == 600
        assert result_of(admin.patch(path, name="Orders 2"))["name"] == "Orders 2"
        form = f"/admin/resources/resource/{resource['id']}/do/change/"
        edited = operator.submit(form, name="Orders 3", access_token_ttl="600")
        assert edited.status_code == 303
        assert result_of(admin.get(path))["name"] == "Orders 3"
        assert "indicator" in refusal_of(admin.patch(path, indicator="https://\u00f6.example"), 400)

    def test_takes_no_audience_of_our_own(self, acme, admin):
        """RFC 9068 section 5: a token for one resource is never one for another."""
        for indicator in (acme.issuer, "urn:service:organization:01890a5d-ac96-774b-bcce-b302099a8057"):
            message = refusal_of(admin.post("/resources", name="R", indicator=indicator), 400)
            assert message.startswith("indicator: ")

    def test_decision_H9_keeps_its_indicator(self, admin, resource):
        path = f"/resources/{resource['id']}"

        assert admin.patch(path, indicator="https://other.example").status_code == 400
        changed = result_of(admin.patch(path, indicator="https://orders.example", access_token_ttl=600))
        assert changed["access_token_ttl"] == 600

    @pytest.mark.parametrize("ttl", [0, -1, 59, 2**31, 2**63, 1.5, "3600", True, None])
    def test_case_L05_bounds_the_lifetime(self, admin, resource, ttl):
        answer = admin.patch(f"/resources/{resource['id']}", access_token_ttl=ttl)

        assert "access_token_ttl" in refusal_of(answer, 400)

    def test_decision_I8_has_one_default_at_most(self, admin, resource):
        other = admin.created("/resources", name="B", indicator="https://b.example")

        result_of(admin.patch(f"/resources/{resource['id']}", is_default=True))
        result_of(admin.patch(f"/resources/{other['id']}", is_default=True))

        assert result_of(admin.get(f"/resources/{resource['id']}"))["is_default"] is False

    @pytest.mark.parametrize(
        ("name", "value"), [("search", "ORDER"), ("name", "Orders"), ("indicator", "https://orders.example")]
    )
    def test_decision_I8_is_found_by_filters(self, admin, resource, name, value):
        found = result_of(admin.get("/resources", **{name: value}))["data"]

        assert [row["id"] for row in found] == [resource["id"]]

    def test_is_deleted_with_its_scopes(self, admin, role, resource, scope):
        result_of(admin.put(f"/roles/{role['id']}/scopes", scope_ids=[scope["id"]]))

        assert result_of(admin.delete(f"/resources/{resource['id']}")) is None

        assert result_of(admin.get(f"/roles/{role['id']}/scopes")) == []

    def test_decision_T3_the_management_api_stays(self, admin):
        built_in = result_of(admin.get("/resources", search="urn:service:management-api:"))["data"][0]

        assert admin.delete(f"/resources/{built_in['id']}").status_code == 400
        assert admin.patch(f"/resources/{built_in['id']}", name="Mine").status_code == 400
        for held in result_of(admin.get(f"/resources/{built_in['id']}/scopes")):
            assert admin.delete(f"/resources/{built_in['id']}/scopes/{held['id']}").status_code == 400


class TestScope:
    def test_has_the_fields_of_the_interface(self, scope, resource):
        assert set(scope) == {"id", "name", "description", "resource_id", "created_at"}
        assert scope["resource_id"] == resource["id"]

    def test_has_a_name_of_its_own_in_its_resource(self, admin, resource, scope):
        other = admin.created("/resources", name="B", indicator="https://b.example")

        message = refusal_of(admin.post(f"/resources/{resource['id']}/scopes", name="read:orders"), 400)

        assert message == "name: already exists"
        admin.created(f"/resources/{other['id']}/scopes", name="read:orders")

    @pytest.mark.parametrize("name", ["", "read orders", 'a"b', "a\\b", "é", "a\nb"])
    def test_is_one_word_of_a_scope_parameter(self, admin, resource, name):
        assert "name" in refusal_of(admin.post(f"/resources/{resource['id']}/scopes", name=name), 400)

    def test_is_detached_from_every_role_when_deleted(self, admin, role, resource, scope):
        result_of(admin.put(f"/roles/{role['id']}/scopes", scope_ids=[scope["id"]]))

        assert result_of(admin.delete(f"/resources/{resource['id']}/scopes/{scope['id']}")) is None

        assert result_of(admin.get(f"/roles/{role['id']}/scopes")) == []
        assert result_of(admin.get(f"/resources/{resource['id']}"))["scope_count"] == 0

    def test_is_unknown_below_another_resource(self, admin, scope):
        other = admin.created("/resources", name="B", indicator="https://b.example")

        assert admin.delete(f"/resources/{other['id']}/scopes/{scope['id']}").status_code == 404
