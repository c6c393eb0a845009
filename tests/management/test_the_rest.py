"""/signing-keys, /sign-in-experience, /logs, /tenants and /administrators."""

import secrets

import pytest

from tests.support import management
from tests.support.cast import World, default_world
from tests.support.management import refusal_of, result_of

SOCIAL = {
    "automatic_account_linking": False,
    "create_users": True,
    "create_users_while_registration_is_closed": False,
}


class TestSigningKeys:
    def test_lists_the_active_key_and_those_before(self, admin):
        keys = result_of(admin.get("/signing-keys"))

        assert [set(key) for key in keys] == [
            {
                *("id", "status", "algorithm"),
                *("created_at", "published_at", "activated_at", "retired_at"),
            }
        ]
        assert (keys[0]["status"], keys[0]["algorithm"]) == ("active", "ES256")

    def test_rotates_and_forgets(self, acme, admin):
        old = result_of(admin.get("/signing-keys"))[0]

        new = result_of(admin.post("/signing-keys/rotate"))
        listed = {key["id"]: key["status"] for key in result_of(admin.get("/signing-keys"))}
        removed = result_of(admin.delete(f"/signing-keys/{old['id']}"))

        assert listed == {old["id"]: "previous", new["id"]: "active"}
        assert removed is None
        assert [key["kid"] for key in acme.get("/.well-known/jwks.json").json()["keys"]] == [new["id"]]

    def test_keeps_the_active_key(self, admin):
        active = result_of(admin.get("/signing-keys"))[0]

        refusal_of(admin.delete(f"/signing-keys/{active['id']}"), 400)

        assert result_of(admin.get("/signing-keys")) == [active]
        assert admin.delete("/signing-keys/x").status_code == 404


class TestSignInExperience:
    def test_decision_X2_starts_with_the_defaults(self, admin):
        shown = result_of(admin.get("/sign-in-experience"))

        assert set(shown) == {
            *("id", "branding", "sign_in", "sign_up", "password_policy"),
            *(
                "social_sign_in",
                "account",
                "message_templates",
                "terms_of_use_url",
                "privacy_policy_url",
                "updated_at",
            ),
        }
        assert shown["sign_up"] == {"identifiers": ["username"], "password": True, "verify": False}
        assert shown["password_policy"]["min_length"] == 8
        assert shown["social_sign_in"] == SOCIAL

    def test_says_what_becomes_of_who_comes_from_another_provider(self, acme, rival, admin):
        result_of(admin.patch("/sign-in-experience", social_sign_in={"automatic_account_linking": True}))
        shown = result_of(admin.patch("/sign-in-experience", social_sign_in={"create_users": False}))

        assert shown["social_sign_in"] == SOCIAL | {"automatic_account_linking": True, "create_users": False}
        refusal_of(admin.patch("/sign-in-experience", social_sign_in={"create_users": "no"}), 400)
        refusal_of(admin.patch("/sign-in-experience", social_sign_in=None), 400)
        theirs = result_of(management.superuser(rival).get("/sign-in-experience"))
        assert theirs["social_sign_in"] == SOCIAL

    def test_decision_H9_merges_objects_one_level(self, acme, admin):
        result_of(admin.patch("/sign-in-experience", branding={"primary_color": "#0a84ff"}))
        shown = result_of(admin.patch("/sign-in-experience", branding={"logo_url": "https://x.org/l.png"}))

        assert shown["branding"]["primary_color"] == "#0a84ff"
        assert shown["branding"]["logo_url"] == "https://x.org/l.png"
        assert "#0a84ff" in acme.get("/brand.css").text

    def test_decision_X11_says_what_people_may_do_on_their_account_page(self, admin):
        default = result_of(admin.get("/sign-in-experience"))["account"]
        changed = result_of(admin.patch("/sign-in-experience", account={"deletion": True}))["account"]

        unset = {"non_ascii_email_names": False, "sms_countries": []}
        assert default == {"username_change": False, "deletion": False} | unset
        assert changed == {"username_change": False, "deletion": True} | unset
        for wrong in ({"deletion": "yes"}, {"username_change": None}, "x"):
            refusal_of(admin.patch("/sign-in-experience", account=wrong), 400)

    def test_decision_X4_the_strength_meter_is_off_until_somebody_wants_it(self, acme, admin):
        before = acme.get("/register").text
        default = result_of(admin.get("/sign-in-experience"))["password_policy"]
        changed = result_of(admin.patch("/sign-in-experience", password_policy={"strength_meter": True}))

        assert default["strength_meter"] is False
        assert changed["password_policy"] == default | {"strength_meter": True}
        assert "strength" not in before
        assert "data-strength=" in acme.get("/register").text
        assert "strength" not in acme.get("/sign-in").text
        refusal_of(admin.patch("/sign-in-experience", password_policy={"strength_meter": "yes"}), 400)

    def test_replaces_lists(self, admin):
        methods = [{"identifier": "email", "password": True, "verification_code": False}]

        shown = result_of(admin.patch("/sign-in-experience", sign_in={"methods": methods}))

        assert shown["sign_in"] == {"methods": methods}

    @pytest.mark.parametrize(
        "change",
        [
            {"branding": {"primary_color": "red"}},
            {"branding": {"primary_color": "#12345"}},
            {"branding": {"primary_color": "#fff;}body{"}},
            {"branding": {"logo_url": "javascript:alert(1)"}},
            {"branding": {"favicon": "data:text/html,x"}},
            {"branding": {"logo_url": "//evil.example/x"}},
            {"branding": "x"},
            {"password_policy": {"min_length": 5}},
            {"password_policy": {"min_length": 33}},
            {"sign_up": {"identifiers": ["passport"]}},
            {"sign_in": {"methods": [{"identifier": "email"}]}},
            {
                "sign_in": {
                    "methods": [{"identifier": "username", "password": True, "verification_code": True}]
                }
            },
            {"terms_of_use_url": "javascript:alert(1)"},
        ],
    )
    def test_case_J08_J09_J11_refuses_what_would_harm_a_page(self, admin, change):
        before = result_of(admin.get("/sign-in-experience"))

        refusal_of(admin.patch("/sign-in-experience", **change), 400)

        assert result_of(admin.get("/sign-in-experience")) == before

    def test_decision_X3_a_method_that_is_off_is_off_at_once(self, acme, admin):
        user = acme.user()
        methods = [{"identifier": "email", "password": True, "verification_code": False}]

        result_of(admin.patch("/sign-in-experience", sign_in={"methods": methods}))

        assert acme.browser().sign_in(user).status_code == 400


