"""An old token or session of an administrator, which removes what organizations and APIs demand (AP47)."""

import secrets

import pytest
from django.db import connection

from identity.core.proof import TokenTooOld
from identity.organizations import services as organizations
from identity.organizations.models import Organization
from identity.resources import services as resources
from identity.resources.models import Resource
from oidc.applications import services as applications
from oidc.applications.models import Application
from tests.support import management, operators
from tests.support.database_locks import send_meanwhile
from tests.support.factors import switch_on
from tests.support.management import result_of
from tests.support.old_tokens import is_refused
from tests.support.site_sessions import age

TWO, PASSKEY = "urn:service:acr:2fa", "phr"
ACR = {"required_acr": TWO}


@pytest.fixture
def admin(acme):
    switch_on(acme, "Totp", "WebAuthn")
    return management.superuser(acme)


def organization(admin, **fields):
    made = admin.created("/organizations", name=f"o {secrets.token_hex(4)}", **fields)
    return f"/organizations/{made['id']}"


def application(admin, **fields):
    name = f"a {secrets.token_hex(4)}"
    made = admin.created("/applications", name=name, type="SPA", oidc_client_metadata=fields)
    return f"/applications/{made['id']}"


def resource(admin, **fields):
    return f"/resources/{management.new_resource(admin, **fields)}"


def body(path, **fields):
    return {"oidc_client_metadata": fields} if path.startswith("/applications") else fields


DEMANDS = [
    (organization, {"is_mfa_required": True}, {"is_mfa_required": False}),
    (application, ACR, {"required_acr": ""}),
    (application, ACR, {"required_acr": "urn:service:acr:1fa"}),
    (resource, ACR, {"required_acr": ""}),
    (resource, ACR, {"required_acr": "urn:service:acr:1fa"}),
]


@pytest.mark.parametrize("case", DEMANDS)
def test_attack_AP47_an_old_token_keeps_them(acme, admin, thief, case):
    build, demand, change = case
    path = build(admin, **demand)
    before = result_of(admin.get(path))

    assert is_refused(thief.patch(path, **body(path, **change)))
    assert result_of(admin.get(path)) == before

    result_of(thief.patch(path, **body(path, **demand), name="another name"))
    for caller in (admin, management.machine(acme)):
        result_of(caller.patch(path, **body(path, **change)))
        result_of(admin.patch(path, **body(path, **demand)))


ROWS = {
    organization: (Organization, organizations),
    application: (Application, applications),
    resource: (Resource, resources),
}


def new_row(acme, admin, build):
    """The path of a new row without a demand, the row as it is read now, and the services that change it."""
    model, services = ROWS[build]
    path = build(admin)
    with acme.active():
        return path, model.objects.get(pk=path.rpartition("/")[2]), services


def keeps(row, demand):
    [(name, value)] = demand.items()
    return getattr(type(row).objects.get(pk=row.pk), name) == value


class TestDemandsMadeMeanwhile:
    """A demand that is made between the reading of the row and its change."""

    @pytest.mark.parametrize("case", DEMANDS)
    def test_attack_AP47_a_row_that_was_read_before_does_not_lose_it(self, acme, admin, case):
        build, demand, change = case
        path, row, services = new_row(acme, admin, build)
        with acme.active():
            result_of(admin.patch(path, **body(path, **demand)))

            with pytest.raises(TokenTooOld):
                services.change(row, change, expected=None, is_proven=False)

            assert keeps(row, demand)
            services.change(row, {"name": "another name"}, expected=None, is_proven=False)
            services.change(row, change, expected=None, is_proven=True)

    @pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
    )
    @pytest.mark.parametrize("case", DEMANDS)
    def test_attack_AP47_an_old_token_waits_for_one_that_is_not_committed(self, acme, admin, thief, case):
        build, demand, change = case
        path, row, services = new_row(acme, admin, build)

        answer = send_meanwhile(
            acme.active(),
            lambda: services.change(row, demand, expected=None, is_proven=True),
            lambda: thief.patch(path, **body(path, **change)),
        )

        assert is_refused(answer)
        with acme.active():
            assert keeps(row, demand)


@pytest.mark.parametrize(("build", "demand"), [row[:2] for row in DEMANDS[:1] + DEMANDS[2::2]])
def test_attack_AP47_a_first_demand_needs_no_proof(admin, thief, build, demand):
    path = build(admin)

    result_of(thief.patch(path, **body(path, **demand)))


def alias(level):
    return {"acr_aliases": [{"value": "urn:acme:strong", "level": level}]}


@pytest.mark.parametrize("is_required", [True, False])
def test_attack_AP47_nor_does_it_give_an_alias_another_level(acme, admin, thief, is_required):
    """Applications that only request the alias rely on its level, too."""
    result_of(admin.patch("/oidc-settings", **alias(PASSKEY)))
    if is_required:
        resource(admin, required_acr="urn:acme:strong")

    assert is_refused(thief.patch("/oidc-settings", **alias("urn:service:acr:1fa")))
    assert result_of(admin.get("/oidc-settings"))["acr_aliases"] == alias(PASSKEY)["acr_aliases"]

    result_of(thief.patch("/oidc-settings", **alias(PASSKEY), keep_signed_in=True))
    for caller in (admin, management.machine(acme)):
        result_of(caller.patch("/oidc-settings", **alias("urn:service:acr:1fa")))


@pytest.mark.parametrize("is_required", [True, False])
def test_attack_AP47_nor_does_it_add_an_alias_that_is_missing(acme, admin, thief, is_required):
    result_of(admin.patch("/oidc-settings", **alias(TWO)))
    result_of(thief.patch("/oidc-settings", acr_aliases=[]))
    if is_required:
        path = resource(admin)
        with acme.active():  # as an earlier release could leave it
            Resource.objects.filter(pk=path.rpartition("/")[2]).update(required_acr="urn:acme:strong")

    assert is_refused(thief.patch("/oidc-settings", **alias("urn:service:acr:1fa")))
    result_of(admin.patch("/oidc-settings", **alias("urn:service:acr:1fa")))


def test_attack_AP47_nor_does_it_delete_an_api_that_has_one(admin, thief):
    strict, free = resource(admin, **ACR), resource(admin)

    assert is_refused(thief.delete(strict))
    assert result_of(admin.get(strict))["required_acr"] == TWO
    result_of(thief.delete(free))
    result_of(admin.delete(strict))


@pytest.mark.parametrize(
    ("build", "demand", "page"),
    [
        (organization, {"is_mfa_required": True}, "/admin/organizations/organization/{}/do/change/"),
        (application, ACR, "/admin/applications/application/{}/do/sign-in-strength/"),
        (resource, ACR, "/admin/resources/resource/{}/do/change/"),
        (resource, ACR, "/admin/resources/resource/{}/do/delete/"),
    ],
)
def test_attack_AP47_an_unattended_session_keeps_them(acme, admin, build, demand, page):
    operator = operators.at(acme)
    strict, free = (path.rpartition("/")[2] for path in (build(admin, **demand), build(admin)))
    age(operator)

    assert operator.get(page.format(strict)).headers.get("Location", "").startswith("/admin/confirm/")
    assert operator.get(page.format(free)).status_code == 200
