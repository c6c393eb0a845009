"""Custom claims with names that some libraries read as those of the protocol (AW09)."""

import pytest

from tests.support import management
from tests.support.management import refusal_of, result_of

# Go's encoding/json, and every library on it, fills the member ``sub`` from ``Sub`` too.
NAMES = ["Sub", "SUB", "Aud", "ISS", "Azp", "Scope", "Client_ID", "Acr", "AMR", "Email_Verified", "Roles"]


def claim(name: str) -> dict[str, object]:
    return {"name": name, "source": {"value": "somebody"}, "into": ["access_token"]}


@pytest.fixture
def admin(acme):
    return management.administrator(acme)


@pytest.mark.parametrize("name", [*NAMES, "Organization_ID", "ORGANIZATION_x", "Given_Name", "__PROTO__"])
def test_attack_AW09_a_reserved_name_in_another_case_is_refused(acme, admin, name):
    application = acme.application().application.pk
    resource = admin.created("/resources", name="Orders", indicator="https://orders.example")["id"]

    of_application = admin.patch(
        f"/applications/{application}", oidc_client_metadata={"custom_claims": [claim(name)]}
    )
    of_resource = admin.patch(f"/resources/{resource}", custom_claims=[claim(name)])

    assert refusal_of(of_application, 400) == "oidc_client_metadata.custom_claims.0.name: is reserved"
    assert refusal_of(of_resource, 400) == "custom_claims.0.name: is reserved"


@pytest.mark.parametrize("name", ["https://acme.example/Sub", "Plan", "role", "userId", "tenant.Org"])
def test_other_names_keep_their_case(acme, admin, name):
    path = f"/applications/{acme.application().application.pk}"

    answer = admin.patch(path, oidc_client_metadata={"custom_claims": [claim(name)]})

    assert result_of(answer)["oidc_client_metadata"]["custom_claims"][0]["name"] == name