class TestLogs:
    def test_lists_the_newest_first_with_the_fields_of_the_interface(self, admin):
        admin.created("/roles", name="A", type="User")
        admin.created("/roles", name="B", type="User")

        page = result_of(admin.get("/logs", key="Role.Create"))

        assert page["total"] == 2
        assert [entry["payload"]["name"] for entry in page["data"]] == ["B", "A"]
        assert set(page["data"][0]) == {
            *("id", "key", "payload", "user_id", "application_id", "ip", "user_agent", "created_at")
        }
        assert result_of(admin.get(f"/logs/{page['data'][0]['id']}")) == page["data"][0]

    def test_decision_A1_says_who_did_it_and_what_changed(self, admin, robot):
        role = admin.created("/roles", name="A", type="User")

        result_of(robot.patch(f"/roles/{role['id']}", name="B", description="x"))
        entry = result_of(admin.get("/logs", key="Role.Update"))["data"][0]
        first = result_of(admin.get("/logs", key="Role.Create"))["data"][0]

        assert entry["payload"] == {"id": role["id"], "fields": ["description", "name"]}
        assert entry["application_id"] == robot.id
        assert isinstance(first["payload"]["administrator_id"], int)
        assert first["ip"] == "127.0.0.1"

    def test_decision_A3_filters_by_time(self, admin):
        admin.created("/roles", name="A", type="User")
        moment = result_of(admin.get("/logs", key="Role.Create"))["data"][0]["created_at"]

        later = result_of(admin.get("/logs", key="Role.Create", start_time="2999-01-01T00:00:00Z"))
        before = result_of(admin.get("/logs", key="Role.Create", end_time=moment))

        assert (later["total"], before["total"]) == (0, 0)
        assert result_of(admin.get("/logs", end_time="2999-01-01T00:00:00Z"))["total"] > 0
        assert "start_time" in refusal_of(admin.get("/logs", start_time="yesterday"), 400)

    def test_log_is_narrowed_to_one_request(self, acme, rival, admin):
        reference = admin.post("/roles", name="Clerk", type="User").headers["X-Request-Id"]
        admin.post("/roles", name="Another", type="User")

        found = result_of(admin.get("/logs", request_id=reference))

        assert [entry["key"] for entry in found["data"]] == ["Role.Create"]
        for none in ("x", "%00", "00000000-0000-7000-8000-000000000000", reference.upper()):
            assert result_of(admin.get("/logs", request_id=none))["data"] == []
        assert result_of(management.superuser(rival).get("/logs", request_id=reference))["data"] == []

    @pytest.mark.parametrize(
        ("time", "status"),
        [
            ("0201-04-12T17:26:33+16:55", 200),
            ("2030-01-01T00:00:00-23:59", 200),
            ("0001-01-01T00:00:00+10:00", 400),
            ("9999-12-31T23:59:59-10:00", 400),
        ],
    )
    def test_decision_A3_a_time_is_read_in_any_zone_and_never_breaks_anything(self, admin, time, status):
        for name in ("start_time", "end_time"):
            assert admin.get("/logs", **{name: time}).status_code == status

    def test_another_tenants_entries_do_not_exist(self, admin, rival):
        admin.at(rival).created("/roles", name="A", type="User")
        entry = result_of(admin.at(rival).get("/logs", key="Role.Create"))["data"][0]

        assert result_of(admin.get("/logs", key="Role.Create"))["total"] == 0
        assert refusal_of(admin.get(f"/logs/{entry['id']}"), 404) == "log entry not found"

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST"])
    def test_are_read_only(self, admin, method):
        entry = result_of(admin.get("/logs"))["data"][0]

        assert admin.request(method, f"/logs/{entry['id']}", json={}).status_code == 405


