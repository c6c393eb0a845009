"""What the management API can do, the operators' site can do: one table, which every route has to be in.

A new route fails here until it names the operation, or the page, that does the same, or says why there is
none. The other way round, an operation without a route has to say why.
"""

from types import SimpleNamespace
from typing import Any, Final

import pytest
from django.contrib.admin import site

from tests.support.listed_proofs import ASKED_FOR_NOTHING, NEEDING, NEEDS, NEEDS_NONE
from tests.support.management_routes import Route, all_routes

USER, SESSION, ROLE = "users.user", "identity_sessions.session", "roles.role"
RESOURCE, SCOPE = "resources.resource", "resources.scope"
ORGANIZATION, MEMBER = "organizations.organization", "organizations.membership"
TEMPLATE, PERMISSION = "organizations.organizationrole", "organizations.organizationpermission"
APPLICATION, BINDING = "applications.application", "applications.organizationapplication"
KEY, CONNECTOR = "keys.signingkey", "connectors.connector"
EXPERIENCE, SETTINGS = "experience.signinexperience", "oidc_settings.oidcsettings"

INVITATION = "administrators.invitation"

Done = dict[str, tuple[str, ...]]


def crud(path: str, kind: str, *changes: str) -> Done:
    """What does the same as the five operations on a kind of row."""
    return {
        f"GET {path}": (kind,),
        f"POST {path}": (f"{kind} create",),
        f"GET {path}/:pk": (kind,),
        f"PATCH {path}/:pk": tuple(f"{kind} {name}" for name in ("change", *changes)),
        f"DELETE {path}/:pk": (f"{kind} delete",),
    }


