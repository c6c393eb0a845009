"""/users: every row of the interface's table, and what surrounds it."""

import pytest
from argon2 import PasswordHasher

from database import ids
from tests.support.cast import PASSWORD
from tests.support.management import refusal_of, result_of

FIELDS = {
    *("id", "username", "name", "email", "phone", "avatar", "custom_data", "is_suspended"),
    *("given_name", "family_name", "profile", "mfa_factors", "two_step"),
    *("email_verified", "phone_verified", "login_count", "last_sign_in_at", "created_at", "updated_at"),
}


def ids_of(page):
    return [row["id"] for row in page["data"]]


class TestCreate:
    def test_returns_the_user_without_a_password(self, admin):
        user = admin.created("/users", username="Ann", password="secret")

        assert set(user) == FIELDS
        assert (user["email"], user["phone"], user["name"]) == ("", "", "")
        assert user["avatar"] is None
        assert user["last_sign_in_at"] is None
        assert user["login_count"] == 0

    def test_decision_I3_takes_the_second_names_of_email_and_phone(self, admin):
        user = admin.created(
            "/users",
            username="ann",
            password="secret",
            primary_email="Ann@x.org",
            primary_phone="+49 (30) 1-23.45",
        )

        assert (user["email"], user["phone"]) == ("Ann@x.org", "+49301234" + "5")

    def test_decision_I3_refuses_two_names_that_differ(self, admin):
        answer = admin.post(
            "/users", username="ann", password="secret", email="a@x.org", primary_email="b@x.org"
        )

        assert "email" in refusal_of(answer, 400)

    def test_refuses_a_username_that_is_taken_in_this_tenant_alone(self, admin, rival):
        admin.created("/users", username="Straße", password="secret")

        message = refusal_of(admin.post("/users", username="STRASSE", password="secret"), 400)
        elsewhere = admin.at(rival).created("/users", username="STRASSE", password="secret")

        assert message == "username: already exists"
        assert elsewhere["username"] == "STRASSE"

    @pytest.mark.parametrize("password", ["", "12345", "x" * 257])
    def test_refuses_a_password_that_is_too_short_or_too_long(self, admin, password):
        assert "password" in refusal_of(admin.post("/users", username="ann", password=password), 400)

    def test_asks_for_a_username_and_for_a_password(self, admin):
        assert "username" in refusal_of(admin.post("/users", password="secret"), 400)
        assert "password" in refusal_of(admin.post("/users", username="ann"), 400)

    def test_decision_I9_takes_a_hash_from_elsewhere(self, acme, admin):
        stored = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD)
        made = admin.created("/users", username="moved", password_hash=stored)

        answer = acme.browser().post(
            "/api/interaction/sign-in", json={"identifier": "moved", "password": PASSWORD}
        )

        assert answer.status_code == 200
        assert result_of(admin.get(f"/users/{made['id']}"))["login_count"] == 1

    def test_refuses_a_password_with_a_hash_and_says_so(self, admin):
        stored = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD)

        answer = admin.post("/users", username="moved", password=PASSWORD, password_hash=stored)

        assert refusal_of(answer, 400) == "password: cannot be sent together with password_hash"
        assert answer.json()["errors"] == [
            {
                "field": "password",
                "code": "conflict",
                "message": "Cannot be sent together with password_hash",
            }
        ]

    @pytest.mark.parametrize("stored", ["x", "md5$a$b", "$argon2id$v=19$m=9999999,t=2,p=1$YWFhYWFhYWE$YWFh"])
    def test_decision_I9_refuses_a_hash_that_nobody_knows_or_that_costs_too_much(self, admin, stored):
        answer = admin.post("/users", username="moved", password_hash=stored)

        assert "password_hash" in refusal_of(answer, 400)