@pytest.fixture
def root(admin, address):
    return management.superuser(default_world())


class TestTenants:
    def test_decision_T4_are_made_renamed_and_deleted(self, root, admin):
        slug = f"t-{secrets.token_hex(4)}"
        made = root.created("/tenants", slug=slug, name="T")
        there = root.at(World(root.world.tenant, f"{root.world.address}/t/{slug}"))
        there.created("/roles", name="R", type="User")

        renamed = result_of(root.patch(f"/tenants/{made['id']}", name="U"))
        removed = result_of(root.delete(f"/tenants/{made['id']}"))

        assert set(made) == {"id", "slug", "name", "audit_retention_days", "created_at", "updated_at"}
        assert renamed["name"] == "U"
        assert removed is None
        assert root.get(f"/tenants/{made['id']}").status_code == 404
        logs = result_of(root.get("/logs", tenant_id=made["id"], key="Role.Create"))
        assert logs["total"] == 1

    def test_decision_T4_a_slug_is_never_used_again(self, root):
        slug = f"t-{secrets.token_hex(4)}"
        made = root.created("/tenants", slug=slug, name="T")
        result_of(root.delete(f"/tenants/{made['id']}"))

        assert "slug" in refusal_of(root.post("/tenants", slug=slug, name="T"), 400)

    @pytest.mark.parametrize("slug", ["", "A", "a b", "a/b", "x" * 64, "ä"])
    def test_decision_T4_refuses_a_bad_slug(self, root, slug):
        assert "slug" in refusal_of(root.post("/tenants", slug=slug, name="T"), 400)

    def test_decision_T4_the_slug_stays_and_so_does_the_default_tenant(self, root):
        assert "slug" in refusal_of(root.patch("/tenants/default", slug="other"), 400)
        refusal_of(root.delete("/tenants/default"), 400)

    def test_decision_T4_exist_at_the_root_alone_and_never_for_machines(self, root, acme, robot):
        assert root.at(acme).get("/tenants").status_code == 404
        assert robot.at(root.world).get("/tenants").status_code in {401, 403}
        assert management.administrator(acme).at(root.world).get("/tenants").status_code == 403


class TestAdministrators:
    def test_decision_T6_are_made_changed_and_deleted(self, root, acme):
        name = f"a-{secrets.token_hex(4)}"
        made = root.created(
            "/administrators", username=name, password="secret", tenants=[acme.tenant.slug], email="a@x.org"
        )
        signed_in = management._signed_in(name, "secret", root.world.address)
        caller = management.Caller(acme, signed_in)

        before = caller.get("/users").status_code
        changed = result_of(root.patch(f"/administrators/{made['id']}", tenants=[], phone="+49 12345"))
        after = caller.get("/users").status_code
        result_of(root.delete(f"/administrators/{made['id']}"))

        assert set(made) == {
            *(
                "id",
                "username",
                "email",
                "phone",
                "is_superuser",
                "role",
                "tenants",
                "created_at",
                "updated_at",
            )
        }
        assert (before, after) == (200, 403)
        assert (changed["tenants"], changed["phone"]) == ([], "+4912345")
        assert caller.get("/users").status_code == 401

    def test_decision_T6_refuses_an_unknown_tenant(self, root):
        answer = root.post("/administrators", username="x", password="secret", tenants=["nowhere-at-all"])

        assert "nowhere-at-all" in refusal_of(answer, 400)

    def test_decision_T6_a_new_password_ends_tokens(self, root, acme):
        row = management.new_administrator(acme)
        caller = management.Caller(
            acme, management._signed_in(row.username, management.PASSWORD, root.world.address)
        )

        result_of(root.patch(f"/administrators/{row.pk}", password="brand new"))

        assert caller.get("/users").status_code == 401

    def test_decision_H8_are_known_by_whole_numbers(self, root):
        assert root.get("/administrators/x").status_code == 404
        assert root.get("/administrators/99999999999999999999").status_code == 404