# By route: the kinds of rows whose pages show the same, or the operations that do the same.
TABLE: Final[Done] = {
    **crud("/users", USER, "profile", "data", "verify"),
    "PATCH /users/:pk/password": (f"{USER} password",),
    "PATCH /users/:pk/suspend": (f"{USER} suspend", f"{USER} reactivate"),
    "GET /users/:pk/mfa-verifications": (USER,),
    "DELETE /users/:pk/mfa-verifications": (f"{USER} reset-factors",),
    "DELETE /users/:pk/mfa-verifications/:factor_pk": (f"{USER} remove-factor",),
    "POST /users/:pk/recovery-codes": (f"{USER} recovery-code",),
    "GET /users/:pk/mfa-settings": (USER,),
    "PATCH /users/:pk/mfa-settings": (f"{USER} two-step",),
    "GET /users/:pk/roles": (USER,),
    "PUT /users/:pk/roles": (f"{USER} roles",),
    "GET /users/:pk/organizations": (USER,),
    "GET /users/:pk/sessions": (USER, SESSION),
    "DELETE /users/:pk/sessions": (f"{USER} end-sessions",),
    "DELETE /users/:pk/sessions/:session_pk": (f"{SESSION} end",),
    "GET /users/:pk/trusted-devices": (USER,),
    "DELETE /users/:pk/trusted-devices": (f"{USER} forget-browsers",),
    "DELETE /users/:pk/trusted-devices/:device_pk": (f"{USER} forget-browsers",),
    "GET /users/:pk/grants": (USER,),
    "DELETE /users/:pk/grants": (f"{USER} end-tokens",),
    "DELETE /users/:pk/grants/:grant_pk": (f"{USER} end-tokens",),
    "POST /users/:pk/sign-out": (f"{USER} sign-out",),
    "DELETE /users/:pk/locks": (f"{USER} unlock",),
    **crud("/roles", ROLE),
    "GET /roles/:pk/scopes": (ROLE,),
    "PUT /roles/:pk/scopes": (f"{ROLE} scopes",),
    "GET /roles/:pk/users": (ROLE,),
    "PUT /roles/:pk/users": (f"{ROLE} add-users", f"{ROLE} remove-users"),
    "GET /roles/:pk/applications": (ROLE,),
    **crud("/resources", RESOURCE, "claims"),
    "GET /resources/:resource_pk/scopes": (RESOURCE,),
    "POST /resources/:resource_pk/scopes": (f"{RESOURCE} add-scope",),
    "DELETE /resources/:resource_pk/scopes/:pk": (f"{SCOPE} delete",),
    **crud("/organizations", ORGANIZATION, "branding"),
    "GET /organizations/:pk/users": (ORGANIZATION, MEMBER),
    "POST /organizations/:pk/users": (f"{ORGANIZATION} add-members",),
    "PATCH /organizations/:pk/users/:user_pk": (f"{MEMBER} change",),
    "DELETE /organizations/:pk/users/:user_pk": (f"{MEMBER} remove",),
    "GET /organizations/:pk/users/:user_pk/roles": (MEMBER,),
    "PUT /organizations/:pk/users/:user_pk/roles": (f"{MEMBER} roles",),
    "GET /organizations/:pk/applications": (ORGANIZATION, BINDING),
    "POST /organizations/:pk/applications": (f"{ORGANIZATION} bind-applications",),
    "DELETE /organizations/:pk/applications/:application_pk": (f"{BINDING} remove",),
    "GET /organizations/:pk/applications/:application_pk/roles": (BINDING,),
    "PUT /organizations/:pk/applications/:application_pk/roles": (f"{BINDING} roles",),
    **crud("/organization-roles", TEMPLATE),
    "GET /organization-roles/:pk/scopes": (TEMPLATE,),
    "PUT /organization-roles/:pk/scopes": (f"{TEMPLATE} permissions",),
    "GET /organization-roles/:pk/resource-scopes": (TEMPLATE,),
    "PUT /organization-roles/:pk/resource-scopes": (f"{TEMPLATE} scopes",),
    "GET /organization-permissions": (PERMISSION,),
    "POST /organization-permissions": (f"{PERMISSION} create",),
    "DELETE /organization-permissions/:pk": (f"{PERMISSION} delete",),
    **crud(
        *("/applications", APPLICATION, "access", "branding", "grant-types", "claims", "describe"),
        *("lifetimes", "sign-in-strength"),
    ),
    "POST /applications/:pk/secret": (f"{APPLICATION} secret",),
    "GET /applications/:pk/secrets": (APPLICATION,),
    "POST /applications/:pk/secrets": (f"{APPLICATION} add-secret",),
    "DELETE /applications/:pk/secrets/:secret_pk": (f"{APPLICATION} delete-secret",),
    "POST /applications/:pk/claims-preview": (f"{APPLICATION} claims-preview",),
    "DELETE /applications/:pk/grants": (f"{APPLICATION} end-tokens",),
    "GET /applications/:pk/roles": (APPLICATION,),
    "PUT /applications/:pk/roles": (f"{APPLICATION} roles",),
    "GET /signing-keys": (KEY,),
    "GET /signing-keys/:pk": (KEY,),
    "POST /signing-keys/prepare": (f"{KEY} prepare", f"{KEY} add"),
    "POST /signing-keys/rotate": (f"{KEY} rotate",),
    "POST /signing-keys/retire": (f"{KEY} retire",),
    "DELETE /signing-keys/:pk": (f"{KEY} delete",),
    **crud("/connectors", CONNECTOR, "enable", "disable", "own-callback"),
    "POST /connectors/:pk/test": (f"{CONNECTOR} test",),
    "GET /connector-factories": (f"{CONNECTOR} create",),  # the choice of its form
    "GET /oidc-settings": (SETTINGS,),
    "PATCH /oidc-settings": (f"{SETTINGS} signing", f"{SETTINGS} claims", f"{SETTINGS} lifetimes"),
    "GET /sign-in-experience": (EXPERIENCE,),
    "PATCH /sign-in-experience": tuple(
        f"{EXPERIENCE} {name}"
        for name in (
            *("look", "ways", "arrange", "registration", "passwords", "factors", "accounts"),
            *("message", "texts"),
        )
    ),
    "GET /logs": ("audit.entry",),
    "GET /logs/:pk": ("audit.entry",),
    **crud("/tenants", "tenants.tenant"),
    **crud("/administrators", "administrators.administrator", "password"),
    "GET /administrator-invitations": (INVITATION,),
    "POST /administrator-invitations": (f"{INVITATION} create", "administrators.administrator invite"),
    "GET /administrator-invitations/:pk": (INVITATION,),
    "DELETE /administrator-invitations/:pk": (f"{INVITATION} delete",),
}
# Routes that nothing on the site corresponds to, and why.
WITHOUT_OPERATION: Final[dict[str, str]] = {
    "POST /users/:pk/mfa-verifications": "an administrator who saw a user's secret could use it; programs "
    "move the secrets of another system",
}
# Operations without a route, and why.
WITHOUT_ROUTE: Final = {
    f"{USER} username": "the interface says that a PATCH does not change it",
    f"{USER} import": "a program creates users one by one, with their password hashes",
    f"{USER} disconnect": "a consent is the user's; support does it on request, programs do not",
    f"{USER} unlink": "a linked account is the user's; support does it on request, programs do not",
    f"{PERMISSION} change": "the interface has no PATCH",
    f"{CONNECTOR} arrange": "a front end of your own arranges its buttons itself",
    f"{APPLICATION} try-sign-in": "a user signs in on pages, in the browser of an administrator",
    f"{CONNECTOR} try": "an administrator signs in at the provider, which no program can",
    "verification.outgoingmessage retry": "the interface does not show messages",
    "verification.outgoingmessage drop": "the interface does not show messages",
    f"{INVITATION} renew": "programs revoke an invitation and invite again",
    f"{INVITATION} link": "programs get the link if the mail server refuses it",
    "administrators.administrator unlink": "nobody links by the interface",
    "administrators.administrator passkeys": "passkeys are for the operators' site only",
    "administrators.administrator second-step": "removing it needs the other administrator's own proof",
}
# Operations that only lead on from another one of the same kind.
PARTS: Final = ("message-", "texts-", "create-")


