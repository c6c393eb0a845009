"""/signing-keys of the management API: rotation, and which key may go."""

from tests.support.management import refusal_of, result_of


class TestSigningKeys:
    def test_lists_the_active_key_and_those_before(self, admin):
        keys = result_of(admin.get("/signing-keys"))

        assert [set(key) for key in keys] == [
            {
                *("id", "status", "algorithm", "is_default"),
                *("created_at", "published_at", "activated_at", "retired_at"),
            }
        ]
        assert (keys[0]["status"], keys[0]["algorithm"], keys[0]["is_default"]) == ("active", "ES256", True)

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