class TestRead:
    def test_shows_one_by_id(self, admin):
        made = admin.created("/users", username="ann", password="secret")

        assert result_of(admin.get(f"/users/{made['id']}")) == made

    @pytest.mark.parametrize("pk", ["x", "01a1fc8a-cc5f-7278-9dc4-aeb7d6906a41", "01A1"])
    def test_decision_H8_knows_nothing_by_another_id(self, admin, pk):
        assert refusal_of(admin.get(f"/users/{pk}"), 404) == "user not found"

    def test_lists_the_newest_first(self, admin):
        made = [
            admin.created("/users", username=f"u{number}", password="secret")["id"] for number in range(3)
        ]

        assert ids_of(result_of(admin.get("/users"))) == made[::-1]

    @pytest.mark.parametrize(
        "term", ["ANN", "ann@EX", "4930", "Lee", "n Le", "%", "_", "ann%", "\\", "' or 1=1 --"]
    )
    def test_searches_username_email_phone_and_name_literally(self, admin, term):
        ann = admin.created(
            "/users",
            username="Ann",
            password="secret",
            email="ann@example.com",
            phone="+493012345",
            name="Ann Lee",
        )
        admin.created("/users", username="bob", password="secret")

        found = ids_of(result_of(admin.get("/users", search=term)))

        expected = [] if term in {"%", "_", "ann%", "\\", "' or 1=1 --"} else [ann["id"]]
        assert found == expected

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("username", "ANN"),
            ("primary_email", "ANN@example.com"),
            ("primary_phone", "49 30 12345"),
            ("is_suspended", "true"),
        ],
    )
    def test_decision_I4_filters_exactly(self, admin, name, value):
        ann = admin.created(
            "/users", username="Ann", password="secret", email="ann@example.com", phone="+493012345"
        )
        admin.created("/users", username="annabel", password="secret")
        result_of(admin.patch(f"/users/{ann['id']}/suspend", is_suspended=True))

        assert ids_of(result_of(admin.get("/users", **{name: value}))) == [ann["id"]]
        assert ids_of(result_of(admin.get("/users", id=ann["id"]))) == [ann["id"]]
        assert ids_of(result_of(admin.get("/users", id="x"))) == []


class TestChange:
    def test_changes_what_was_sent_and_nothing_else(self, admin):
        ann = admin.created("/users", username="ann", password="secret", name="Ann", email="a@x.org")

        changed = result_of(admin.patch(f"/users/{ann['id']}", avatar="https://x.org/a.png"))

        assert changed | {"updated_at": 0} == ann | {"avatar": "https://x.org/a.png", "updated_at": 0}
        assert changed["updated_at"] > ann["updated_at"]

    def test_decision_H9_null_clears(self, admin):
        ann = admin.created(
            "/users",
            username="ann",
            password="secret",
            name="Ann",
            email="a@x.org",
            avatar="https://x.org/a.png",
        )

        changed = result_of(admin.patch(f"/users/{ann['id']}", name=None, email=None, avatar=None))

        assert (changed["name"], changed["email"], changed["avatar"]) == ("", "", None)

    def test_case_H02_leaves_what_is_not_for_administrators(self, admin):
        ann = admin.created("/users", username="ann", password="secret")
        sent = {
            "id": "x",
            "username": "other",
            "password": "another",
            "is_suspended": True,
            "created_at": "2020-01-01T00:00:00Z",
            "tenant_id": "default",
            "epoch": 9,
            "login_count": 99,
        }

        changed = result_of(admin.patch(f"/users/{ann['id']}", **sent))

        assert changed == ann

    def test_decision_I4_replaces_custom_data_as_a_whole(self, admin):
        ann = admin.created("/users", username="ann", password="secret", custom_data={"a": 1})

        changed = result_of(admin.patch(f"/users/{ann['id']}", custom_data={"b": [2]}))

        assert changed["custom_data"] == {"b": [2]}

    def test_a_new_email_is_found_and_the_old_one_is_free(self, admin):
        ann = admin.created("/users", username="ann", password="secret", email="old@x.org")

        result_of(admin.patch(f"/users/{ann['id']}", email="new@x.org"))
        bob = admin.created("/users", username="bob", password="secret", email="old@x.org")

        assert ids_of(result_of(admin.get("/users", search="new@"))) == [ann["id"]]
        assert ids_of(result_of(admin.get("/users", search="old@"))) == [bob["id"]]

    def test_refuses_an_email_of_somebody_else(self, admin):
        admin.created("/users", username="ann", password="secret", email="ann@x.org")
        bob = admin.created("/users", username="bob", password="secret")

        answer = admin.patch(f"/users/{bob['id']}", name="changed?", email="ANN@x.org")

        assert refusal_of(answer, 400) == "email: already exists"
        assert result_of(admin.get(f"/users/{bob['id']}"))["name"] == ""


class TestPassword:
    def test_replaces_it_and_signs_out_everywhere(self, acme, admin):
        user, client = acme.user(), acme.application()
        tokens = client.tokens_for(user)

        result = result_of(admin.patch(f"/users/{user.pk}/password", password="brand new"))

        assert result is None
        assert acme.browser().sign_in(user).status_code == 401
        assert acme.browser().sign_in(user, "brand new").status_code == 200
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        assert client.userinfo(tokens["access_token"]).status_code == 401

    def test_refuses_fewer_than_six_characters(self, acme, admin):
        user = acme.user()

        assert "password" in refusal_of(admin.patch(f"/users/{user.pk}/password", password="12345"), 400)
        assert acme.browser().sign_in(user).status_code == 200


