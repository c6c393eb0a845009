"""The parameter ``search`` of the lists of the management API. Users have more in test_users.py."""

import secrets

import pytest

from tests.support.management import result_of

LISTS: dict[str, tuple[dict[str, str], str]] = {
    "/roles": ({"type": "User"}, "description"),
    "/resources": ({}, "indicator"),
    "/organizations": ({}, "description"),
    "/organization-roles": ({}, "description"),
    "/organization-permissions": ({}, "description"),
    "/applications": ({"type": "SPA"}, "description"),
}


def found(caller, path, text):
    page = result_of(caller.get(path, search=text))
    assert page["total"] == len(page["data"])
    return [row["id"] for row in page["data"]]


@pytest.mark.parametrize("path", LISTS)
def test_finds_text_in_a_name_and_in_the_second_field(admin, path):
    body, second = LISTS[path]
    other = "https://example.org/other" if second == "indicator" else "An other"
    made = admin.created(path, name="Support", **body, **{second: "https://example.org/desk"})
    admin.created(path, name="Sales", **body, **{second: other})

    assert found(admin, path, "uPPor") == [made["id"]]
    assert found(admin, path, "org/desk") == [made["id"]]
    assert found(admin, path, "Supp%") == []


def test_finds_an_application_by_its_client_id(admin):
    made = admin.created("/applications", name="Shop", type="SPA")
    admin.created("/applications", name="Desk", type="SPA")

    assert found(admin, "/applications", made["client_id"]) == [made["id"]]


def test_finds_a_tenant_by_name_and_slug(root):
    slug = f"t-{secrets.token_hex(8)}"
    made = root.created("/tenants", slug=slug, name=f"Name of {slug[2:]}")

    assert found(root, "/tenants", slug) == [made["id"]]
    assert found(root, "/tenants", f"name of {slug[2:]}") == [made["id"]]
