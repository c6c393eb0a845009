"""A PATCH that changes no value: nothing is written, and the row is returned as it was."""

import secrets
from typing import Any, Final

import pytest

from audit.models import Entry
from identity.users.models import User
from tests.support.cast import PASSWORD
from tests.support.codes import new_email
from tests.support.management import refusal_of, result_of

METADATA: Final[dict[str, Any]] = {"redirect_uris": ["https://a.example/cb"], "require_pkce": True}
EVERYBODY: Final[dict[str, Any]] = {"allowed_role_ids": [], "allowed_organization_ids": []}
# By path: what is created, and values that a PATCH repeats.
ROWS: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "/users": (
        {"username": "ann", "password": PASSWORD, "email": "ann@x.org", "custom_data": {"a": {"b": [1]}}},
        {"name": "", "email": "ann@x.org", "email_verified": False, "custom_data": {"a": {"b": [1]}}},
    ),
    "/applications": (
        {"name": "Shop", "type": "Traditional", "oidc_client_metadata": METADATA},
        {"name": "Shop", "is_third_party": False, "oidc_client_metadata": METADATA | EVERYBODY},
    ),
    "/organizations": ({"name": "Chapter"}, {"name": "Chapter", "description": "", "metadata": {}}),
    "/organization-roles": ({"name": "Editor"}, {"name": "Editor", "description": ""}),
    "/roles": ({"name": "Staff", "type": "User"}, {"name": "Staff", "description": ""}),
    "/resources": (
        {"name": "Shop", "indicator": "https://api.example", "is_default": True},
        {"name": "Shop", "access_token_ttl": 3600, "is_default": True},
    ),
    "/connectors": (
        {
            "connector_id": "smtp",
            "type": "Email",
            "config": {"host": "mail.example", "from_email": "a@x.org"},
        },
        {"enabled": False, "config": {"host": "mail.example", "from_email": "a@x.org"}},
    ),
}
every_row = pytest.mark.parametrize("path", ROWS)


def entries_of(world):
    return Entry.objects.filter(tenant_id=world.tenant.pk).count()


def read(admin, path):
    answer = admin.get(path)
    return result_of(answer), answer.headers["ETag"]


class TestARow:
    @every_row
    @pytest.mark.parametrize("body", ["nothing", "unknown", "the same"])
    def test_is_returned_as_it_was(self, acme, admin, path, body):
        created, same = ROWS[path]
        address = f"{path}/{admin.created(path, **created)['id']}"
        before, entries = read(admin, address), entries_of(acme)

        answer = admin.patch(address, **{"nothing": {}, "unknown": {"nonsense": 1}, "the same": same}[body])

        assert (result_of(answer), answer.headers["ETag"]) == before
        assert read(admin, address) == before
        assert entries_of(acme) == entries

    @every_row
    def test_is_checked_against_if_match_all_the_same(self, admin, path):
        created, same = ROWS[path]
        address = f"{path}/{admin.created(path, **created)['id']}"
        tag = read(admin, address)[1]
        stale = tag.rpartition("-")[0] + '-99"'

        assert refusal_of(admin.saying(if_match=stale).patch(address, **same), 412)
        assert admin.saying(if_match=tag).patch(address, **same).status_code == 200

    @every_row
    def test_is_changed_by_one_value_among_the_same_ones(self, acme, admin, path):
        created, same = ROWS[path]
        address = f"{path}/{admin.created(path, **created)['id']}"
        before, entries = read(admin, address), entries_of(acme)
        other = {"enabled": True} if path == "/connectors" else {"name": "Other"}

        changed = result_of(admin.patch(address, **(same | other)))

        name = next(iter(other))
        assert changed[name] == other[name]
        assert read(admin, address)[1] != before[1]
        assert entries_of(acme) == entries + 1

    @every_row
    def test_of_another_tenant_is_unknown(self, admin, rival, path):
        created, same = ROWS[path]
        row = admin.at(rival).created(path, **created)

        assert refusal_of(admin.patch(f"{path}/{row['id']}", **same), 404)


class TestValues:
    @pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, 1.5), (None, False), ([], {})])
    def test_that_are_equal_in_python_only_are_changes(self, admin, before, after):
        user = admin.created("/users", username="ann", password=PASSWORD, custom_data={"a": before})

        changed = result_of(admin.patch(f"/users/{user['id']}", custom_data={"a": after}))

        assert changed["custom_data"]["a"] is after or changed["custom_data"]["a"] == after
        assert type(changed["custom_data"]["a"]) is type(after)

    def test_a_patch_of_nothing_leaves_a_phone_that_a_new_default_region_would_rewrite(
        self, acme, admin, settings
    ):
        user = admin.created("/users", username="ann", password=PASSWORD, phone="030123456")
        with acme.active():
            User.objects.filter(pk=user["id"]).update(phone="+4930123456")  # the key is the national one

        result_of(admin.patch(f"/users/{user['id']}", name="Ann"))

        with acme.active():
            assert User.objects.get(pk=user["id"]).phone_key == "030123456"


class TestSingleObjects:
    def test_the_sign_in_experience(self, acme, admin):
        before, entries = read(admin, "/sign-in-experience"), entries_of(acme)
        same = {"sign_in": before[0]["sign_in"], "branding": before[0]["branding"]}

        answer = admin.patch("/sign-in-experience", **same)

        assert (result_of(answer), answer.headers["ETag"]) == before
        assert entries_of(acme) == entries

    def test_a_tenant(self, root):
        slug = f"t{secrets.token_hex(4)}"
        tenant = root.created("/tenants", slug=slug, name="T", audit_retention_days=40)
        path = f"/tenants/{tenant['id']}"
        before = read(root, path)

        same = root.patch(path, name="T", audit_retention_days=40)
        changed = root.patch(path, audit_retention_days=41)

        assert (result_of(same), same.headers["ETag"]) == before
        assert result_of(changed)["audit_retention_days"] == 41
        assert changed.headers["ETag"] != before[1]

    def test_an_administrator(self, acme, root):
        fields = {"username": f"a{secrets.token_hex(4)}", "password": PASSWORD, "email": new_email()}
        path = f"/administrators/{root.created('/administrators', **fields)['id']}"
        before = read(root, path)

        same = root.patch(path, email=fields["email"], tenants=[], role="administrator")

        assert (result_of(same), same.headers["ETag"]) == before

    def test_a_member(self, acme, admin):
        organization, user = admin.created("/organizations", name="Chapter"), acme.user()
        result_of(admin.post(f"/organizations/{organization['id']}/users", user_ids=[str(user.pk)]))
        path, entries = f"/organizations/{organization['id']}/users/{user.pk}", entries_of(acme)

        result_of(admin.patch(path, is_admin=False))

        assert entries_of(acme) == entries

    def test_lifting_a_suspension_that_is_not_there(self, acme, admin):
        user = acme.user()
        before, entries = read(admin, f"/users/{user.pk}"), entries_of(acme)

        result_of(admin.patch(f"/users/{user.pk}/suspend", is_suspended=False))

        assert read(admin, f"/users/{user.pk}") == before
        assert entries_of(acme) == entries
