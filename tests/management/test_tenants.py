"""/tenants of the management API."""

import secrets

import pytest

from tests.support import management
from tests.support.cast import World
from tests.support.management import refusal_of, result_of


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
