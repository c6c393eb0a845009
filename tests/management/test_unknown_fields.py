"""The header that names what a request has sent and the server does not use."""

from typing import Final

import pytest

from management.api.unknown_fields import HEADER
from tests.support import management
from tests.support.cast import PASSWORD
from tests.support.management import refusal_of, result_of
from tests.support.names import new_name

ANN: Final = {"username": "ann", "password": PASSWORD}


class TestUnknownFields:
    def test_are_named_and_still_ignored(self, admin):
        answer = admin.post("/users", **ANN, usernme="bob", nick="b")

        assert result_of(answer)["username"] == "ann"
        assert answer.headers[HEADER] == "usernme, nick"

    def test_are_named_in_a_refusal_too(self, admin):
        answer = admin.post("/users", usernme="ann", password=PASSWORD)

        assert refusal_of(answer, 400) == "username: This field is required"
        assert answer.headers[HEADER] == "usernme"

    @pytest.mark.parametrize(
        ("method", "path", "body", "expected"),
        [
            ("POST", "/roles", {"name": "Staff", "type": "User", "kind": 1}, "kind"),
            ("PATCH", "/sign-in-experience", {"branding": {"color": "#fff"}}, "branding.color"),
            (
                "PATCH",
                "/sign-in-experience",
                {"sign_in": {"methods": [{"identifier": "username", "password": True, "code": True}]}},
                "sign_in.methods[0].code",
            ),
            ("PATCH", "/oidc-settings", {"dynamic_registration": {"modes": 1}}, "dynamic_registration.modes"),
            (
                "POST",
                "/applications",
                {"name": "A", "type": "SPA", "redirect_uris": [], "oidc_client_metadata": {"uris": []}},
                "redirect_uris, oidc_client_metadata.uris",
            ),
            (
                "POST",
                "/applications",
                {
                    "name": "A",
                    "type": "SPA",
                    "oidc_client_metadata": {
                        "custom_claims": [
                            {"name": "a", "source": "user.id", "into": ["userinfo"], "x": 1},
                        ]
                    },
                },
                "oidc_client_metadata.custom_claims[0].x",
            ),
        ],
    )
    def test_have_their_path(self, admin, method, path, body, expected):
        assert admin.request(method, path, json=body).headers[HEADER] == expected

    def test_of_a_list_of_ids_and_of_the_members_api_are_named(self, acme, admin):
        organization = admin.created("/organizations", name="Home")["id"]
        manager = management.member_manager(acme, organization)
        user = str(acme.user().pk)

        added = admin.post(f"/organizations/{organization}/users", user_ids=[user], ids=[user])
        joined = manager.post(f"/m2m/organizations/{organization}/members", phone="+4930123456", role="x")

        assert (added.headers[HEADER], joined.headers[HEADER]) == ("ids", "role")

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/users", {**ANN, "primary_email": "ann@x.org", "custom_data": {"a": 1}, "login_count": 7}),
            ("/organizations", {"name": "Home", "metadata": {"any": {"thing": 1}}}),
            ("/connectors", {"connector_id": "mine", "type": "Sms", "config": {"any": "thing"}}),
        ],
    )
    def test_are_not_second_names_free_objects_or_read_only_fields(self, admin, path, body):
        answer = admin.post(path, **body)

        assert result_of(answer)
        assert HEADER not in answer.headers

    def test_that_a_patch_cannot_set_are_named_if_they_differ(self, admin):
        user = admin.created("/users", **ANN)

        answer = admin.patch(
            f"/users/{user['id']}", username="bob", is_suspended=True, two_step=True, name="A"
        )
        password = admin.patch(f"/users/{user['id']}", password=PASSWORD)
        same = admin.patch(f"/users/{user['id']}", **(user | {"name": "B"}))

        assert result_of(answer) | {"name": "", "updated_at": ""} == user | {"updated_at": ""}
        assert answer.headers[HEADER] == "username, is_suspended, two_step"
        assert password.headers[HEADER] == "password"
        assert HEADER not in same.headers

    def test_of_a_body_that_was_not_read_are_not_named(self, acme, admin):
        nobody = management.Caller(acme, None)

        assert HEADER not in nobody.post("/users", usernme="ann").headers
        assert HEADER not in admin.patch("/users/nobody", usernme="ann").headers
        assert HEADER not in admin.request("POST", "/users", content=b'{"usernme": 1}').headers


class TestTheHeader:
    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("a\r\nSet-Cookie: x=1", "a%0D%0ASet-Cookie%3A%20x%3D1"),
            ("a, b", "a%2C%20b"),
            ("\u0085\u2028é", "%C2%85%E2%80%A8%C3%A9"),
            ("?page", "%3Fpage"),
            ("+5", "%2B5"),
            ("%41", "%2541"),
            ("", ""),
            ("x" * 10_000, "x" * 64),
        ],
    )
    def test_takes_no_character_that_could_end_it(self, admin, name, shown):
        answer = admin.request("POST", "/roles", json={"name": new_name(), "type": "User", name: 1})

        assert result_of(answer)
        assert answer.headers.get(HEADER, "") == shown
        assert "Set-Cookie" not in answer.headers

    def test_names_20_fields_and_counts_the_others(self, admin):
        answer = admin.post("/roles", name="Staff", type="User", **{f"f{n}": n for n in range(25)})

        assert answer.headers[HEADER].split(", ") == [*(f"f{n}" for n in range(20)), "+5"]

    def test_is_short_whatever_the_names_are(self, admin):
        names = {f"{n}{'😀' * 200}": n for n in range(1_000)}

        answer = admin.request("POST", "/roles", json={"name": "Staff", "type": "User", **names})

        *shown, others = answer.headers[HEADER].split(", ")
        assert len(answer.headers[HEADER]) < 1_100
        assert int(others[1:]) == 1_000 - len(shown)


class TestParameters:
    @pytest.mark.parametrize(
        ("path", "query", "expected"),
        [
            ("/users", {"serch": "ann", "page": "1"}, "?serch"),
            ("/users/roles", {}, None),
            ("/connectors", {"search": "x"}, "?search"),
            ("/logs", {"key": "SignIn.Password", "tenant_id": "default", "from": "x"}, "?from"),
            ("/users", {"a\r\nb": "1"}, "?a%0D%0Ab"),
        ],
    )
    def test_that_do_not_exist_are_named(self, admin, path, query, expected):
        assert admin.get(path, **query).headers.get(HEADER) == expected

    def test_of_one_log_entry_are_known(self, admin):
        entry = result_of(admin.get("/logs"))["data"][0]

        answer = admin.get(f"/logs/{entry['id']}", tenant_id=str(admin.world.tenant.pk))

        assert result_of(answer)
        assert HEADER not in answer.headers
