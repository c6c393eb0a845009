"""Decisions O2 to O4: audiences, scopes and organizations of the tokens of machine applications."""

import pytest

from tests.support import management
from tests.support.independent import claims_of
from tests.support.management import result_of
from tests.support.role_setting import INDICATOR, Setting


@pytest.fixture
def setting(acme):
    return Setting(acme)


class TestMachineTokens:
    @pytest.fixture
    def robot(self, setting):
        return management.machine(setting.world, roles=[setting.machine_role["id"]])

    def ask(self, robot, **form):
        return management.connection().post(
            f"{robot.world.address}/oidc/token",
            data={"grant_type": "client_credentials"} | form,
            auth=(robot.client_id, robot.secret),
        )

    def test_decision_O2_the_one_resource_of_its_scopes_is_the_audience(self, robot):
        for sent in ({}, {"scope": "read"}, {"resource": INDICATOR}):
            answer = self.ask(robot, **sent).json()
            assert claims_of(answer["access_token"])["aud"] == INDICATOR
            assert answer["scope"] == "read"
            assert answer["expires_in"] == 600

    def test_decision_O2_scopes_of_several_resources_need_a_resource(self, setting, robot):
        api = setting.admin.created("/resources", name="B", indicator="https://b.example")
        scope = setting.admin.created(f"/resources/{api['id']}/scopes", name="count")
        both = [setting.scopes["read"], scope["id"]]
        result_of(setting.admin.put(f"/roles/{setting.machine_role['id']}/scopes", scope_ids=both))

        mixed = self.ask(robot, scope="read count")
        nothing_named = self.ask(robot).json()
        named = self.ask(robot, scope="count").json()

        assert mixed.json()["error"] == "invalid_request"
        assert "resource" in mixed.json()["error_description"]
        assert claims_of(nothing_named["access_token"])["aud"] == setting.world.issuer
        assert nothing_named["scope"] == ""
        assert claims_of(named["access_token"])["aud"] == "https://b.example"

    def test_case_C12_gets_no_scope_that_its_roles_do_not_hold(self, robot):
        answer = self.ask(robot, scope="read write delete all").json()

        assert answer["scope"] == "read"

    def test_case_C12_gets_none_if_it_names_only_such_scopes(self, robot):
        assert self.ask(robot, scope="write", resource=INDICATOR).json()["scope"] == ""

    def test_case_F14_asking_for_all_is_not_having_it(self, acme, setting, robot):
        answer = self.ask(robot, scope="all", resource=f"urn:service:management-api:{acme.tenant.pk}").json()

        assert answer["scope"] == ""
        caller = management.Caller(acme, answer["access_token"])
        assert caller.get("/users").status_code == 403

    def test_decision_O3_an_unknown_resource_is_refused(self, robot):
        answer = self.ask(robot, resource="https://nowhere.example")

        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")

    def test_decision_O3_case_G09_an_organization_needs_a_binding(self, setting, robot):
        for organization in (setting.organization["id"], "x"):
            answer = self.ask(robot, organization_id=organization)
            assert answer.json()["error"] == "unauthorized_client"

    def test_decision_O4_a_bound_machine_has_what_its_roles_there_hold(self, setting, robot):
        admin, organization = setting.admin, setting.organization["id"]
        role = admin.created("/organization-roles", name="robot", type="MachineToMachine")
        result_of(admin.put(f"/organization-roles/{role['id']}/scopes", scope_ids=[setting.permission["id"]]))
        result_of(
            admin.put(
                f"/organization-roles/{role['id']}/resource-scopes", scope_ids=[setting.scopes["delete"]]
            )
        )
        result_of(admin.post(f"/organizations/{organization}/applications", application_ids=[robot.id]))
        result_of(
            admin.put(
                f"/organizations/{organization}/applications/{robot.id}/roles",
                organization_role_ids=[role["id"]],
            )
        )

        plain = self.ask(robot, organization_id=organization).json()
        targeted = self.ask(robot, organization_id=organization, resource=INDICATOR).json()

        assert plain["scope"] == "doc:edit"
        assert claims_of(plain["access_token"])["organization_id"] == organization
        assert targeted["scope"] == "delete"
        assert claims_of(targeted["access_token"])["aud"] == INDICATOR
        assert (plain["expires_in"], targeted["expires_in"]) == (3600, 600)
