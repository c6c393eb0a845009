"""The fourth member of a refusal: every wrong field by its path, with a word for programs."""

import re
from typing import Any, Final

import httpx
import pytest
from django.conf import settings

from identity.core.errors import FieldError
from identity.rest.input_errors import CODES
from management.api import errors
from tests.support import management
from tests.support.cast import PASSWORD
from tests.support.independent import bearer
from tests.support.management import Caller, refusal_of, result_of
from tests.support.names import new_name

UNKNOWN: Final = "01900000-0000-7000-8000-000000000000"
TYPES: Final = ["Traditional", "SPA", "Native", "MachineToMachine"]
JSON: Final = {"Content-Type": "application/json"}
Body = dict[str, Any]
ANNA: Final = {"username": "anna", "password": PASSWORD}
SHOP: Final = {"name": "Shop", "type": "SPA"}

# By name: the path of a creation, its body, and the code of each wrong field.
WRONG: Final[dict[str, tuple[str, Body, dict[str, str]]]] = {
    "what is missing": ("/users", {}, {"username": "required", "password": "required"}),
    "a user with two passwords": (
        "/users",
        {"username": "ann", "password": PASSWORD, "password_hash": PASSWORD},
        {"password": "conflict", "password_hash": "invalid"},
    ),
    "a user": (
        "/users",
        {
            "username": "a b",
            "password": "short",
            "primary_email": "ann",
            "phone": "1",
            "avatar": "ftp://x",
            "profile": {"locale": "?", "nick": "x", "address": {"street": "x", "country": 1}},
        },
        {
            "username": "invalid",
            "password": "min_length",
            "primary_email": "invalid",
            "phone": "invalid",
            "avatar": "invalid",
            "profile.nick": "unknown",
            "profile.locale": "invalid",
            "profile.address.street": "unknown",
            "profile.address.country": "invalid_type",
        },
    ),
    "a user without the addresses": (
        "/users",
        {"username": "ann", "password": PASSWORD, "email_verified": True, "phone_verified": True},
        {"email_verified": "conflict", "phone_verified": "conflict"},
    ),
    "a role": ("/roles", {"name": " ", "type": "user"}, {"name": "blank", "type": "invalid_choice"}),
    "an API resource": (
        "/resources",
        {"name": "", "indicator": "shop", "access_token_ttl": 1, "claims": ["roles", "teams"]},
        {
            "name": "blank",
            "indicator": "invalid",
            "access_token_ttl": "min_value",
            "claims[1]": "invalid_choice",
        },
    ),
    "an application": (
        "/applications",
        {
            "name": "x" * 300,
            "type": "SPA",
            "oidc_client_metadata": {
                "redirect_uris": ["https://a.example/", "http://b.example/", "/c"],
                "post_logout_redirect_uris": ["https://a.example/#x"],
                "grant_types": ["password"],
                "require_pkce": False,
                "allowed_role_ids": [UNKNOWN],
                "allowed_organization_ids": ["x"],
            },
        },
        {
            "name": "max_length",
            "oidc_client_metadata.redirect_uris[1]": "invalid",
            "oidc_client_metadata.redirect_uris[2]": "invalid",
            "oidc_client_metadata.post_logout_redirect_uris[0]": "invalid",
            "oidc_client_metadata.grant_types": "invalid_choice",
            "oidc_client_metadata.require_pkce": "conflict",
            "oidc_client_metadata.allowed_role_ids": "unknown",
            "oidc_client_metadata.allowed_organization_ids": "unknown",
        },
    ),
    "an application with a member of another type": (
        "/applications",
        {
            "name": "Shop",
            "type": "SPA",
            "oidc_client_metadata": {
                "redirect_uris": ["https://a.example/", "/b"],
                "post_logout_redirect_uris": "https://a.example/",
                "default_max_age": "x",
                "required_acr": 1,
                "require_pkce": False,
                "allowed_role_ids": [UNKNOWN],
                "custom_claims": [
                    {"name": "team", "source": "x", "into": []},
                    {"source": "user.id", "into": ["x"]},
                ],
            },
        },
        {
            "oidc_client_metadata.redirect_uris[1]": "invalid",
            "oidc_client_metadata.post_logout_redirect_uris": "invalid_type",
            "oidc_client_metadata.default_max_age": "invalid_type",
            "oidc_client_metadata.required_acr": "invalid_type",
            "oidc_client_metadata.require_pkce": "conflict",
            "oidc_client_metadata.allowed_role_ids": "unknown",
            "oidc_client_metadata.custom_claims[0].source": "invalid",
            "oidc_client_metadata.custom_claims[0].into": "min_length",
            "oidc_client_metadata.custom_claims[1].name": "required",
            "oidc_client_metadata.custom_claims[1].into[0]": "invalid_choice",
        },
    ),
    "a machine application": (
        "/applications",
        {
            "name": "Robot",
            "type": "MachineToMachine",
            "oidc_client_metadata": {
                "redirect_uris": ["https://a.example/"],
                "default_max_age": 60,
                "refresh_token_idle_seconds": 60,
                "allowed_role_ids": [UNKNOWN],
            },
        },
        {
            "oidc_client_metadata.redirect_uris": "conflict",
            "oidc_client_metadata.default_max_age": "conflict",
            "oidc_client_metadata.refresh_token_idle_seconds": "conflict",
            "oidc_client_metadata.allowed_role_ids": "conflict",
        },
    ),
    "a connector": (
        "/connectors",
        {"connector_id": "smtp", "type": "Sms", "config": {"port": "x"}, "has_own_callback": False},
        {
            "type": "invalid_choice",
            "config.host": "required",
            "config.port": "invalid_type",
            "config.from_email": "required",
            "has_own_callback": "immutable",
        },
    ),
}


