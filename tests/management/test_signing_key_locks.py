"""What creates the first key of an algorithm in the console locks the settings before the tenant."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from identity.resources import services as resources
from identity.resources.models import Resource
from identity.tenants import services as tenants
from oidc.keys.models import SigningKey
from oidc.settings import services as oidc_settings
from oidc.settings.models import OidcSettings
from tests.support import operators
from tests.support.admin_pages import operate
from tests.support.database_locks import is_blocking
from tests.support.factors import switch_on
from tests.support.operators import hidden_fields
from tests.support.threads import wait_until

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
)
STRONG = "urn:acme:strong"


@pytest.fixture
def operator(acme):
    switch_on(acme, "Totp")
    with acme.active():
        oidc_settings.change(
            {"acr_aliases": [{"value": STRONG, "level": "urn:service:acr:2fa"}]}, is_proven=True
        )
    return operators.at(acme)


def send_while_the_settings_are_locked(acme, request):
    """Lock the settings, and the tenant once the request waits for the settings. Neither may deadlock."""
    with ThreadPoolExecutor(1) as threads, acme.active():
        with transaction.atomic():
            OidcSettings.objects.select_for_update().get()
            sent = threads.submit(request)
            assert wait_until(lambda: sent.done() or is_blocking())
            assert not sent.done()
            tenants.lock()
        answer = sent.result()
        assert answer.status_code == 303, answer.text
        assert SigningKey.objects.active().filter(algorithm="EdDSA").exists()


def test_the_default_algorithm(acme, operator):
    with acme.active():
        settings = oidc_settings.current()
    page = f"/admin/oidc_settings/oidcsettings/{settings.pk}/do/signing/"
    typed = hidden_fields(operator.get(page)) | {"default_signing_alg": "EdDSA"}
    typed.pop("version")  # another change comes before

    send_while_the_settings_are_locked(acme, lambda: operator.http.post(page, data=typed))

    with acme.active():
        assert oidc_settings.current().default_signing_alg == "EdDSA"


@pytest.mark.parametrize("operation", ["create", "change"])
def test_the_algorithm_of_an_api(acme, operator, operation):
    name = f"x {secrets.token_hex(4)}"
    typed: dict[str, Any] = {"name": name, "access_token_signing_alg": "EdDSA", "access_token_ttl": 3600}
    typed["required_acr"] = STRONG
    row = None
    if operation == "create":
        typed["indicator"] = f"https://{secrets.token_hex(4)}.example"
    else:
        with acme.active():
            row = resources.create(name="API", indicator="https://api.example")

    send_while_the_settings_are_locked(
        acme, lambda: operate(operator, "resources/resource", row, operation, **typed)
    )

    with acme.active():
        made = Resource.objects.get(name=name)
        assert (made.access_token_signing_alg, made.required_acr) == ("EdDSA", STRONG)
