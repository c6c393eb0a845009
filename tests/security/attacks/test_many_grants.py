"""A user, or an application that the user once agreed to, stores grants without end."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from oidc.grants import connections as connected
from oidc.grants import revocations
from oidc.grants.models import AuthorizationCode, RefreshFamily
from tests.support.audit_log import entries
from tests.support.cast import query_of, signed_in
from tests.support.grant_rows import new_family, new_session
from tests.support.threads import at_once

MOST, KEPT = 50, 40
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def live():
    return RefreshFamily.objects.filter(ended_at=None)


def begin_families(world, client, user, number):
    """Give a user live families at an application, of which the first was used last of all."""
    now = datetime.now(UTC)
    with world.active():
        session = new_session(user)
        return [
            new_family(client.application, session, rotated_at=now - timedelta(seconds=age), scope=f"s{age}")
            for age in range(number)
        ]


def test_attack_AP37_a_new_refresh_token_beyond_fifty_ends_all_but_forty(acme):
    client, user = acme.application(), acme.user()
    families = begin_families(acme, client, user, MOST)
    others = begin_families(acme, acme.application(), user, 1) + begin_families(acme, client, acme.user(), 1)

    tokens = client.tokens_for(user)

    with acme.active():
        kept = set(live().values_list("pk", flat=True))
        assert {family.pk for family in [*families[: KEPT - 1], *others]} < kept
        assert len(kept) == KEPT + len(others)
        assert RefreshFamily.objects.get(pk=families[-1].pk).end_reason == "too_many"
    (entry,) = entries(acme, "Token.Revoke")
    assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
    assert (entry.payload["reason"], entry.payload["families"]) == ("too_many", MOST + 1 - KEPT)
    assert client.refresh(tokens["refresh_token"]).status_code == 200


def test_attack_AP37_fifty_are_no_reason_to_end_one(acme):
    client, user = acme.application(), acme.user()
    begin_families(acme, client, user, MOST - 1)

    client.tokens_for(user)

    with acme.active():
        assert live().count() == MOST
    assert entries(acme, "Token.Revoke") == []


def test_families_of_before_a_new_password_do_not_count(acme):
    client, user = acme.application(), acme.user()
    begin_families(acme, client, user, MOST)
    with acme.active():
        RefreshFamily.objects.update(epoch=user.epoch + 1)

    client.tokens_for(user)

    with acme.active():
        assert live().count() == MOST + 1


@pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)
def test_attack_AP37_nor_do_many_at_once_leave_more(acme):
    client = acme.application()
    browser, user = signed_in(acme)
    begin_families(acme, client, user, MOST)
    codes = [browser.code_for(client, user) for _ in range(8)]

    answers = at_once(8, lambda index: client.redeem(codes[index]).status_code)

    assert answers == [200] * 8
    client.tokens_for(user)  # ends what requests at the same moment left
    with acme.active():
        assert KEPT <= live().count() <= MOST


@pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)
def test_attack_AP37_each_is_ended_and_counted_once(acme):
    client, user = acme.application(), acme.user()
    begin_families(acme, client, user, MOST + 5)

    def work(_):
        with acme.active():
            return revocations.end_excess(user_id=user.pk, application_id=client.application.pk)

    assert sum(at_once(4, work)) == MOST + 5 - KEPT
    assert sum(entry.payload["families"] for entry in entries(acme, "Token.Revoke")) == MOST + 5 - KEPT


@pytest.mark.parametrize("characters", ["a" * 60, "\U0001f600" * 20], ids=["ASCII", "of four bytes"])
def test_attack_AP37_invented_scopes_are_not_stored(acme, characters):
    client, (browser, _) = acme.application(), signed_in(acme)
    scope = " ".join(["openid", "offline_access", *(f"{characters}{number}" for number in range(120))])

    body = urlencode(client.request(scope="SCOPE")).replace("SCOPE", scope.replace(" ", "+"))

    answer = browser.post("/oidc/authorize", content=body.encode(), headers=FORM)
    tokens = client.redeem(query_of(answer.headers["Location"])["code"]).json()

    assert tokens["scope"] == "openid offline_access"
    with acme.active():
        assert AuthorizationCode.objects.get().scope == "openid offline_access"
        assert RefreshFamily.objects.get().scope == "openid offline_access"


def test_attack_AP37_a_long_nonce_is_refused(acme):
    client, browser = acme.application(), acme.browser()

    refused = query_of(browser.authorize(client, nonce="n" * 1025).headers["Location"])

    assert (refused["error"], refused["error_description"]) == (
        "invalid_request",
        "nonce must have at most 1024 characters",
    )
    assert "interaction=" in browser.authorize(client, nonce="n" * 1024).headers["Location"]


def test_attack_AP37_no_page_of_the_account_loads_all_families(acme, monkeypatch):
    client, user = acme.application(), acme.user()
    begin_families(acme, client, user, 3)

    def fail(*_):
        raise AssertionError("a family was loaded")

    monkeypatch.setattr(RefreshFamily, "from_db", fail)
    with acme.active():
        (found,) = connected.get_connections(user)
        assert found.scopes == {"s0", "s1", "s2"}
        assert connected.count_connections(user) == 1


def test_attack_AP37_disconnecting_takes_the_same_statements_for_one_and_for_many(acme):
    user, counts = acme.user(), []
    for number in (1, 30):
        client = acme.application()
        begin_families(acme, client, user, number)
        with acme.active(), CaptureQueriesContext(connection) as captured:
            connected.revoke(user, str(client.application.pk))
        counts.append(len(captured))

    assert counts[0] == counts[1]
    assert [entry.payload["families"] for entry in entries(acme, "Token.Revoke")] == [1, 30]