def test_the_documented_codes_are_those_that_exist():
    table = (settings.BASE_DIR / "docs/reference/errors.md").read_text().partition("## Codes")[2]
    rows = [line for line in table.splitlines() if line.startswith("| `")]

    assert {word for row in rows for word in re.findall(r"`(\w+)`", row.split("|")[1])} == CODES


def errors_of(answer: Any) -> list[dict[str, Any]]:
    """The errors of a refusal with 400."""
    assert refusal_of(answer, 400)
    return management.check_members(answer.json())


def codes_of(answer: Any) -> dict[str, str]:
    return {error["field"]: error["code"] for error in errors_of(answer)}


@pytest.mark.parametrize(
    ("path", "content", "media_type"),
    [("/users?page=x", "hello", "text/plain"), ("/logs?start_time=x", "{bad", "application/json")],
)
def test_a_body_of_a_refused_get_is_not_read(acme, admin, path, content, media_type):
    answer = httpx.request(
        "GET",
        f"{acme.address}/api/v1{path}",
        content=content,
        headers={**bearer(admin.token), "Content-Type": media_type},
    )

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [path.partition("?")[2].partition("=")[0]]


class TestEveryWrongField:
    @pytest.mark.parametrize("name", WRONG)
    def test_of_a_creation_is_named_with_its_code(self, admin, name):
        path, body, expected = WRONG[name]

        assert codes_of(admin.post(path, **body)) == expected

    def test_the_message_stays_the_first_rule_that_is_broken(self, admin):
        answer = admin.post("/users", username="a b", password="short", email="ann")

        assert answer.json()["message"] == "username: must not contain white space, control characters or @"
        assert len(errors_of(answer)) == 3

    def test_values_that_other_rows_have_are_all_named(self, admin):
        ann = {"username": "ann", "email": "ann@x.org", "phone": "+4930123456"}
        admin.created("/users", **ann, password=PASSWORD)

        again = admin.post("/users", **(ann | {"username": "ANN"}), password="short")

        assert codes_of(again) == {
            "username": "not_unique",
            "password": "min_length",
            "email": "not_unique",
            "phone": "not_unique",
        }

    def test_an_address_that_a_new_user_would_take_over_is_not_wrong(self, acme, admin):
        acme.user(email="bob@x.org", is_vouched_for=False)

        assert codes_of(admin.post("/users", username="a b", email="bob@x.org", password=PASSWORD)) == {
            "username": "invalid"
        }

    @pytest.mark.parametrize(
        ("path", "taken", "wrong"),
        [
            ("/roles", {"name": "Staff", "type": "User"}, {"type": "x"}),
            ("/organization-roles", {"name": "Staff"}, {"type": "x"}),
            ("/organization-permissions", {"name": "do"}, {"description": 1}),
            ("/resources", {"indicator": "https://a.example", "name": "A"}, {"is_default": 1}),
        ],
    )
    def test_a_taken_name_is_named_beside_another_error(self, admin, rival, path, taken, wrong):
        unique = next(iter(taken))
        admin.created(path, **taken)

        assert codes_of(admin.post(path, **(taken | wrong)))[unique] == "not_unique"
        assert unique not in codes_of(admin.at(rival).post(path, **(taken | wrong)))

    def test_a_taken_scope_is_named_in_its_own_resource_only(self, admin):
        one, other = (
            admin.created("/resources", name="A", indicator=f"https://{new_name()}.example") for _ in range(2)
        )
        admin.created(f"/resources/{one['id']}/scopes", name="read")

        def codes(resource: Body) -> dict[str, str]:
            return codes_of(admin.post(f"/resources/{resource['id']}/scopes", name="read", description=1))

        assert codes(one) == {"name": "not_unique", "description": "invalid_type"}
        assert codes(other) == {"description": "invalid_type"}

    def test_what_cannot_be_changed_is_named_beside_another_error(self, admin):
        role = admin.created("/roles", name="Staff", type="User")

        answer = admin.patch(f"/roles/{role['id']}", type="MachineToMachine", name="")

        assert codes_of(answer) == {"type": "immutable", "name": "blank"}

    def test_a_patch_says_nothing_of_what_is_as_it_was(self, admin):
        user = admin.created("/users", username="ann", password=PASSWORD, email="ann@x.org")

        answer = admin.patch(f"/users/{user['id']}", username="a b", email="ann@x.org", phone="1")

        assert codes_of(answer) == {"phone": "invalid"}

    def test_of_the_sign_in_experience(self, admin):
        answer = admin.patch(
            "/sign-in-experience",
            branding={"primary_color": "blue"},
            sign_up={"identifiers": ["username", "name"]},
            password_policy={"min_length": 64},
            message_templates=[{"purpose": "sign_in", "channel": "sms", "language": "", "text": ""}],
        )

        assert codes_of(answer) == {
            "branding.primary_color": "invalid",
            "sign_up.identifiers[1]": "invalid_choice",
            "password_policy.min_length": "max_value",
            "message_templates[0].text": "blank",
        }

    def test_of_a_tenant_and_of_an_administrator(self, root):
        assert codes_of(root.post("/tenants", slug="default", name="")) == {
            "slug": "not_unique",
            "name": "blank",
        }
        wrong = root.post(
            "/administrators", username="a b", password="x", email="x", phone="x", tenants=["?"]
        )
        assert codes_of(wrong) == {
            "username": "invalid",
            "password": "min_length",
            "email": "invalid",
            "phone": "invalid",
            "tenants": "unknown",
        }

    def test_of_the_members_api(self, acme, admin):
        organization = admin.created("/organizations", name="Home")["id"]
        manager = management.member_manager(acme, organization)

        answer = manager.post(f"/m2m/organizations/{organization}/members", phone="1", email="x", name=1)

        assert answer.status_code == 400
        assert answer.json()["result"] is None
        assert {error["field"] for error in management.check_members(answer.json())} == {
            "phone",
            "email",
            "name",
        }

    @pytest.mark.parametrize(
        ("path", "query", "expected"),
        [
            ("/users", {"page": "0", "page_size": "x", "is_suspended": "yes"}, 3),
            ("/logs", {"page": "0", "start_time": "x", "end_time": "y"}, 3),
            ("/roles", {"page": "x"}, 1),
        ],
    )
    def test_of_a_query_string(self, admin, path, query, expected):
        errors = errors_of(admin.get(path, **query))

        assert {error["field"] for error in errors} == set(query)
        assert len(errors) == expected