def management_routes() -> list[Route]:
    """The routes of administrators. Those of organizations are for third parties' machines alone."""
    return [route for route in all_routes() if route.group != "members"]


def catalogues() -> dict[str, Any]:
    kinds: dict[Any, Any] = dict(site._registry)
    return {
        model._meta.label_lower: {operation.name: operation for operation in pages.catalogue.all()}
        for model, pages in kinds.items()
    }


def test_every_route_has_an_operation_or_a_page_or_says_why_there_is_none():
    routes = {str(route) for route in management_routes()}

    assert routes - TABLE.keys() - WITHOUT_OPERATION.keys() == set(), "add them to the table"
    assert (TABLE.keys() | WITHOUT_OPERATION.keys()) - routes == set(), "they are gone"
    assert all(WITHOUT_OPERATION.values())


def test_every_operation_of_the_table_is_there():
    known = catalogues()

    for route, places in TABLE.items():
        is_read = route.startswith("GET ") and route != "GET /connector-factories"
        assert places, route
        for place in places:
            kind, _, name = place.partition(" ")
            assert kind in known, f"{route}: no pages of {kind}"
            assert (name == "") == is_read, f"{route}: {place}"
            assert not name or name in known[kind], f"{route}: {kind} has no operation {name}"


def test_an_operation_without_a_route_says_why():
    named = {place for places in TABLE.values() for place in places}
    there = {
        f"{kind} {name}"
        for kind, operations in catalogues().items()
        for name in operations
        if not name.startswith(PARTS)
    }

    assert there - named == WITHOUT_ROUTE.keys()


