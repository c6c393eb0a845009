"""The routes below ``/api/v1`` as the URL map has them, so that no test can forget one.

A tenant is furnished with one thing of each kind that a path can name, and each write has a
body that is good there. A new kind or a new write fails here until it has its line.
"""

import base64
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from django.apps import apps
from django.db import connection, models
from django.db.backends.utils import CursorWrapper
from django.urls import get_resolver

from audit.events import Event
from audit.models import Entry
from database import ids
from identity.factors import browsers
from identity.factors.models import KnownBrowser
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experiences
from management.administrators import invitations
from management.api.permissions import IsSuperuser
from oidc.applications.models import Application
from oidc.grants import families
from oidc.grants.code_sign_ins import CodeSignIn
from tests.support import management, operators
from tests.support.cast import PASSWORD, World, default_world
from tests.support.management import result_of
from tests.test_house import methods, routes

_API: Final = "/api/v1"
_WRITES: Final = ("POST", "PUT", "PATCH")


@dataclass(frozen=True)
class Route:
    """A method at a path below ``/api/v1``, and what serves it."""

    method: str
    path: str
    view: Any = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def group(self) -> str:
        """Who comes in: administrators and their applications, superusers, or member managers."""
        if self.path.startswith("/m2m/"):
            return "members"
        permissions = self.view.initkwargs.get("permission_classes", self.view.cls.permission_classes)
        return "root" if IsSuperuser in permissions else "management"

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The path's parameters, each with the collection that it names one of."""
        return re.findall(r"/([\w-]+)/(:\w+)", self.path)

    def filled(self, ids: dict[str, str]) -> str:
        """The path with an id for each parameter."""
        return re.sub(r":\w+", lambda found: ids[found[0]], self.path)

    @property
    def takes_body(self) -> bool:
        return self.method in _WRITES and str(self) not in _WITHOUT_BODY


def all_routes() -> list[Route]:
    found = [
        Route(method, path.removeprefix(_API), pattern.callback)
        for path, _, pattern in routes(get_resolver())
        if path.startswith(f"{_API}/")
        for method in sorted(methods(pattern))
    ]
    assert len(found) > 80
    return found


def writes() -> list[Route]:
    """The routes that take a body."""
    return [route for route in all_routes() if route.takes_body]


def new_name(prefix: str = "n") -> str:
    return f"{prefix}-{secrets.token_hex(5)}"


def new_phone() -> str:
    return f"+49{secrets.randbelow(10**11):011}"


class Estate:
    """One thing of each kind in a tenant, each tied to the others as the paths nest."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.admin = management.superuser(world)
        self._made: dict[str, str] = {}
        self._calls: dict[str, tuple[str, dict[str, Any] | None]] = {}

    def __getitem__(self, collection: str) -> str:
        """The id of the thing of a collection, made when it is asked for."""
        if collection not in self._made:
            self._made[collection] = str(_MAKERS[collection](self))
        return self._made[collection]

    def ids(self, route: Route) -> dict[str, str]:
        """An id for each parameter of a route's path."""
        # The preview is about users. A new client secret of the first application ends its further secrets.
        is_second = "claims-preview" in str(route) or ":secret_pk" in str(route)
        seconds = {"applications": "second application"} if is_second else {}
        if route.path.startswith(("/users/:pk/sessions", "/users/:pk/grants", "/users/:pk/trusted")):
            seconds["users"] = "signed-in user"  # other calls sign the first one out
        return {name: self[seconds.get(collection, collection)] for collection, name in route.parameters}

    def call(self, route: Route) -> tuple[str, dict[str, Any] | None]:
        """A path and a body that are good for a route. Made once: a second use need not be good."""
        if str(route) not in self._calls:
            path = route.filled(self.ids(route))
            self._calls[str(route)] = path, self.body(route) if route.takes_body else None
        return self._calls[str(route)]

    def body(self, route: Route) -> dict[str, Any]:
        """A body that is good for a write, with every field it takes, and of no other call."""
        return _BODIES[str(route)](self)


