"""Waiting until an administrator raises a lifetime: what has expired stays expired (Q15)."""

from datetime import timedelta

import pytest
from django.db.models import F

from identity.sessions.models import Session
from oidc.grants.models import RefreshFamily
from tests.support import management
from tests.support.authorize import (
    WITH_CODE,
    Refusal,
    find_refusal,
    sent_back,
)
from tests.support.cast import signed_in
from tests.support.management import result_of

SHORT, LONG = 1000, 5000


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def of_tenant(admin, client, **lifetimes):
    result_of(admin.patch("/oidc-settings", **lifetimes))


def of_application(admin, client, **lifetimes):
    result_of(admin.patch(f"/applications/{client.application.pk}", oidc_client_metadata=lifetimes))


def make_older(world, model, *columns):
    with world.active():
        model.objects.update(**{name: F(name) - timedelta(seconds=SHORT + 1) for name in columns})


@pytest.mark.parametrize("longer", [LONG, None])
@pytest.mark.parametrize("change", [of_tenant, of_application])
@pytest.mark.parametrize("kind", ["idle", "absolute"])
def test_attack_AW08_an_expired_refresh_token_stays_expired(acme, admin, kind, change, longer):
    name, column = f"refresh_token_{kind}_seconds", {"idle": "rotated_at", "absolute": "created_at"}[kind]
    client = acme.application()
    browser, user = signed_in(acme)
    expired = client.tokens_for(user, browser)["refresh_token"]
    make_older(acme, RefreshFamily, column)
    change(admin, client, **{name: SHORT})
    live = client.tokens_for(user, acme.browser())["refresh_token"]

    change(admin, client, **{name: longer})

    refused = client.refresh(expired)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert client.refresh(live).status_code == 200


def test_attack_AW08_a_longer_lifetime_of_the_other_level_revives_no_refresh_token(acme, admin):
    client, other = acme.application(), acme.application()
    browser, user = signed_in(acme)
    tokens = [each.tokens_for(user, browser)["refresh_token"] for each in (client, other)]
    of_application(admin, client, refresh_token_idle_seconds=SHORT)
    of_tenant(admin, client, refresh_token_idle_seconds=SHORT + 500)
    make_older(acme, RefreshFamily, "rotated_at")

    of_application(admin, client, refresh_token_idle_seconds=None)

    assert client.refresh(tokens[0]).status_code == 400
    assert other.refresh(tokens[1]).status_code == 200, "the application never had the short lifetime"


@pytest.mark.parametrize("longer", [LONG, None])
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("session_idle_seconds", ["last_used_at"]),
        ("session_absolute_seconds", ["updated_at", "auth_time", "created_at"]),
    ],
)
def test_attack_AW08_an_expired_session_stays_expired(acme, admin, name, columns, longer):
    client = acme.application()
    browser, user = signed_in(acme)
    token = client.tokens_for(user, browser, scope="openid")["access_token"]
    make_older(acme, Session, *columns)
    of_tenant(admin, client, **{name: SHORT})
    live, _ = signed_in(acme)

    of_tenant(admin, client, **{name: longer})

    assert find_refusal(browser.authorize(client, prompt="none"), client) == Refusal("login_required")
    assert client.userinfo(token).status_code == 401
    assert sent_back(live.authorize(client, prompt="none"), client).keys() == WITH_CODE


def test_attack_AW08_nothing_of_another_tenant_ends(acme, rival, admin):
    client = rival.application()
    browser, user = signed_in(rival)
    token = client.tokens_for(user, browser)["refresh_token"]
    make_older(rival, Session, "last_used_at")
    make_older(rival, RefreshFamily, "rotated_at")
    short = {"session_idle_seconds": SHORT, "refresh_token_idle_seconds": SHORT}
    of_tenant(admin, None, **short)

    of_tenant(admin, None, **dict.fromkeys(short, LONG))

    assert sent_back(browser.authorize(client, prompt="none"), client).keys() == WITH_CODE
    assert client.refresh(token).status_code == 200
