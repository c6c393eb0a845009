"""/administrators of the management API."""

import secrets

from tests.support import management
from tests.support.management import refusal_of, result_of


class TestAdministrators:
    def test_decision_T6_are_made_changed_and_deleted(self, root, acme):
        name = f"a-{secrets.token_hex(4)}"
        made = root.created(
            "/administrators",
            username=name,
            password="open sesame 1",
            tenants=[acme.tenant.slug],
            email="a@x.org",
        )
        signed_in = management.administrator_token(name, "open sesame 1", root.world.address)
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
        answer = root.post("/administrators", username="x", password="open sesame 1", tenants=["nowhere"])

        assert "nowhere" in refusal_of(answer, 400)

    def test_decision_T6_a_new_password_ends_tokens(self, root, acme):
        row = management.new_administrator(acme)
        caller = management.Caller(
            acme, management.administrator_token(row.username, management.PASSWORD, root.world.address)
        )

        result_of(root.patch(f"/administrators/{row.pk}", password="a brand new one"))

        assert caller.get("/users").status_code == 401

    def test_decision_H8_are_known_by_whole_numbers(self, root):
        assert root.get("/administrators/x").status_code == 404
        assert root.get("/administrators/99999999999999999999").status_code == 404