def _made(path: str, **fields: Any) -> Callable[[Estate], str]:
    return lambda estate: str(estate.admin.created(path, **fields)["id"])


def _a_user(estate: Estate) -> str:
    return str(estate.admin.created("/users", username=new_name("u"), password="sesame")["id"])


def _a_member(estate: Estate) -> str:
    """The user, whom the organization has as a member."""
    return estate["users"]


def _a_home(estate: Estate) -> str:
    """An organization with the user in it, and the application bound to it."""
    organization = str(estate.admin.created("/organizations", name="Home")["id"])
    result_of(estate.admin.post(f"/organizations/{organization}/users", user_ids=[estate["users"]]))
    result_of(
        estate.admin.post(
            f"/organizations/{organization}/applications", application_ids=[estate["applications"]]
        )
    )
    return organization


def _a_role(estate: Estate) -> str:
    return str(estate.admin.created("/roles", name=new_name("role"), type="User")["id"])


def _a_machine_role(estate: Estate) -> str:
    return str(estate.admin.created("/roles", name=new_name("role"), type="MachineToMachine")["id"])


def _an_organization_role(kind: str) -> Callable[[Estate], str]:
    return lambda estate: str(
        estate.admin.created("/organization-roles", name=new_name("role"), type=kind)["id"]
    )


def _a_resource(estate: Estate) -> str:
    indicator = f"https://{new_name('api')}.example"
    return str(estate.admin.created("/resources", name="API", indicator=indicator)["id"])


def _a_scope(estate: Estate) -> str:
    path = f"/resources/{estate['resources']}/scopes"
    return str(estate.admin.created(path, name=new_name("scope"))["id"])


def _a_session(estate: Estate) -> str:
    with estate.world.active():
        user = User.objects.get(pk=estate["signed-in user"])
        return str(sessions.start(user, amr=["pwd"])[0].pk)


def _a_trusted_device(estate: Estate) -> str:
    with estate.world.active():
        experiences.change({"trusted_device_policy": {"enabled": True}})
        user = User.objects.get(pk=estate["signed-in user"])
        browsers.record(user, (), remember=experiences.current().trusted_devices, level=2)
        return str(KnownBrowser.objects.latest("created_at").pk)


def _a_grant(estate: Estate) -> str:
    with estate.world.active():
        session = Session.objects.select_related("user").get(pk=_a_session(estate))
        family = families.new_family(
            family_id=ids.new(),
            application=Application.objects.get(pk=estate["second application"]),
            sign_in=CodeSignIn.of_session(session),
            scope="openid offline_access",
            claims={},
            consent_id=None,
        )
        families.INSERT(family)
        return str(family.pk)


def _a_previous_key(estate: Estate) -> str:
    before = result_of(estate.admin.get("/signing-keys"))
    result_of(estate.admin.post("/signing-keys/rotate"))
    return str(before[0]["id"])


def _an_entry(estate: Estate) -> str:
    return str(result_of(estate.admin.get("/logs"))["data"][0]["id"])


def _a_tenant(_: Estate) -> str:
    root = management.superuser(default_world())
    return str(root.created("/tenants", slug=new_name("t"), name="Passing")["id"])


def _an_invitation(estate: Estate) -> str:
    by = operators.administrator()
    return str(invitations.invite(**_invitation(estate), by=by, current_password=PASSWORD).invitation.pk)


def _an_administrator(_: Estate) -> str:
    return str(management.new_administrator().pk)


