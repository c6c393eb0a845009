"""Applications with custom claims, and a user who has a value for each."""

from tests.support.management import result_of
from tests.support.profiles import PROFILE
from tests.support.role_claims import give_roles

API = "https://orders.example"
EVERYWHERE = ["id_token", "userinfo", "access_token"]


def claim(name, source, *into):
    """Return the declaration of a claim, for all places unless some are named."""
    return {"name": name, "source": source, "into": list(into) or EVERYWHERE}


def declare(acme, admin, *declared, **fields):
    """Return an application with these custom claims, which are declared with the management API."""
    client = acme.application(**fields)
    path = f"/applications/{client.application.pk}"
    answer = admin.patch(path, oidc_client_metadata={"custom_claims": list(declared)})
    assert result_of(answer)["oidc_client_metadata"]["custom_claims"] == list(declared)
    return client


def new_ada(acme):
    """Return a user with a profile, custom data, an avatar and a role."""
    custom_data = {"plan": "gold", "a": {"b": {"c": {"d": {"e": 5}}}}, "a.b": "dotted", "list": [{"x": 1}]}
    user = acme.user(
        "ada", name="Ada", email="ada@acme.example", profile=PROFILE, custom_data=custom_data,
        avatar="https://acme.example/a.png",
    )  # fmt: skip
    give_roles(acme, user, "Editor")
    return user
