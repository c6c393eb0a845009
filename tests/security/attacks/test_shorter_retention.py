"""A stolen token or session that has the audit log deleted (AP41)."""

import json
import time

import pytest
import time_machine
from django.conf import settings as configured
from django.db import connection
from django.test import Client

from audit import retention
from audit.models import Entry
from identity.core import tenancy
from identity.tenants import services as tenants
from management.administrators import tokens
from tests.support import management, operators
from tests.support.cast import PASSWORD, default_world
from tests.support.database_locks import send_meanwhile
from tests.support.management import result_of
from tests.support.operators import hidden_fields
from tests.support.site_sessions import age

pytestmark = pytest.mark.usefixtures("default_tenant")


@pytest.fixture
def root(address):
    return management.superuser(default_world())


@pytest.fixture
def kept(acme):
    retention.set_days(acme.tenant.pk, 90)
    yield lambda: retention.get_days(acme.tenant.pk)
    retention.set_days(acme.tenant.pk, None)


def test_attack_AP41_an_old_token_does_not_shorten_the_retention(root, acme, kept, monkeypatch):
    monkeypatch.setattr(configured, "ADMIN_PROOF_SECONDS", 0)
    here = Client(headers={"Authorization": f"Bearer {root.token}"})  # in this process, with its settings

    def send(**body):
        path = f"/api/v1/tenants/{acme.tenant.pk}"
        return here.generic("PATCH", path, json.dumps(body), "application/json").status_code

    assert (send(audit_retention_days=1), kept()) == (403, 90)
    assert (send(audit_retention_days=91), kept()) == (200, 91)
    assert (send(audit_retention_days=None), kept()) == (200, None)
    assert (send(audit_retention_days=36_500), kept()) == (403, None)
    assert send(name="Another") == 200


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
def test_attack_AP41_nor_days_that_are_not_committed(acme, kept):
    with time_machine.travel(time.time() - configured.ADMIN_PROOF_SECONDS - 60):
        thief = management.Caller(default_world(), tokens.issue(operators.administrator()))

    answer = send_meanwhile(
        tenancy.using(tenancy.DEFAULT),
        lambda: tenants.change(acme.tenant, {"audit_retention_days": 200}, is_proven=True),
        lambda: thief.patch(f"/tenants/{acme.tenant.pk}", audit_retention_days=100),
    )

    assert (answer.status_code, kept()) == (403, 200)


def test_attack_AP41_the_log_has_the_old_and_the_new_number(root, acme, kept):
    result_of(root.patch(f"/tenants/{acme.tenant.pk}", audit_retention_days=1))

    entry = Entry.objects.filter(key="Tenant.Update", payload__id=acme.tenant.pk).latest("created_at")
    assert entry.payload["before"] == {"audit_retention_days": 90}
    assert entry.payload["values"] == {"audit_retention_days": 1}
    assert kept() == 1


def test_attack_AP41_a_session_alone_does_not_shorten_it(acme, kept):
    operator = operators.at(acme)
    path = f"/admin/tenants/tenant/{acme.tenant.pk}/do/change/"
    typed = hidden_fields(operator.get(path)) | {"name": "Acme", "audit_retention_days": "1"}
    age(operator)

    asked = operator.http.post(path, data=typed)

    assert (asked.status_code, kept()) == (303, 90)
    assert asked.headers["Location"].startswith("/admin/confirm/")
    operator.submit(asked.headers["Location"], password=PASSWORD)
    assert operator.http.post(path, data=typed).status_code == 303
    assert kept() == 1