_MAKERS: Final[dict[str, Callable[[Estate], str]]] = {
    "users": _a_user,
    "signed-in user": _a_user,
    "sessions": _a_session,
    "grants": _a_grant,
    "trusted-devices": _a_trusted_device,
    "members": _a_member,
    "roles": _a_role,
    "machine roles": _a_machine_role,
    "resources": _a_resource,
    "scopes": _a_scope,
    "organizations": _a_home,
    "organization-roles": _an_organization_role("User"),
    "machine organization roles": _an_organization_role("MachineToMachine"),
    "organization-permissions": lambda estate: str(
        estate.admin.created("/organization-permissions", name=new_name("do"))["id"]
    ),
    "applications": _made("/applications", name="Robot", type="MachineToMachine"),
    "second application": _made("/applications", name="Shop", type="Traditional"),
    "secrets": lambda estate: str(
        estate.admin.created(f"/applications/{estate['second application']}/secrets")["id"]
    ),
    "mfa-verifications": lambda estate: str(
        estate.admin.created(f"/users/{estate['users']}/mfa-verifications", type="Totp")["id"]
    ),
    "connectors": _made("/connectors", connector_id="outbox-sms", type="Sms", config={"sign_name": "x"}),
    "signing-keys": _a_previous_key,
    "logs": _an_entry,
    "tenants": _a_tenant,
    "administrators": _an_administrator,
    "administrator-invitations": _an_invitation,
}


def make(collection: str, estate: Estate) -> str:
    """Make one more thing of a collection, and return its id."""
    return _MAKERS[collection](estate)


# Writes that the interface gives no body.
_WITHOUT_BODY: Final = {
    "POST /signing-keys/prepare",
    "POST /signing-keys/rotate",
    "POST /applications/:pk/secret",
    "POST /users/:pk/sign-out",
}

Body = dict[str, Any]


def _user(estate: Estate) -> Body:
    return {
        "username": new_name("u"),
        "password": "sesame",
        "name": "Ada",
        "email": f"{new_name('u')}@example.com",
        "phone": new_phone(),
        "avatar": "https://example.com/a.png",
        "custom_data": {"gender": "female"},
    }


def _user_changes(estate: Estate) -> Body:
    changes = _user(estate)
    return {name: changes[name] for name in ("name", "email", "phone", "avatar", "custom_data")}


def _named(estate: Estate) -> Body:
    return {"name": new_name(), "description": "what it is\nfor"}


def _branding() -> Body:
    picture = "https://example.com/a.svg"
    return {
        "logo_url": picture,
        "dark_logo_url": picture,
        "favicon": picture,
        "primary_color": "#0a84ff",
        "dark_primary_color": "#fff",
        "layout": "split",
    }


def _organization(estate: Estate) -> Body:
    further = {"logo_url": "https://example.com/logo.png", "branding": _branding()}
    return {**_named(estate), "metadata": {"plan": "pro"}, **further}


