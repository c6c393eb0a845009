"""Refusals of the management API in the terms of JSON and HTTP, each with its field and rule."""

import pytest

from tests.support import management
from tests.support.cast import PASSWORD
from tests.support.management import refusal_of

UNKNOWN = "01900000-0000-7000-8000-000000000000"
ANNA = {"username": "anna", "password": PASSWORD}
SHOP = {"name": "Shop", "type": "SPA"}


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.mark.parametrize(
    ("path", "body", "field", "rule"),
    [
        ("/users", {**ANNA, "profile": []}, "profile", "must be an object"),
        ("/users", {**ANNA, "custom_data": "x"}, "custom_data", "must be an object"),
        ("/users", {**ANNA, "profile": {"address": "x"}}, "profile.address", "must be an object"),
        ("/applications", {**SHOP, "oidc_client_metadata": "x"}, "oidc_client_metadata", "must be an object"),
        (
            "/applications",
            {**SHOP, "oidc_client_metadata": {"redirect_uris": "https://x"}},
            "oidc_client_metadata.redirect_uris",
            "must be a list",
        ),
    ],
)
def test_another_json_type_than_an_object_or_a_list_is_named_in_the_words_of_json(
    admin, path, body, field, rule
):
    answer = admin.post(path, **body)

    assert refusal_of(answer, 400) == f"{field}: {rule}"
    assert answer.json()["errors"] == [
        {"field": field, "code": "invalid_type", "message": f"M{rule[1:]}"},
    ]


def test_roles_of_an_application_that_can_have_none_are_at_their_field(admin):
    shop = admin.created("/applications", **SHOP)

    answer = admin.put(f"/applications/{shop['id']}/roles", role_ids=[UNKNOWN])

    assert refusal_of(answer, 400).startswith("role_ids: ")
    first = answer.json()["errors"][0]
    assert (first["field"], first["code"]) == ("role_ids", "conflict")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_another_content_type_than_json_names_the_header_and_the_rule(admin, kind):
    answer = admin.request("POST", "/users", content=b"a=1", headers={"Content-Type": kind})

    assert refusal_of(answer, 415) == "Content-Type: must be application/json"