# Routes whose fields are compared, too. Forms of the others are made from the settings themselves.
COMPARED: Final = (
    *("/users", "/users/:pk", "/users/:pk/password", "/roles", "/roles/:pk", "/resources", "/resources/:pk"),
    *("/organizations", "/organizations/:pk", "/organization-roles", "/organization-roles/:pk"),
    *("/organization-permissions", "/applications", "/applications/:pk", "/tenants", "/tenants/:pk"),
    *(
        "/administrators",
        "/administrators/:pk",
        "/administrator-invitations",
        "/resources/:resource_pk/scopes",
    ),
)
# What the site calls a field otherwise.
CALLED: Final = {"primary_email": "email", "primary_phone": "phone"}
# Fields that a later operation on the new row takes, or none, and why.
NOT_IN_A_FORM: Final = {
    "POST /users password_hash": "programs move users with their hashes, nobody types one",
    "PATCH /users/:pk username": "it is ignored",
    "PATCH /users/:pk password": "it is ignored",
    "PATCH /users/:pk password_hash": "it is ignored",
    "PATCH /users/:pk given_name": "it is a member of the profile",
    "PATCH /users/:pk family_name": "it is a member of the profile",
    "PATCH /users/:pk profile": "the form has its members",
    "PATCH /roles/:pk type": "it cannot be changed",
    "PATCH /organization-roles/:pk type": "it cannot be changed",
    "PATCH /resources/:pk indicator": "it cannot be changed",
    "PATCH /applications/:pk type": "it cannot be changed",
    "PATCH /applications/:pk branding": "the form has its members",
    "PATCH /organizations/:pk branding": "the form has its members",
    "PATCH /tenants/:pk slug": "it cannot be changed",
    "PATCH /administrators/:pk username": "it cannot be changed",
}


def fields_of(operation: Any) -> set[str]:
    """The fields of an operation's form; of one that depends on the row, those of a web application's."""
    is_fixed = operation.form_for is None
    form = operation.form if is_fixed else operation.form_for(SimpleNamespace(type="Traditional"))
    return set(form.base_fields)


def sent_fields(described: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    """The fields of a request's body, with those of the OpenID Connect settings."""
    if "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    found: set[str] = set()
    for name, part in schema["properties"].items():
        nested = part.get("allOf", [part])[0]
        found |= sent_fields(described, nested) if name == "oidc_client_metadata" else {name}
    return found


@pytest.mark.parametrize(
    "route",
    [route for route in management_routes() if route.takes_body and route.path in COMPARED],
    ids=str,
)
def test_every_field_of_a_route_is_in_a_form(document, route):
    body = next(
        operation["requestBody"]["content"]["application/json"]["schema"]
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if f"{method.upper()} {_spelled(path)}" == f"{route.method} {_spelled('/api/v1' + route.path)}"
    )
    known = catalogues()
    later = TABLE.get(f"PATCH {route.path}/:pk", ())  # what the form of creation does not ask for
    forms = [fields_of(known[kind][name]) for kind, name in map(str.split, (*TABLE[str(route)], *later))]

    missing = {
        name
        for name in sent_fields(document, body)
        if not any(CALLED.get(name, name) in form for form in forms)
        and f"{route} {name}" not in NOT_IN_A_FORM
        and f"{route.method.replace('POST', 'PATCH')} {route.path}/:pk {name}" not in NOT_IN_A_FORM
    }

    assert missing == set()


def _spelled(path: str) -> str:
    return "/".join(":" if part.startswith((":", "{")) else part for part in path.split("/"))


def test_every_route_that_writes_needs_a_proof_or_says_why_not():
    written = [str(route) for route in all_routes() if route.method != "GET"]

    listed = [*NEEDS, *(route for routes in NEEDS_NONE.values() for route in routes)]

    assert sorted(listed) == sorted(written)


def test_operations_that_do_the_same_as_a_route_need_a_proof_too():
    done = {name.partition(".")[2] for route in NEEDS for name in TABLE.get(route, ())}
    needing = {" ".join(one) for one in NEEDING}
    without = set[str]().union(*ASKED_FOR_NOTHING.values())

    assert done - needing == without
    assert {name for name in needing if not name.partition(" ")[2].startswith(PARTS)} <= done
