"""How strong sign-ins to an application must be, in the management API."""

import pytest

from oidc.settings import services as oidc_settings
from tests.support import management
from tests.support.management import refusal_of, result_of

TWO = "urn:service:acr:2fa"


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.fixture
def shop(acme):
    return acme.application().application


def change(admin, application, **metadata):
    return admin.patch(f"/applications/{application.pk}", oidc_client_metadata=metadata)


def test_decision_M19_applications_demand_nothing_unless_told_to(admin, shop):
    shown = result_of(admin.get(f"/applications/{shop.pk}"))["oidc_client_metadata"]

    assert (shown["required_acr"], shown["default_acr_values"]) == ("", [])


def test_decision_M19_levels_and_aliases_are_accepted(acme, admin, shop):
    with acme.active():
        oidc_settings.change({"acr_aliases": [{"value": "silver", "level": TWO}]})

    shown = result_of(change(admin, shop, required_acr="silver", default_acr_values=["phr", "silver"]))

    found = shown["oidc_client_metadata"]
    assert (found["required_acr"], found["default_acr_values"]) == ("silver", ["phr", "silver"])
    cleared = result_of(change(admin, shop, required_acr=None))["oidc_client_metadata"]
    assert (cleared["required_acr"], cleared["default_acr_values"]) == ("", ["phr", "silver"])


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"required_acr": "nobody-knows-it"}, "required_acr"),
        ({"required_acr": f"{TWO} phr"}, "required_acr"),
        ({"default_acr_values": [TWO, "nobody-knows-it"]}, "default_acr_values.1"),
        ({"default_acr_values": [""]}, "default_acr_values.0"),
        ({"default_acr_values": TWO}, "default_acr_values"),
    ],
)
def test_decision_M19_other_values_are_refused(admin, shop, fields, field):
    assert f"oidc_client_metadata.{field}" in refusal_of(change(admin, shop, **fields), 400)


def test_decision_M19_aliases_of_another_tenant_are_unknown(rival, admin, shop):
    with rival.active():
        oidc_settings.change({"acr_aliases": [{"value": "gold", "level": "phr"}]})

    assert "required_acr" in refusal_of(change(admin, shop, required_acr="gold"), 400)


@pytest.mark.parametrize("fields", [{"required_acr": TWO}, {"default_acr_values": [TWO]}])
def test_decision_M19_a_machine_has_no_users(acme, admin, fields):
    machine = acme.application("MachineToMachine").application

    assert next(iter(fields)) in refusal_of(change(admin, machine, **fields), 400)
