"""Choosing a provider, naming its button, and the order of the buttons."""

import re
from typing import Any

import pytest

from audit.models import Entry
from interaction.connectors.models import Connector
from tests.support import openid
from tests.support.operators import Operator, administrator
from tests.support.social import connect, oauth2_config

SITE = "/admin/connectors/connector"
CLIENT = openid.CLIENT
OIDC = CLIENT | {"issuer": "https://login.acme.example", "scope": "openid"}


@pytest.fixture
def operator(acme) -> Operator:
    somebody = Operator(administrator())
    somebody.sign_in()
    return somebody.choose(acme)


def names(world: Any) -> list[str]:
    """The providers that the sign-in page offers, in its order."""
    shown = world.browser().get("/api/interaction/sign-in-experience")
    return [one["connector_id"] for one in shown.json()["result"]["social_connectors"]]


def move(operator: Operator, connector: Connector, way: str) -> Any:
    return operator.submit(f"{SITE}/do/arrange/", move=f"{connector.pk} {way}")


def test_each_kind_of_provider_has_a_heading_and_cards(operator):
    page = operator.get(f"{SITE}/do/create/").text

    assert re.findall(r"<h3>([^<]+)</h3>", page) == ["Sign-in", "Email", "SMS", "CAPTCHA"]
    assert 'value="google"' in page
    assert "gatehouse/providers/google." in page
    assert operator.submit(f"{SITE}/do/create/", connector_id="nobody").status_code == 400
    chosen = operator.submit(f"{SITE}/do/create/", connector_id="turnstile")
    assert chosen.headers["Location"].endswith("/do/create-turnstile/")


def test_a_provider_without_a_name_of_its_own_needs_one(acme, operator):
    nameless = operator.submit(f"{SITE}/do/create-oidc/", **OIDC)
    plain = operator.submit(f"{SITE}/do/create-oauth2/", **oauth2_config("https://idp.example"))
    named = operator.submit(f"{SITE}/do/create-oidc/", **OIDC, display_name="Acme")

    assert nameless.status_code == plain.status_code == 400
    assert "login.acme.example" in nameless.text
    assert "idp.example" in plain.text
    assert named.status_code == 303
    page = operator.get(named.headers["Location"]).text
    assert "<h1>Acme</h1>" in page
    changed = operator.submit(
        f"{named.headers['Location'].replace('change/', '')}do/change/", display_name=""
    )
    assert changed.status_code == 400


def test_an_operator_arranges_the_buttons(acme, operator):
    google = connect(acme, CLIENT, "google")
    github = connect(acme, CLIENT, "github")
    hidden = connect(acme, CLIENT, "microsoft", enabled=False)
    assert names(acme) == ["github", "google"]

    assert move(operator, google, "up").headers["Location"].endswith("/do/arrange/")
    assert names(acme) == ["google", "github"]
    move(operator, google, "up")
    assert names(acme) == ["google", "github"]
    move(operator, google, "down")
    assert names(acme) == ["github", "google"]

    oidc = connect(acme, OIDC)
    assert names(acme) == ["github", "google", "oidc"], "a new one comes last"
    page = operator.get(f"{SITE}/do/arrange/").text
    assert page.index("Move GitHub up") < page.index("Move Google up") < page.index("Move OpenID Connect up")
    assert str(hidden.pk) not in page
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Connector.Update")
    assert [entry.payload["fields"] for entry in entries] == [["position"], ["position"]]
    assert {str(oidc.pk), str(github.pk)} <= set(re.findall(r"[0-9a-f-]{36}", page))


def test_only_connectors_of_the_tenant_can_be_moved(acme, rival, operator):
    theirs = [connect(rival, CLIENT, "google"), connect(rival, CLIENT, "github")]
    own = connect(acme, CLIENT, "google", enabled=False)

    for connector in (*theirs, own):
        assert move(operator, connector, "up").status_code == 404
    for text in ("x", f"{own.pk}", f"{own.pk} left", "\0 up", f"{'-' * 36} up", "é" * 40):
        assert operator.submit(f"{SITE}/do/arrange/", move=text).status_code in {400, 404}, text

    assert names(rival) == ["github", "google"]
    with rival.active():
        assert list(Connector.objects.values_list("position", flat=True)) == [None, None]


@pytest.mark.parametrize("role", ["auditor", "support"])
def test_only_administrators_arrange_buttons(acme, role):
    somebody = Operator(administrator(tenants=[acme.tenant.slug], role=role))
    somebody.sign_in()
    somebody.choose(acme)

    assert somebody.get(f"{SITE}/do/arrange/").status_code == 403