class TestChoices:
    def test_are_listed_if_they_are_few(self, admin):
        answer = admin.post("/applications", name="Shop", type="spa")

        assert errors_of(answer) == [
            {
                "field": "type",
                "code": "invalid_choice",
                "message": '"spa" is not a valid choice: use Traditional, SPA, Native or MachineToMachine',
                "allowed": TYPES,
            }
        ]
        assert answer.json()["message"].startswith('type: "spa" is not a valid choice')

    def test_are_not_listed_if_they_are_many(self, admin):
        answer = admin.patch("/sign-in-experience", account={"sms_countries": ["Germany"]})

        (error,) = errors_of(answer)
        assert error["code"] == "invalid_choice"
        assert "allowed" not in error

    def test_a_wrong_value_is_repeated_in_part_only(self, admin):
        answer = admin.post("/applications", name="Shop", type="x" * 10_000)

        assert len(answer.text) < 1_000


class TestAnAnswer:
    def test_that_is_not_about_a_field_has_three_members(self, admin: Caller):
        for answer in (
            admin.get("/users/nobody"),
            Caller(admin.world, None).get("/users"),
            admin.request("POST", "/users", content=b"{", headers=JSON),
            admin.request("PUT", "/users", json={}),
        ):
            assert set(answer.json()) == {"code", "message", "result"}

    def test_of_another_part_of_the_api_has_three_members(self, acme):
        answer = acme.post("/api/interaction/register", json={"username": 7})

        assert answer.status_code == 400
        assert set(answer.json()) == {"code", "message", "result"}

    def test_names_at_most_50_fields(self, admin):
        answer = admin.put(f"/roles/{UNKNOWN}/users", user_ids=[1] * 1_000)

        assert len(errors_of(answer)) == 50

    def test_of_an_unreadable_field_names_it(self, admin):
        answer = admin.request("POST", "/users", content=b'{"name": "a", "name": "b"}', headers=JSON)

        assert codes_of(answer) == {"name": "repeated"}

    def test_of_a_refusal_that_changed_nothing_can_be_corrected(self, admin):
        (error,) = errors_of(admin.post("/roles", name="Staff", type="x"))

        assert result_of(admin.post("/roles", name="Staff", type=error["allowed"][0]))


@pytest.mark.parametrize(
    ("field", "rule", "message"),
    [
        ("username", "already exists", "Already exists"),
        ("post_logout_redirect_uris", "redirect_uris needs an entry", "redirect_uris needs an entry"),
        ("a.scope", "scope is not an array", "scope is not an array"),
        ("avatar", "https://x is too long", "https://x is too long"),
        ("name", "", ""),
    ],
)
def test_a_message_begins_with_a_capital_unless_it_begins_with_a_name(field, rule, message):
    assert errors._to_json(FieldError(field, rule))["message"] == message
