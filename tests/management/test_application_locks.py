"""A change of an application locks the tenant first, as a change of the tenant's settings does."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from identity.tenants import services as tenants
from oidc.applications.models import Application
from tests.support import management
from tests.support.database_locks import is_blocking
from tests.support.management import result_of
from tests.support.threads import wait_until

CHANGES = {
    "branding and a lifetime": {
        "branding": {"logo_url": "https://app.example/logo.png"},
        "oidc_client_metadata": {"refresh_token_idle_seconds": 3600},
    },
    "a required acr and a lifetime": {
        "oidc_client_metadata": {"refresh_token_idle_seconds": 3600, "required_acr": "urn:service:acr:2fa"},
    },
}


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_it_holds_no_application_while_it_waits_for_the_tenant(acme, change):
    admin = management.superuser(acme)
    made = admin.created("/applications", name="Locked", type="SPA")

    with ThreadPoolExecutor(1) as threads, acme.active():
        with transaction.atomic():
            tenants.lock()
            sent = threads.submit(admin.patch, f"/applications/{made['id']}", **change)
            assert wait_until(lambda: sent.done() or is_blocking())
            Application.objects.select_for_update(nowait=True).get(pk=made["id"])
        result_of(sent.result())
