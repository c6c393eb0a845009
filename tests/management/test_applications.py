"""/applications: every row of the interface's table, and decisions O6 to O9 and I7."""

import httpx
import pytest

from tests.support.management import management_role, refusal_of, result_of

CALLBACK = "https://rp.example/cb"
# The members of an application whose further settings nobody changed.
OPEN: dict[str, object] = {
    "custom_claims": [],
    "id_token_signed_response_alg": "",
    "userinfo_signed_response_alg": "",
    "allowed_role_ids": [],
    "allowed_organization_ids": [],
    "refresh_token_idle_seconds": None,
    "refresh_token_absolute_seconds": None,
    "default_max_age": None,
    "required_acr": "",
    "default_acr_values": [],
    **dict.fromkeys(("client_uri", "logo_uri", "policy_uri", "tos_uri", "initiate_login_uri"), ""),
    "contacts": [],
}


@pytest.fixture
def web(admin):
    return admin.created(
        "/applications",
        name="Web",
        type="Traditional",
        oidc_client_metadata={"redirect_uris": [CALLBACK]},
    )


@pytest.fixture
def robot_application(admin):
    return admin.created("/applications", name="Robot", type="MachineToMachine")


def client_credentials(world, client_id, secret):
    return httpx.post(
        f"{world.address}/oidc/token", data={"grant_type": "client_credentials"}, auth=(client_id, secret)
    )


class TestCreate:
    def test_shows_the_secret_this_once(self, admin, web):
        shown = result_of(admin.get(f"/applications/{web['id']}"))

        assert len(web["client_secret"]) >= 43
        assert set(shown) == {
            *("id", "name", "type", "description", "client_id", "is_third_party"),
            *("oidc_client_metadata", "branding", "created_at", "updated_at"),
        }
        assert web["client_secret"] not in admin.get("/applications").text

    def test_decision_H11_is_not_kept_by_anybody(self, admin):
        answer = admin.post("/applications", name="Web", type="SPA")

        assert answer.headers["Cache-Control"] == "no-store"

    @pytest.mark.parametrize(
        ("kind", "grants"),
        [
            ("Traditional", ["authorization_code", "refresh_token"]),
            ("SPA", ["authorization_code", "refresh_token"]),
            ("Native", ["authorization_code", "refresh_token"]),
            ("MachineToMachine", ["client_credentials"]),
        ],
    )
    def test_decision_O8_has_the_grants_of_its_type(self, admin, kind, grants):
        application = admin.created("/applications", name="A", type=kind)

        assert application["oidc_client_metadata"] == {
            "redirect_uris": [],
            "grant_types": grants,
            "post_logout_redirect_uris": [],
            "require_pkce": kind in {"SPA", "Native"},
            **OPEN,
        }

    @pytest.mark.parametrize(
        ("kind", "metadata"),
        [
            ("MachineToMachine", {"redirect_uris": [CALLBACK]}),
            ("MachineToMachine", {"grant_types": ["authorization_code"]}),
            ("SPA", {"grant_types": ["client_credentials"]}),
            ("SPA", {"grant_types": ["refresh_token"]}),
            ("SPA", {"grant_types": ["password"]}),
            ("SPA", {"redirect_uris": ["http://rp.example/cb"]}),
            ("SPA", {"redirect_uris": ["com.example.app:/cb"]}),
            ("Native", {"redirect_uris": ["javascript:alert(1)"]}),
            ("Traditional", {"redirect_uris": ["https://rp.example/cb#f"]}),
            ("Traditional", {"redirect_uris": ["/cb"]}),
            ("Traditional", {"redirect_uris": "https://rp.example/cb"}),
            ("Traditional", {"redirect_uris": [1]}),
        ],
    )
    def test_decision_O8_refuses_what_its_type_may_not(self, admin, kind, metadata):
        before = result_of(admin.get("/applications"))["total"]

        answer = admin.post("/applications", name="A", type=kind, oidc_client_metadata=metadata)

        assert next(iter(metadata)) in refusal_of(answer, 400)
        assert result_of(admin.get("/applications"))["total"] == before

    def test_asks_for_name_and_type(self, admin):
        assert "name" in refusal_of(admin.post("/applications", type="SPA"), 400)
        assert "type" in refusal_of(admin.post("/applications", name="A"), 400)


class TestChange:
    def test_decision_H9_merges_metadata_one_level(self, admin, web):
        changed = result_of(
            admin.patch(
                f"/applications/{web['id']}",
                description="D",
                oidc_client_metadata={"post_logout_redirect_uris": ["https://rp.example/"]},
            )
        )

        assert changed["description"] == "D"
        assert changed["oidc_client_metadata"] == {
            "redirect_uris": [CALLBACK],
            "grant_types": ["authorization_code", "refresh_token"],
            "post_logout_redirect_uris": ["https://rp.example/"],
            "require_pkce": False,
            **OPEN,
        }

    @pytest.mark.parametrize("field", ["client_id", "client_secret", "tenant_id", "id"])
    def test_case_H03_leaves_what_is_ours(self, admin, web, field):
        result_of(admin.patch(f"/applications/{web['id']}", **{field: "x"}))

        assert result_of(admin.get(f"/applications/{web['id']}"))["client_id"] == web["client_id"]

    def test_keeps_its_type(self, admin, web):
        assert refusal_of(admin.patch(f"/applications/{web['id']}", type="SPA"), 400).startswith("type")

    def test_decision_O9_may_be_a_third_party(self, admin, web):
        assert result_of(admin.patch(f"/applications/{web['id']}", is_third_party=True))["is_third_party"]


class TestSecret:
    def test_case_C14_replaces_the_old_one_at_once(self, acme, admin, robot_application):
        client_id, old = robot_application["client_id"], robot_application["client_secret"]

        rotated = result_of(admin.post(f"/applications/{robot_application['id']}/secret"))

        assert set(rotated) == {"client_id", "client_secret"}
        assert client_credentials(acme, client_id, old).json()["error"] == "invalid_client"
        assert client_credentials(acme, client_id, rotated["client_secret"]).status_code == 200


class TestDelete:
    def test_case_C14_invalidates_id_secret_and_tokens(self, acme, admin):
        user, client = acme.user(), acme.application()
        tokens = client.tokens_for(user)

        assert result_of(admin.delete(f"/applications/{client.application.pk}")) is None

        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_client"
        assert client.userinfo(tokens["access_token"]).status_code == 401


class TestRoles:
    def test_decision_I7_are_replaced_as_a_whole(self, acme, admin, robot_application):
        path = f"/applications/{robot_application['id']}/roles"
        role = management_role(acme)

        result_of(admin.put(path, role_ids=[role]))

        assert [row["id"] for row in result_of(admin.get(path))] == [role]
        there = result_of(admin.get(f"/roles/{role}/applications"))
        assert [row["id"] for row in there] == [robot_application["id"]]

    def test_decision_I6_takes_no_role_for_people(self, admin, robot_application):
        role = admin.created("/roles", name="R", type="User")

        answer = admin.put(f"/applications/{robot_application['id']}/roles", role_ids=[role["id"]])

        assert role["id"] in refusal_of(answer, 400)

    def test_decision_I7_are_for_machines_alone(self, acme, admin, web):
        answer = admin.put(f"/applications/{web['id']}/roles", role_ids=[management_role(acme)])

        assert "MachineToMachine" in refusal_of(answer, 400)
