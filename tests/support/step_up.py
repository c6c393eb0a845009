"""Requests of applications for a stronger sign-in, and their responses."""

import json
from typing import Any

import httpx

from oidc.applications import services as applications
from tests.support.cast import Browser, RelyingParty, World, query_of
from tests.support.independent import claims_of

ONE, TWO, PHR = "urn:service:acr:1fa", "urn:service:acr:2fa", "phr"
CANCEL = "/api/interaction/mfa/cancel"
UNMET = "unmet_authentication_requirements"


def essential(*values: str) -> str:
    """A claims parameter that demands one of these levels."""
    return json.dumps({"id_token": {"acr": {"essential": True, "values": list(values)}}})


def voluntary(*values: str) -> str:
    """A claims parameter that wishes for one of these levels."""
    return json.dumps({"id_token": {"acr": {"values": list(values)}}})


def ask(browser: Browser, client: RelyingParty, **parameters: str) -> str:
    """Send an authorization request and return the id under which it waits for the person."""
    answer = browser.authorize(client, **parameters)
    place = answer.headers["Location"]
    assert "/sign-in/second-factor?" in place, place
    return query_of(place)["interaction"]


def resume(browser: Browser, answer: httpx.Response) -> dict[str, str]:
    """Follow the answer of the interaction API to the application, and return what that is told."""
    assert answer.status_code == 200, answer.text
    return query_of(browser.get(answer.json()["result"]["redirect_to"]).headers["Location"])


def told(client: RelyingParty, response: dict[str, str]) -> dict[str, Any]:
    """Redeem the code of an authorization response, and return the claims of the ID token."""
    return claims_of(client.redeem(response["code"]).json()["id_token"])


def require(world: World, client: RelyingParty, value: str = TWO, **fields: Any) -> None:
    """Demand a level in the settings of an application."""
    with world.active():
        applications.change(client.application, {"required_acr": value} | fields, is_proven=True)
