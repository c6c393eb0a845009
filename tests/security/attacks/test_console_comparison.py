"""Each audit entry against the values that changed (AP12), for every route that writes.

The routes are those of the URL map. A new route, column or service is compared unasked.
"""

import json
from typing import Any, Final

import pytest
from django.apps import apps
from django.conf import settings

from audit.models import Entry
from identity.core import tenancy
from identity.core.audit_facts import CRITICAL
from identity.core.models import Link
from tests.support import cast, management
from tests.support.management_routes import Route, all_routes
from tests.support.surface import Estate

# What is kept beside what somebody sent: it follows from it, or belongs to no field.
_FOLLOWS: Final = frozenset(
    {
        "id", "tenant_id", "created_at", "updated_at", "version", "search_text", "epoch", "self_registered",
        "last_login", "totp_step", "pk", "secret_created_at", "has_further_secrets",
        "factors", "highest_level",
    }
)  # fmt: skip
# Tables that no administrator edits: what stands in them follows from what does.
_KEPT_BY_US: Final = (
    "audit.", "limits.", "sessions.", "verification.", "upgrades.", "contenttypes.", "auth.",
    "applications.ApplicationOrigin", "users.UserCount", "users.UserDayCount", "organizations.MemberCount",
    "migrations.", "keys.", "identity_sessions.", "grants.",
)  # fmt: skip
_CALLED: Final = {
    "sealed_config": "config",
    "secret_digest": "client_secret",
    "made_by": "administrator_id",
}
# What every new row of its kind has, so that its creation need not name it.
_BORN: Final = {"secret_digest", "digest", "token_hash", "sealed_secret"}
_SECRET: Final = ("password", "secret", "digest", "sealed")
_WRITES: Final = [route for route in all_routes() if route.method not in {"GET", "HEAD", "OPTIONS"}]
# What they do is a statement of its own, named by the key: nothing is given to them to be named.
_BY_KEY_ALONE: Final = {"POST /connectors/:pk/test"}

Rows = dict[tuple[str, Any], dict[str, Any]]


def snapshot(tenant_id: str) -> Rows:
    """Every row that somebody edits, of the tenant and of none, by table and id."""
    found: Rows = {}
    with tenancy.using(tenancy.EVERYWHERE):
        for model in apps.get_models(include_auto_created=True):
            if not model._meta.label.startswith(_KEPT_BY_US):
                rows = model._base_manager.values()
                has_tenant = any(field.name == "tenant" for field in model._meta.fields)
                for row in rows.filter(tenant=tenant_id) if has_tenant else rows:
                    found[model._meta.label, row[model._meta.pk.attname]] = row
    return found


def is_link(label: str) -> bool:
    """Tell whether a table only ties rows together."""
    model = apps.get_model(label)
    return issubclass(model, Link) or bool(model._meta.auto_created) or label == "organizations.Membership"


def differences(before: Rows, after: Rows) -> dict[tuple[str, Any], dict[str, Any]]:
    """The columns that changed of rows that are there, with their values now."""
    found = {}
    for key, row in after.items():
        old = before.get(key, {})
        empty: tuple[Any, ...] = (None, "", [], {}, False)
        columns = {
            name: value
            for name, value in row.items()
            if name not in _FOLLOWS
            and not name.endswith("_key")
            and (value != old[name] if old else value not in empty and name not in _BORN)
        }
        if columns:
            found[key] = columns
    return found


def is_named(column: str, named: set[str]) -> bool:
    """Tell whether an entry names a column, or what it follows from."""
    called = {column, _CALLED.get(column, column.removesuffix("_id"))}
    return any(one == name or one.startswith(f"{name}_") for one in called for name in named)


def is_of(user_id: Any, written: list[Entry]) -> bool:
    """Tell whether an entry has this user as its subject, which is how it names the owner of a factor."""
    return any(entry.payload.get("id") == str(user_id) for entry in written)


def names_in(payload: dict[str, Any]) -> set[str]:
    """The fields that an entry names, with those whose members it names."""
    fields = set(payload.get("fields", ())) | set(payload)
    given = fields | {name.partition(".")[0] for name in fields}
    # An application's OpenID Connect columns, and a user's other names, are sent inside or besides.
    return given | ({"redirect_uris", "grant_types", "post_logout_redirect_uris", "require_pkce"}
                    if "oidc_client_metadata" in given else set())  # fmt: skip


def estate_for(route: Route) -> Estate:
    return Estate(cast.default_world() if route.group == "root" else cast.new_world("Compared"))


def send(route: Route, estate: Estate) -> tuple[Any, Any]:
    path, body = estate.call(route)
    caller = management.superuser(estate.world)
    if route.group == "members":
        caller = management.member_manager(estate.world, estate["organizations"])
    if body and "password" in body and route.path.startswith("/administrators"):
        body = {**body, "current_password": settings.ADMIN_PASSWORD}
    options = {"json": body} if body is not None else {}
    return body, lambda: caller.request(route.method, path, **options)


@pytest.mark.parametrize("route", _WRITES, ids=str)
def test_attack_AP12_the_log_names_every_value_that_changed(address: str, route: Route) -> None:
    estate = estate_for(route)
    body, call = send(route, estate)
    tenant_id = estate.world.tenant.pk
    before = snapshot(tenant_id)

    answer = call()
    after = snapshot(tenant_id)

    assert answer.status_code == 200, answer.text
    written = list(Entry.objects.of_request(answer.headers["X-Request-Id"]))
    changes = differences(before, after)
    gone = before.keys() - after.keys()
    if str(route) in _BY_KEY_ALONE:
        assert written
        return
    assert written or not (changes or gone), f"nothing is in the log of {sorted(changes)}"
    text = json.dumps([entry.payload for entry in written])
    named = set().union(*(names_in(entry.payload) for entry in written)) if written else set()
    values: dict[str, Any] = {}
    for entry in written:
        values |= entry.payload.get("values", {})
    for (label, pk), columns in changes.items():
        if route.path == "/tenants" and label != "tenants.Tenant":
            continue  # what every tenant is born with
        if is_link(label):
            ends = [str(value) for name, value in columns.items() if name.endswith("_id")]
            assert sum(end in text for end in ends) >= 1 or str(columns.get("slug")) in text, (
                label,
                columns,
                text,
            )
            continue
        unnamed = [
            name
            for name, value in columns.items()
            if not is_named(name, named) and not (name == "user_id" and is_of(value, written))
        ]
        assert unnamed == [], (label, pk, named)
        decided = {name: value for name, value in columns.items() if name in CRITICAL}
        assert {name: values.get(name) for name in decided} == decided, label
    assert not [secret for secret in secrets_of(body, answer) if secret in text]


def secrets_of(body: Any, answer: Any) -> list[str]:
    """What was sent or answered and is a secret."""
    result = answer.json()["result"]
    given = {**(body or {}), **(result if isinstance(result, dict) else {})}
    return [
        value
        for name, value in given.items()
        if isinstance(value, str) and value and any(part in name for part in _SECRET)
    ]
