"""What every operation below ``/api/v1`` answers with, field by field, and with which codes it refuses.

One table for all of them: an operation that is not in it fails here. Which fields a thing has is
the interface's word; what decisions add stands behind the ``+``.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from tests.support import cast, management
from tests.support.crowd import path_of
from tests.support.management import result_of
from tests.support.management_routes import Route, all_routes
from tests.support.surface import Estate

UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def a(kind: type) -> Callable[[Any], bool]:
    return lambda value: type(value) is kind


def matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def or_null(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: value in words


KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "id": matches(UUID),
    "text": a(str),
    "text?": or_null(a(str)),
    "bool": a(bool),
    "int": a(int),
    "int?": or_null(a(int)),
    "object": a(dict),
    "list": a(list),
    "time": matches(TIME),
    "time?": or_null(matches(TIME)),
    "user|machine": one_of("User", "MachineToMachine"),
    "application": one_of("Traditional", "SPA", "Native", "MachineToMachine"),
    "channel": one_of("Email", "Sms", "Social", "Captcha"),
    "key": one_of("active", "next", "previous"),
    "ES256": one_of("ES256"),
    "algorithm": one_of("ES256", "EdDSA"),
    "groups": one_of("roles", "organizations", "organization_roles"),
    "ok": one_of("ok"),
    "null": lambda value: value is None,
}
DATED: Final = "created_at:time updated_at:time"
NAMED: Final = "id:id name:text description:text"
KEY: Final = (
    "id:id status:key algorithm:algorithm is_default:bool created_at:time + published_at:time "
    "activated_at:time? retired_at:time?"
)
MADE: Final = "name:text description:text type:application client_id:text"
INVITATION: Final = (
    "id:id email:text is_superuser:bool role:text tenants:list invited_by:text is_mailed:bool "
    f"expires_at:time {DATED}"
)
THINGS: Final = {
    "user": "id:id username:text name:text email:text phone:text avatar:text? is_suspended:bool "
    f"last_sign_in_at:time? {DATED} + custom_data:object login_count:int "
    "given_name:text family_name:text profile:object "
    "email_verified:bool phone_verified:bool mfa_factors:list two_step:bool",
    "factor": "id:id type:text name:text created_at:time last_used_at:time?",
    "new factor": "id:id type:text secret:text secret_qr_code:text",
    "factor settings": "two_step:bool prompt_skipped_at:time?",
    "recovery code": "code:text expires_at:time",
    "suspension": "id:id username:text is_suspended:bool updated_at:time",
    "user's organization": f"{NAMED} member_count:int created_at:time",
    "session": "id:id application_id:null created_at:time last_used_at:time ip:text user_agent:text",
    "trusted device": "id:id name:text ip:text first_seen_at:time last_seen_at:time remembered_until:time",
    "grant": "id:id application_id:id created_at:time last_used_at:time ip:text user_agent:text",
    "role": f"{NAMED} type:user|machine {DATED}",
    "role's scope": f"{NAMED} resource_id:id resource_name:text",
    "role's user": "id:id username:text name:text email:text avatar:text?",
    "role's application": f"id:id {MADE}",
    "resource": f"id:id name:text indicator:text access_token_ttl:int {DATED} "
    "+ is_default:bool access_token_signing_alg:text claims:list custom_claims:list scope_count:int "
    "required_acr:text",
    "scope": f"{NAMED} resource_id:id created_at:time",
    "organization": f"{NAMED} metadata:object member_count:int {DATED} + logo_url:text branding:object "
    "is_mfa_required:bool",
    "member": "id:id username:text name:text email:text avatar:text? joined_at:time + is_admin:bool",
    "named": NAMED,
    "role template": f"{NAMED} {DATED} + type:user|machine",
    "template's scope": f"{NAMED} + resource_id:id",
    "permission template": f"{NAMED} created_at:time",
    "application": f"id:id {MADE} oidc_client_metadata:object {DATED} + is_third_party:bool branding:object",
    "new application": f"id:id {MADE} client_secret:text oidc_client_metadata:object {DATED} "
    "+ is_third_party:bool branding:object",
    "explained claims": "id_token:object userinfo:object access_token:object omitted:list",
    "secret": "client_id:text client_secret:text",
    "secret in a list": "id:id name:text created_at:time expires_at:time?",
    "new secret": "id:id name:text client_secret:text created_at:time expires_at:time?",
    "connector": f"id:id connector_id:text type:channel enabled:bool config:object {DATED} "
    "+ has_own_callback:bool redirect_uri:text",
    "test": "result:ok message:text",
    "factory": "connector_id:text type:channel name:text config_schema:list",
    "signing key": KEY,
    "signing key in detail": f"{KEY} last_token_expires_at:time? safe_to_delete_at:time?",
    "oidc settings": "default_signing_alg:ES256 acr_aliases:list groups_claim:groups introspection:bool "
    "device_flow:bool token_exchange:bool impersonation:bool plain_oauth:bool "
    "client_id_metadata_documents:object dynamic_registration:object high_security:bool "
    "require_pushed_authorization_requests:bool session_idle_seconds:int? session_absolute_seconds:int? "
    "refresh_token_idle_seconds:int? refresh_token_absolute_seconds:int? keep_signed_in:bool",
    "experience": "id:id branding:object sign_in:object sign_up:object password_policy:object "
    "terms_of_use_url:text privacy_policy_url:text updated_at:time + account:object "
    "social_sign_in:object message_templates:list page_texts:list mfa:object passkey_sign_in:object "
    "trusted_device_policy:object adaptive_mfa:object attestation:object "
    "forgot_password_requires_factor:bool",
    "log entry": "id:id key:text payload:object user_id:text? application_id:text? ip:text user_agent:text "
    "created_at:time",
    "tenant": f"id:text slug:text name:text {DATED} + audit_retention_days:int?",
    "administrator": f"id:int username:text email:text phone:text {DATED} "
    "+ is_superuser:bool role:text tenants:list",
    "invitation": INVITATION,
    "new invitation": f"{INVITATION} link:text?",
    "m2m member": "id:id username:text? primary_phone:text? primary_email:text? name:text? is_admin:bool "
    "joined_at:time created_at:time",
    "m2m role": f"{NAMED} type:user|machine created_at:time",
}
NESTED: Final = {
    "oidc_client_metadata": {
        *("redirect_uris", "grant_types", "post_logout_redirect_uris", "require_pkce"),
        *("allowed_role_ids", "allowed_organization_ids", "custom_claims"),
        *("id_token_signed_response_alg", "userinfo_signed_response_alg"),
        *("refresh_token_idle_seconds", "refresh_token_absolute_seconds", "default_max_age"),
        *("required_acr", "default_acr_values"),
        *("client_uri", "logo_uri", "policy_uri", "tos_uri", "contacts", "initiate_login_uri"),
    },
    "client_id_metadata_documents": {"enabled", "hosts"},
    "dynamic_registration": {"mode", "allowed_scopes", "redirect_hosts", "default_days"},
    "branding": {"logo_url", "dark_logo_url", "favicon", "primary_color", "dark_primary_color", "layout"},
    "sign_in": {"methods", "ways"},
    "sign_up": {"identifiers", "password", "verify", "agree_to_terms"},
    "account": {
        "username_change",
        "deletion",
        "non_ascii_email_names",
        "sms_countries",
        "profile_fields",
        "sign_in_notice",
    },
    "mfa": {"factors", "policy", "organization_required_mfa_policy", "social"},
    "passkey_sign_in": {"enabled", "show_passkey_button", "allow_autofill", "prompt"},
    "trusted_device_policy": {"enabled", "duration_days"},
    "adaptive_mfa": {"enabled", "new_browser", "new_country", "inactive_days", "recent_failures"},
    "attestation": {"require", "allowed_aaguids", "allow_synced"},
    "social_sign_in": {
        "automatic_account_linking",
        "create_users",
        "create_users_while_registration_is_closed",
    },
    "password_policy": {
        *("min_length", "require_lowercase", "require_uppercase", "require_numbers", "require_special_chars"),
        *("reject_common", "reject_breached", "strength_meter"),
    },
}
NOTHING: Final = "nothing"


def crud(path: str, thing: str, made: str = "") -> Iterator[tuple[str, str]]:
    """The five operations on a kind of row."""
    yield f"GET {path}", f"page of {thing}"
    yield f"POST {path}", made or thing
    yield f"GET {path}/:pk", thing
    yield f"PATCH {path}/:pk", thing
    yield f"DELETE {path}/:pk", NOTHING


def assignment(path: str, thing: str) -> Iterator[tuple[str, str]]:
    """A set that is shown, and replaced as a whole."""
    yield f"GET {path}", f"all {thing}"
    yield f"PUT {path}", NOTHING


_ORGANIZATION: Final = "/organizations/:pk"
_M2M: Final = "/m2m/organizations/:organization_pk/members"
ANSWERS: Final = dict(
    [
        *crud("/users", "user"),
        ("PATCH /users/:pk/password", NOTHING),
        ("PATCH /users/:pk/suspend", "suspension"),
        ("DELETE /users/:pk/locks", NOTHING),
        ("GET /users/:pk/mfa-verifications", "all factor"),
        ("POST /users/:pk/mfa-verifications", "new factor"),
        ("DELETE /users/:pk/mfa-verifications", NOTHING),
        ("DELETE /users/:pk/mfa-verifications/:factor_pk", NOTHING),
        ("GET /users/:pk/mfa-settings", "factor settings"),
        ("PATCH /users/:pk/mfa-settings", "factor settings"),
        ("POST /users/:pk/recovery-codes", "recovery code"),
        *assignment("/users/:pk/roles", "role"),
        ("GET /users/:pk/organizations", "page of user's organization"),
        ("GET /users/:pk/sessions", "page of session"),
        ("DELETE /users/:pk/sessions", NOTHING),
        ("DELETE /users/:pk/sessions/:session_pk", NOTHING),
        ("GET /users/:pk/trusted-devices", "page of trusted device"),
        ("DELETE /users/:pk/trusted-devices", NOTHING),
        ("DELETE /users/:pk/trusted-devices/:device_pk", NOTHING),
        ("GET /users/:pk/grants", "page of grant"),
        ("DELETE /users/:pk/grants", NOTHING),
        ("DELETE /users/:pk/grants/:grant_pk", NOTHING),
        ("POST /users/:pk/sign-out", NOTHING),
        *crud("/roles", "role"),
        *assignment("/roles/:pk/scopes", "role's scope"),
        *assignment("/roles/:pk/users", "role's user"),
        ("GET /roles/:pk/applications", "all role's application"),
        *crud("/resources", "resource"),
        ("GET /resources/:resource_pk/scopes", "all scope"),
        ("POST /resources/:resource_pk/scopes", "scope"),
        ("DELETE /resources/:resource_pk/scopes/:pk", NOTHING),
        *crud("/organizations", "organization"),
        (f"GET {_ORGANIZATION}/users", "page of member"),
        (f"POST {_ORGANIZATION}/users", NOTHING),
        (f"PATCH {_ORGANIZATION}/users/:user_pk", "member"),
        (f"DELETE {_ORGANIZATION}/users/:user_pk", NOTHING),
        *assignment(f"{_ORGANIZATION}/users/:user_pk/roles", "named"),
        (f"GET {_ORGANIZATION}/applications", "page of role's application"),
        (f"POST {_ORGANIZATION}/applications", NOTHING),
        (f"DELETE {_ORGANIZATION}/applications/:application_pk", NOTHING),
        *assignment(f"{_ORGANIZATION}/applications/:application_pk/roles", "named"),
        *crud("/organization-roles", "role template"),
        *assignment("/organization-roles/:pk/scopes", "named"),
        *assignment("/organization-roles/:pk/resource-scopes", "template's scope"),
        ("GET /organization-permissions", "page of permission template"),
        ("POST /organization-permissions", "permission template"),
        ("DELETE /organization-permissions/:pk", NOTHING),
        *crud("/applications", "application", "new application"),
        ("POST /applications/:pk/claims-preview", "explained claims"),
        ("POST /applications/:pk/secret", "secret"),
        ("GET /applications/:pk/secrets", "all secret in a list"),
        ("POST /applications/:pk/secrets", "new secret"),
        ("DELETE /applications/:pk/secrets/:secret_pk", NOTHING),
        ("DELETE /applications/:pk/grants", NOTHING),
        *assignment("/applications/:pk/roles", "role"),
        *crud("/connectors", "connector"),
        ("POST /connectors/:pk/test", "test"),
        ("GET /connector-factories", "all factory"),
        ("GET /signing-keys", "all signing key"),
        ("POST /signing-keys/prepare", "signing key"),
        ("POST /signing-keys/rotate", "signing key"),
        ("POST /signing-keys/retire", "signing key"),
        ("GET /signing-keys/:pk", "signing key in detail"),
        ("DELETE /signing-keys/:pk", NOTHING),
        ("GET /oidc-settings", "oidc settings"),
        ("PATCH /oidc-settings", "oidc settings"),
        ("GET /sign-in-experience", "experience"),
        ("PATCH /sign-in-experience", "experience"),
        ("GET /logs", "page of log entry"),
        ("GET /logs/:pk", "log entry"),
        *crud("/tenants", "tenant"),
        *crud("/administrators", "administrator"),
        ("GET /administrator-invitations", "page of invitation"),
        ("POST /administrator-invitations", "new invitation"),
        ("GET /administrator-invitations/:pk", "invitation"),
        ("DELETE /administrator-invitations/:pk", NOTHING),
        (f"GET {_M2M}", "page of m2m member"),
        (f"POST {_M2M}", "m2m member"),
        (f"DELETE {_M2M}/:user_pk", NOTHING),
        (f"GET {_M2M}/:user_pk/roles", "all m2m role"),
        (f"PUT {_M2M}/:user_pk/roles", NOTHING),
    ]
)


def test_the_table_has_every_operation_and_no_other():
    assert {str(route) for route in all_routes()} == set(ANSWERS)


def is_a(thing: str, row: Any) -> None:
    """Check that a row has the fields of a thing, all of them and no other, each of its kind."""
    columns = dict(column.split(":") for column in THINGS[thing].replace("+ ", "").split())
    assert set(row) == set(columns), f"{thing}: {set(row) ^ set(columns)}"
    for name, kind in columns.items():
        assert KINDS[kind](row[name]), f"{thing}.{name} is no {kind}: {row[name]!r}"
        if name in NESTED:
            assert set(row[name]) == NESTED[name]


def is_answer(what: str, result: Any) -> None:
    """Check the result of an answer against a line of the table."""
    if what == NOTHING:
        assert result is None
    elif what.startswith("page of "):
        for row in result["result" if "m2m" in what else "data"]:
            is_a(what.removeprefix("page of "), row)
    elif what.startswith("all "):
        assert isinstance(result, list)
        for row in result:
            is_a(what.removeprefix("all "), row)
    else:
        is_a(what, result)


@pytest.mark.parametrize("route", [route for route in all_routes() if route.method == "GET"], ids=str)
def test_reading_shows_the_fields_of_the_interface(crowd, callers, route):
    result = result_of(callers[route.group].get(path_of(crowd[route.group], route)))

    rows = result.get("data", result.get("result", result)) if isinstance(result, dict) else result
    assert rows
    is_answer(ANSWERS[str(route)], result)


def writing(group: str) -> list[Route]:
    """Everything that changes something; what deletes comes last, the innermost first."""
    order = ["POST", "PUT", "PATCH", "DELETE"]
    found = [route for route in all_routes() if route.group == group and route.method in order]
    return sorted(found, key=lambda route: (order.index(route.method), -route.path.count("/")))


@pytest.mark.parametrize("group", ["management", "root", "members"])
def test_writing_answers_with_the_thing_or_with_null(address, group):
    estate = Estate(cast.default_world() if group == "root" else cast.new_world("Writes"))
    calls = [(route, *estate.call(route)) for route in writing(group)]
    caller = estate.admin
    if group == "members":
        caller = management.member_manager(estate.world, estate["organizations"])

    for route, path, body in calls:
        answer = caller.request(route.method, path, json=body)

        is_answer(ANSWERS[str(route)], result_of(answer))


def test_a_secret_is_shown_at_creation_and_rotation_alone(admin):
    made = admin.created("/applications", name="Shop", type="SPA")

    shown = [
        admin.get("/applications").text,
        admin.get(f"/applications/{made['id']}").text,
        admin.patch(f"/applications/{made['id']}", name="Shop 2").text,
        admin.get("/logs").text,
    ]

    assert len(made["client_secret"]) >= 43
    assert [text for text in shown if "client_secret" in text or made["client_secret"] in text] == []


class TestConnector:
    def test_is_off_unless_it_is_put_on(self, admin):
        body = {"connector_id": "outbox-sms", "type": "Sms", "config": {}}

        off, on = admin.created("/connectors", **body), admin.created("/connectors", **body, enabled=True)
        later = result_of(admin.patch(f"/connectors/{off['id']}", enabled=True))

        assert (off["enabled"], on["enabled"], later["enabled"]) == (False, True, True)
        assert result_of(admin.patch(f"/connectors/{off['id']}", enabled=False))["enabled"] is False

    def test_hides_its_secrets_wherever_it_is_shown(self, admin):
        config = {"access_key_id": "key", "access_key_secret": "top", "sign_name": "x", "template_code": "y"}

        made = admin.created("/connectors", connector_id="aliyun-sms", type="Sms", config=config)
        shown = result_of(admin.get(f"/connectors/{made['id']}"))

        assert made["config"] == shown["config"] == config | {"access_key_secret": "***"}
        assert '"top"' not in admin.get("/connectors").text

    def test_that_fails_its_test_is_400_with_what_the_provider_said(self, admin):
        made = admin.created("/connectors", connector_id="unheard-of", type="Email", config={"a": "b"})

        answer = admin.post(f"/connectors/{made['id']}/test", to="ada@example.com")

        assert answer.status_code == answer.json()["code"] == 400
        assert isinstance(answer.json()["result"], str)
        assert answer.json()["result"]
