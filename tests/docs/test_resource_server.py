"""The example of an API that checks access tokens by itself: docs/examples/resource_server."""

import importlib.util
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from tests.support import management
from tests.support.management import result_of

API = "https://api.example.com/orders"


@pytest.fixture
def example(acme, monkeypatch):
    """The example as an API of this tenant runs it."""
    monkeypatch.setenv("ISSUER", acme.issuer)
    monkeypatch.setenv("AUDIENCE", API)
    path = settings.BASE_DIR / "docs/examples/resource_server/tokens.py"
    spec = importlib.util.spec_from_file_location("resource_server_example", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def token(acme):
    """A machine's access token for the API, with the scope ``read`` and no other."""
    admin = management.superuser(acme)
    resource = admin.created("/resources", name="Orders", indicator=API)
    scopes = [
        admin.created(f"/resources/{resource['id']}/scopes", name=name)["id"] for name in ("read", "write")
    ]
    role = admin.created("/roles", name="Robot", type="MachineToMachine")
    result_of(admin.put(f"/roles/{role['id']}/scopes", scope_ids=scopes[:1]))
    machine = acme.application("MachineToMachine")
    result_of(admin.put(f"/applications/{machine.application.pk}/roles", role_ids=[role["id"]]))
    return machine.token(grant_type="client_credentials", resource=API).json()["access_token"]


def refusal(example, header, scope="read"):
    with pytest.raises(example.RefusedError) as refused:
        example.caller(header, scope=scope)
    return refused.value.status, refused.value.challenge


def test_says_who_calls(acme, example, token):
    claims = example.caller(f"Bearer {token}", scope="read")

    assert (claims["iss"], claims["aud"], claims["scope"]) == (acme.issuer, API, "read")
    assert claims["sub"] == claims["client_id"]


def test_refuses_what_the_token_may_not(example, token):
    assert refusal(example, f"Bearer {token}", "write") == (403, 'Bearer error="insufficient_scope"')


@pytest.mark.parametrize("header", ["", "Basic eDp5", "Bearer", "Bearer ", "Bearer x", "Bearer a.b.c"])
def test_refuses_what_is_no_token(example, header):
    assert refusal(example, header)[0] == 401


def test_refuses_a_token_for_something_else(acme, example):
    tokens = acme.application().tokens_for(acme.user())

    assert refusal(example, f"Bearer {tokens['access_token']}") == (401, 'Bearer error="invalid_token"')


def test_refuses_an_id_token_even_for_its_own_audience(acme, example, monkeypatch):
    application = acme.application()
    tokens = application.tokens_for(acme.user())
    monkeypatch.setattr(example, "AUDIENCE", application.client_id)

    assert refusal(example, f"Bearer {tokens['id_token']}") == (401, 'Bearer error="invalid_token"')


def test_refuses_the_token_of_another_tenant(rival, example, token, monkeypatch):
    monkeypatch.setattr(example, "ISSUER", rival.issuer)

    assert refusal(example, f"Bearer {token}") == (401, 'Bearer error="invalid_token"')


def test_refuses_a_token_that_is_over(example, token, time_machine):
    time_machine.move_to(datetime.now(tz=UTC) + timedelta(hours=1, seconds=31))

    assert refusal(example, f"Bearer {token}") == (401, 'Bearer error="invalid_token"')