class TestSuspend:
    def test_suspends_and_lets_in_again(self, acme, admin):
        user = acme.user()

        suspended = result_of(admin.patch(f"/users/{user.pk}/suspend", is_suspended=True))
        refused = acme.browser().sign_in(user)
        result_of(admin.patch(f"/users/{user.pk}/suspend", is_suspended=False))

        assert set(suspended) == {"id", "username", "is_suspended", "updated_at"}
        assert suspended["is_suspended"] is True
        assert refused.json()["code"] == 403
        assert acme.browser().sign_in(user).status_code == 200

    def test_asks_for_a_boolean(self, acme, admin):
        assert "is_suspended" in refusal_of(admin.patch(f"/users/{acme.user().pk}/suspend"), 400)


class TestDelete:
    def test_removes_roles_memberships_and_every_token(self, acme, admin):
        user, client = acme.user(), acme.application()
        tokens = client.tokens_for(user)
        role = admin.created("/roles", name="R", type="User")
        organization = admin.created("/organizations", name="O")
        result_of(admin.put(f"/users/{user.pk}/roles", role_ids=[role["id"]]))
        result_of(admin.post(f"/organizations/{organization['id']}/users", user_ids=[str(user.pk)]))

        result = result_of(admin.delete(f"/users/{user.pk}"))

        assert result is None
        assert result_of(admin.get(f"/roles/{role['id']}/users")) == []
        assert result_of(admin.get(f"/organizations/{organization['id']}/users"))["total"] == 0
        assert client.userinfo(tokens["access_token"]).status_code == 401
        assert client.refresh(tokens["refresh_token"]).status_code == 400
        assert admin.delete(f"/users/{user.pk}").status_code == 404


class TestRoles:
    def test_replaces_the_whole_set(self, acme, admin):
        user = acme.user()
        first, second = (admin.created("/roles", name=name, type="User") for name in ("A", "B"))

        result_of(admin.put(f"/users/{user.pk}/roles", role_ids=[first["id"]]))
        result_of(admin.put(f"/users/{user.pk}/roles", role_ids=[second["id"], second["id"]]))

        assert result_of(admin.get(f"/users/{user.pk}/roles")) == [second]

    def test_decision_I6_refuses_a_role_for_machines(self, acme, admin):
        user = acme.user()
        role = admin.created("/roles", name="A", type="MachineToMachine")

        answer = admin.put(f"/users/{user.pk}/roles", role_ids=[role["id"]])

        assert role["id"] in refusal_of(answer, 400)
        assert result_of(admin.get(f"/users/{user.pk}/roles")) == []

    def test_case_G03_ten_thousand_ids_are_answered_and_change_nothing(self, acme, admin):
        user = acme.user()
        role = admin.created("/roles", name="Reader", type="User")["id"]
        result_of(admin.put(f"/users/{user.pk}/roles", role_ids=[role]))
        strangers = [str(ids.new()) for _ in range(10_000)]

        message = refusal_of(admin.put(f"/users/{user.pk}/roles", role_ids=strangers), 400)

        assert message.startswith("role_ids")
        assert [row["id"] for row in result_of(admin.get(f"/users/{user.pk}/roles"))] == [role]

    def test_decision_H4_names_unknown_ids_and_changes_nothing(self, acme, admin, rival):
        user = acme.user()
        mine = admin.created("/roles", name="A", type="User")
        theirs = admin.at(rival).created("/roles", name="A", type="User")
        result_of(admin.put(f"/users/{user.pk}/roles", role_ids=[mine["id"]]))

        message = refusal_of(admin.put(f"/users/{user.pk}/roles", role_ids=[theirs["id"], "x"]), 400)

        assert message.startswith("role_ids: ")
        assert theirs["id"] in message
        assert result_of(admin.get(f"/users/{user.pk}/roles")) == [mine]


class TestOrganizations:
    def test_shows_a_page_of_them(self, acme, admin):
        user = acme.user()
        organization = admin.created("/organizations", name="O", description="D")
        admin.created("/organizations", name="Other")
        result_of(admin.post(f"/organizations/{organization['id']}/users", user_ids=[str(user.pk)]))

        page = result_of(admin.get(f"/users/{user.pk}/organizations"))

        assert page["total"] == 1
        assert page["data"] == [
            {
                "id": organization["id"],
                "name": "O",
                "description": "D",
                "member_count": 1,
                "created_at": organization["created_at"],
            }
        ]
        assert admin.get("/users/x/organizations").status_code == 404
