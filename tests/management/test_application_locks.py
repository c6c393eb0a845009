"""Changes and deletions of an application lock the tenant first, as changes of its settings do."""

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


pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
)


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def send_while_the_tenant_is_locked(acme, pk, request):
    """Check that the request waits for the tenant, and holds no lock of the application meanwhile."""
    with ThreadPoolExecutor(1) as threads, acme.active():
        with transaction.atomic():
            tenants.lock()
            sent = threads.submit(request)
            assert wait_until(lambda: sent.done() or is_blocking())
            assert not sent.done()
            Application.objects.select_for_update(nowait=True).get(pk=pk)
        result_of(sent.result())


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change(acme, admin, change):
    pk = admin.created("/applications", name="Locked", type="SPA")["id"]

    send_while_the_tenant_is_locked(acme, pk, lambda: admin.patch(f"/applications/{pk}", **change))


def test_a_deletion(acme, admin):
    pk = admin.created("/applications", name="Deleted", type="SPA")["id"]

    send_while_the_tenant_is_locked(acme, pk, lambda: admin.delete(f"/applications/{pk}"))