def _application(estate: Estate) -> Body:
    metadata = {
        "redirect_uris": ["https://rp.example/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "post_logout_redirect_uris": ["https://rp.example/"],
    }
    further = {"is_third_party": False, "branding": _branding()}
    return {**_named(estate), "type": "SPA", "oidc_client_metadata": metadata, **further}


def _application_changes(estate: Estate) -> Body:
    metadata = {"grant_types": ["client_credentials"]}
    further = {"is_third_party": False, "branding": _branding()}
    return {**_named(estate), "oidc_client_metadata": metadata, **further}


def _oidc_settings(_: Estate) -> Body:
    return {
        "default_signing_alg": "ES256",
        "acr_aliases": [{"value": "https://refeds.org/profile/mfa", "level": "phr"}],
        "groups_claim": "roles",
        "client_id_metadata_documents": {"enabled": False, "hosts": ["apps.example.com"]},
        "dynamic_registration": {
            "mode": "off",
            "allowed_scopes": ["profile"],
            "redirect_hosts": ["app.example.com"],
            "default_days": 30,
        },
        "session_idle_seconds": 3600,
        "refresh_token_idle_seconds": 3600,
        "keep_signed_in": False,
    }


def _experience(estate: Estate) -> Body:
    return {
        "branding": _branding(),
        "sign_in": {
            "methods": [{"identifier": "username", "password": True, "verification_code": False}],
            "ways": ["password", "verification_code"],
        },
        "sign_up": {
            "identifiers": ["username"],
            "password": True,
            "verify": False,
            "agree_to_terms": "automatic",
        },
        "password_policy": {
            "min_length": 8,
            "require_lowercase": True,
            "require_uppercase": False,
            "require_numbers": True,
            "require_special_chars": False,
            "reject_common": False,
            "strength_meter": False,
        },
        "mfa": {"factors": ["Totp", "BackupCode"], "policy": "NoPrompt", "social": "ask"},
        "passkey_sign_in": {"enabled": False},
        "trusted_device_policy": {"enabled": False, "duration_days": 14},
        "adaptive_mfa": {"enabled": False},
        "attestation": {"require": False},
        "forgot_password_requires_factor": False,
        "message_templates": [
            {
                "purpose": "sign_in",
                "channel": "sms",
                "language": "",
                "text": "{code}",
                "subject": "",
                "html": "",
            }
        ],
        "page_texts": [{"key": "sign_in_button", "language": "de", "text": "Los"}],
        "terms_of_use_url": "https://example.com/terms",
        "privacy_policy_url": "https://example.com/privacy",
    }


def _administrator(estate: Estate) -> Body:
    return {
        "username": new_name("a"),
        "password": "sesame",
        "email": "ops@example.com",
        "phone": "+4930123456",
        "is_superuser": False,
        "tenants": [],
    }


def _invitation(_: Estate) -> Body:
    return {"email": f"{new_name('i')}@example.com", "is_superuser": False, "role": "auditor", "tenants": []}


def _administrator_changes(estate: Estate) -> Body:
    return {name: value for name, value in _administrator(estate).items() if name != "username"}


def _recovery_code(estate: Estate) -> Body:
    """A body for a tenant that has something to set up."""
    result_of(estate.admin.patch("/sign-in-experience", mfa={"factors": ["Totp"]}))
    return {"expires_in": 600}


def _ids(name: str, collection: str) -> Callable[[Estate], Body]:
    return lambda estate: {name: [estate[collection]]}


def _unused_algorithm(estate: Estate) -> Body:
    unused = {"algorithm": "EdDSA"}
    result_of(estate.admin.post("/signing-keys/rotate", **unused))
    return unused


_BODIES: Final[dict[str, Callable[[Estate], Body]]] = {
    "POST /signing-keys/retire": _unused_algorithm,
    "POST /users": _user,
    "PATCH /users/:pk": _user_changes,
    "PATCH /users/:pk/password": lambda _: {"password": "open sesame"},
    "PATCH /users/:pk/suspend": lambda _: {"is_suspended": False},
    "POST /users/:pk/mfa-verifications": lambda _: {
        "type": "Totp",
        "secret": base64.b32encode(secrets.token_bytes(20)).decode(),
        "name": "Phone",
    },
    "POST /users/:pk/recovery-codes": _recovery_code,
    "PATCH /users/:pk/mfa-settings": lambda _: {"two_step": True},
    "PUT /users/:pk/roles": _ids("role_ids", "roles"),
    "POST /roles": lambda estate: {**_named(estate), "type": "User"},
    "PATCH /roles/:pk": _named,
    "PUT /roles/:pk/scopes": _ids("scope_ids", "scopes"),
    "PUT /roles/:pk/users": _ids("user_ids", "users"),
    "POST /resources": lambda _: {
        "name": new_name(),
        "indicator": f"https://{new_name('api')}.example",
        "access_token_ttl": 600,
        "is_default": False,
    },
    "PATCH /resources/:pk": lambda _: {"name": new_name(), "access_token_ttl": 700, "is_default": False},
    "POST /resources/:resource_pk/scopes": _named,
    "POST /organizations": _organization,
    "PATCH /organizations/:pk": _organization,
    "POST /organizations/:pk/users": lambda estate: {"user_ids": [_a_user(estate)]},
    "PATCH /organizations/:pk/users/:user_pk": lambda _: {"is_admin": False},
    "PUT /organizations/:pk/users/:user_pk/roles": _ids("organization_role_ids", "organization-roles"),
    "POST /organizations/:pk/applications": _ids("application_ids", "applications"),
    "PUT /organizations/:pk/applications/:application_pk/roles": _ids(
        "organization_role_ids", "machine organization roles"
    ),
    "POST /organization-roles": lambda estate: {**_named(estate), "type": "User"},
    "PATCH /organization-roles/:pk": _named,
    "PUT /organization-roles/:pk/scopes": _ids("scope_ids", "organization-permissions"),
    "PUT /organization-roles/:pk/resource-scopes": _ids("scope_ids", "scopes"),
    "POST /organization-permissions": _named,
    "POST /applications": _application,
    "PATCH /applications/:pk": _application_changes,
    "POST /applications/:pk/claims-preview": lambda estate: {"user_id": _a_user(estate)},
    "POST /applications/:pk/secrets": lambda _: {"name": new_name(), "expires_at": "2099-01-31T12:00:00Z"},
    "PUT /applications/:pk/roles": _ids("role_ids", "machine roles"),
    "POST /connectors": lambda _: {
        "connector_id": "outbox-sms",
        "type": "Sms",
        "config": {"sign_name": "x"},
        "enabled": False,
    },
    "PATCH /connectors/:pk": lambda _: {"config": {"sign_name": "y"}, "enabled": False},
    "POST /connectors/:pk/test": lambda _: {"to": new_phone()},
    "PATCH /oidc-settings": _oidc_settings,
    "PATCH /sign-in-experience": _experience,
    "POST /tenants": lambda _: {"slug": new_name("t"), "name": "Another"},
    "PATCH /tenants/:pk": lambda _: {"name": new_name()},
    "POST /administrators": _administrator,
    "POST /administrator-invitations": _invitation,
    "PATCH /administrators/:pk": _administrator_changes,
    "POST /m2m/organizations/:organization_pk/members": lambda _: {
        "phone": new_phone(),
        "name": "New",
        "email": f"{new_name('u')}@example.com",
    },
    "PUT /m2m/organizations/:organization_pk/members/:user_pk/roles": _ids("role_ids", "organization-roles"),
}


def rows_of(*worlds: World) -> dict[str, list[Any]]:
    """Every row of these tenants, the audit log included: what a refusal must not change."""
    tenants = [world.tenant.pk for world in worlds]
    places = ", ".join(["%s"] * len(tenants))
    with connection.cursor() as cursor:
        return {label: _rows(cursor, sql.format(places), tenants) for label, sql in _tenant_tables().items()}


@cache
def _tenant_tables() -> dict[str, str]:
    """Return the statement that reads the rows of tenants, by model."""
    return {
        model._meta.label: f'SELECT * FROM "{model._meta.db_table}" WHERE tenant_id IN ({{}}){_but(model)} {_order(model)}'  # noqa: E501, S608 - own names
        for model in apps.get_models(include_auto_created=True)
        if any(column.attname == "tenant_id" for column in model._meta.concrete_fields)
    }


def _order(model: type[models.Model]) -> str:
    # The database sorts: the default tenant has thousands of entries when half of the tests have run.
    return "ORDER BY " + ", ".join(f'"{field.column}"' for field in model._meta.pk_fields)


def _but(model: type[models.Model]) -> str:
    return f" AND NOT key = '{Event.ACCESS_REFUSE}'" if model is Entry else ""  # which a refusal leaves


def _rows(cursor: CursorWrapper, sql: str, tenants: list[str]) -> list[Any]:
    cursor.execute(sql, tenants)  # plain, because this runs twice in thousands of tests
    rows: list[Any] = cursor.fetchall()
    return rows


def changed(before: dict[str, list[Any]], after: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """What of the rows is not as it was, by table."""
    return {
        label: [row for row in rows if row not in before[label]]
        + [row for row in before[label] if row not in rows]
        for label, rows in after.items()
        if rows != before[label]
    }
