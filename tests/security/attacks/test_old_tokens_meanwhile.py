"""An old token or session of an administrator, whose change waits for one that is not committed (AP47).

The other change makes a proof necessary. So the proof is checked once the row is locked, and not before.
"""

import secrets
from typing import Any

import pytest
from django.db import connection

from identity.core import assignments
from identity.organizations import services as organizations
from identity.organizations.models import Organization
from identity.resources import services as resources
from identity.resources.models import Scope
from identity.roles import services as roles
from identity.roles.models import Role, RoleScope
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from interaction.experience import services as experience
from oidc.applications import bindings, client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application, ApplicationRole, ApplicationSecret
from tests.support import management
from tests.support.database_locks import send_meanwhile
from tests.support.old_tokens import is_refused
from tests.support.operators import hidden_fields

ACR: dict[str, object] = {"required_acr": "urn:service:acr:2fa"}
pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
)


def name():
    return f"x {secrets.token_hex(4)}"


def new_organization():
    return Organization.objects.create(name=name())


def new_application():
    return applications.register(name=name(), type="SPA")[0]


def new_resource():
    return resources.create(name=name(), indicator=f"https://{secrets.token_hex(4)}.example")


def add_factors():
    experience.change({"mfa": {"factors": ["Totp", "EmailVerificationCode"]}}, is_proven=True)


def new_sender():
    return connectors.create(connector_id="outbox-email", type="Email", config={}, is_proven=True)


def make_sender(row):
    Connector.objects.select_for_update().get(pk=row.pk)
    add_factors()


CONSOLE: list[Any] = [
    (
        "organizations/organization",
        "change",
        new_organization,
        lambda row: organizations.change(row, {"is_mfa_required": True}, is_proven=True),
        lambda row: {"name": row.name},
    ),
    (
        "applications/application",
        "sign-in-strength",
        new_application,
        lambda row: applications.change(row, ACR, is_proven=True),
        lambda _: {"required_acr": ""},
    ),
    (
        "resources/resource",
        "change",
        new_resource,
        lambda row: resources.change(row, ACR, expected=None, is_proven=True),
        lambda row: {"name": row.name, "access_token_ttl": row.access_token_ttl, "required_acr": ""},
    ),
    (
        "resources/resource",
        "delete",
        new_resource,
        lambda row: resources.change(row, ACR, expected=None, is_proven=True),
        lambda _: {},
    ),
    ("connectors/connector", "enable", new_sender, make_sender, lambda _: {}),
]


def read(row):
    return type(row).objects.filter(pk=row.pk).values().first()


@pytest.mark.parametrize("case", CONSOLE, ids=lambda case: "-".join(case[:2]))
def test_attack_AP47_the_console_asks_although_the_page_was_opened_before(acme, old_session, case):
    kind, operation, build, protect, fields = case
    with acme.active():
        row = build()
    page = f"/admin/{kind}/{row.pk}/do/{operation}/"
    shown = old_session.get(page)
    typed = hidden_fields(shown) | fields(row)
    typed.pop("version")  # without it, the form changes any version
    protected: list[Any] = []

    def change():
        protect(row)
        protected.append(read(row))

    sent = send_meanwhile(acme.active(), change, lambda: old_session.http.post(page, data=typed))

    assert shown.status_code == 200
    assert sent.headers.get("Location", "").startswith("/admin/confirm/"), sent.text
    with acme.active():
        assert read(row) == protected[0]


class TestTokens:
    def test_attack_AP47_a_scope_that_is_removed_meanwhile_is_not_added_again(self, acme, thief):
        with acme.active():
            role = Role.objects.create(name=name(), type="MachineToMachine")
            scope = Scope.objects.get(name="all", is_protected=True)
            assignments.replace(roles.SCOPES, role.pk, [str(scope.pk)], is_proven=True)

        answer = send_meanwhile(
            acme.active(),
            lambda: assignments.replace(roles.SCOPES, role.pk, [], is_proven=True),
            lambda: thief.put(f"/roles/{role.pk}/scopes", scope_ids=[str(scope.pk)]),
        )

        assert is_refused(answer)
        with acme.active():
            assert not RoleScope.objects.filter(role=role).exists()

    def test_attack_AP47_nor_is_a_role(self, acme, thief):
        held = management.management_role(acme)
        with acme.active():
            robot, _ = applications.register(name=name(), type="MachineToMachine")
            assignments.replace(bindings.ROLES, robot.pk, [held], is_proven=True)

        answer = send_meanwhile(
            acme.active(),
            lambda: assignments.replace(bindings.ROLES, robot.pk, [], is_proven=True),
            lambda: thief.put(f"/applications/{robot.pk}/roles", role_ids=[held]),
        )

        assert is_refused(answer)
        with acme.active():
            assert not ApplicationRole.objects.filter(application=robot).exists()

    @pytest.mark.parametrize("route", ["secret", "secrets"])
    def test_attack_AP47_an_application_that_gets_a_role_gives_no_secret(self, acme, thief, route):
        held = management.management_role(acme)
        with acme.active():
            robot, secret = applications.register(name=name(), type="MachineToMachine")

        answer = send_meanwhile(
            acme.active(),
            lambda: assignments.replace(bindings.ROLES, robot.pk, [held], is_proven=True),
            lambda: thief.post(f"/applications/{robot.pk}/{route}"),
        )

        assert is_refused(answer)
        with acme.active():
            assert client_secrets.is_valid(Application.objects.get(pk=robot.pk), secret)
            assert not ApplicationSecret.objects.exists()

    def test_attack_AP47_a_connector_that_comes_to_send_codes_is_not_changed(self, acme, thief):
        with acme.active():
            row = new_sender()

        answer = send_meanwhile(
            acme.active(),
            lambda: make_sender(row),
            lambda: thief.patch(f"/connectors/{row.pk}", enabled=True),
        )

        assert is_refused(answer)
        with acme.active():
            assert not Connector.objects.get(pk=row.pk).enabled
