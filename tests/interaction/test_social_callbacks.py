"""Where providers send browsers back to: an address of each connector's own."""

import tomllib
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import transaction

from audit.models import Entry
from identity.core import tenancy
from identity.core.errors import Invalid
from interaction.connectors import callbacks, checks
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from tests.support import openid, social
from tests.support.cast import World
from tests.support.management import superuser
from tests.support.openid import OpenIDProvider

pytestmark = pytest.mark.usefixtures("development")


@pytest.fixture
def acme(acme: World, loopback_server: str) -> World:
    return acme.at(loopback_server)


def landed(world: World, provider: OpenIDProvider, to: str) -> int:
    """Make the trip, and come back to this path."""
    browser = world.browser()
    query = provider.approve(social.away(browser), name="Ada")
    return social.back(browser, query, to).status_code


def test_decision_N6_a_connector_has_a_callback_of_its_own(acme, provider):
    connector = social.connect(acme, provider.config)

    assert landed(acme, provider, f"/social/callback/{connector.pk}") == 303


@pytest.mark.parametrize("path", ["", "/{other}", "/{unknown}"])
def test_decision_N6_the_answer_is_refused_at_any_other(acme, provider, path):
    other = social.connect(acme, provider.config)
    social.connect(acme, provider.config)
    to = f"/social/callback{path}".format(other=other.pk, unknown=uuid4())

    assert landed(acme, provider, to) == 400

    assert not [asked for asked in provider.web.asked if asked.path == "/token"]
    entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Social").order_by("-pk")[0]
    assert (entry.payload["result"], entry.payload["error"]) == ("failed", "wrong_callback")


def test_decision_N6_what_is_no_id_is_no_callback(acme, provider):
    social.connect(acme, provider.config)

    assert landed(acme, provider, "/social/callback/x") == 404


def test_decision_N6_the_shared_callback_keeps_working_for_older_connectors(acme, provider):
    connector = social.connect(acme, provider.config)
    social.share_callback(acme, connector)

    assert landed(acme, provider, f"/social/callback/{connector.pk}") == 400
    assert landed(acme, provider, "/social/callback") == 303


def test_decision_N6_an_older_connector_moves_and_cannot_go_back(acme, provider):
    connector = social.connect(acme, provider.config)
    social.share_callback(acme, connector)
    connector.refresh_from_db()

    with acme.active():
        connectors.change(connector, {"has_own_callback": False}, expected=None, is_proven=True)
        connectors.change(connector, {"has_own_callback": True}, expected=None, is_proven=True)
        with pytest.raises(Invalid, match="has_own_callback"):
            connectors.change(connector, {"has_own_callback": False}, expected=None, is_proven=True)

    assert landed(acme, provider, f"/social/callback/{connector.pk}") == 303


def test_decision_N6_the_api_says_what_to_register(rival):
    api = superuser(rival)
    given: dict[str, Any] = {"connector_id": "github", "type": "Social", "config": openid.CLIENT}

    made = api.post("/connectors", **given).json()["result"]
    mail = api.post("/connectors", connector_id="other", type="Email", config={}).json()
    refused = api.post("/connectors", **given, has_own_callback=False)

    assert made["has_own_callback"] is True
    assert made["redirect_uri"] == f"{rival.issuer}/social/callback/{made['id']}"
    assert mail["result"]["redirect_uri"] == ""
    assert refused.status_code == 400
    assert "has_own_callback" in refused.json()["message"]


def test_decision_N6_the_doctor_names_connectors_that_share_the_old_callback(acme, provider):
    connector = social.connect(acme, provider.config)
    named = f"oidc of {acme.tenant.slug}"

    def warnings() -> list[str]:
        return [str(found) for found in checks.connectors() if found.id == "connectors.W003"]

    with acme.active():
        assert not warnings()
        Connector.objects.filter(pk=connector.pk).update(has_own_callback=False)
        assert named in warnings()[0]
        assert f"until release {callbacks.SHARED_UNTIL}" in warnings()[0]
        Connector.objects.filter(pk=connector.pk).update(enabled=False)
        assert not warnings()


@pytest.mark.parametrize(
    ("connector_id", "config", "is_named"),
    [
        ("oauth2", social.oauth2_config("https://other.example"), True),
        ("oidc", openid.CLIENT | {"issuer": "https://other.example"}, True),
        ("github", openid.CLIENT | {"endpoint": "https://github.example"}, True),
        ("github", openid.CLIENT, False),
        ("github", openid.CLIENT | {"endpoint": "https://github.com/"}, False),
        ("google", openid.CLIENT, False),
    ],
)
def test_attack_AS04_the_doctor_names_providers_that_can_obtain_codes_of_wechat(
    acme, rival, connector_id, config, is_named
):
    """WeChat compares the domain of the redirect URI alone, and tenants share it."""
    other = social.connect(rival, config, connector_id)
    secrets = {"app_id": "wxbdc5610cc59c1631", "app_secret": "the app secret"}
    wechat = social.connect(acme, secrets, "wechat")

    def warnings() -> list[str]:
        return [str(found) for found in checks.wechat() if found.id == "connectors.W004"]

    with tenancy.using(tenancy.EVERYWHERE), transaction.atomic():
        Connector.objects.exclude(pk__in=[other.pk, wechat.pk]).delete()
        named = warnings()
        for row in (other, wechat):
            Connector.objects.filter(pk=row.pk).update(enabled=False)
            assert not warnings()
            Connector.objects.filter(pk=row.pk).update(enabled=True)
        transaction.set_rollback(True)
    with rival.active():
        Connector.objects.all().delete()

    assert bool(named) is is_named
    assert all(f"{connector_id} of {rival.tenant.slug}" in text for text in named)
    assert all(f"wechat of {acme.tenant.slug}" in text for text in named)


def test_decision_N6_the_shared_callback_ends_with_the_release_that_was_announced():
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    announced = (settings.BASE_DIR / "docs/upgrades.md").read_text()

    row = next(line for line in announced.splitlines() if "social connectors of 0.1.0 share" in line)
    assert f"| {callbacks.SHARED_UNTIL}, " in row
    now, end = (
        [int(part) for part in text.split(".")] for text in (project["version"], callbacks.SHARED_UNTIL)
    )
    assert now < end
