"""Codes that a worker redeems in batches get the same answers as codes that it redeems one by one."""

import pytest

from oidc.grants.codes import get_hash
from oidc.grants.models import AuthorizationCode
from tests.support.batching import new_codes, only_postgresql, origin, origins_of
from tests.support.cast import World
from tests.support.independent import claims_of
from tests.support.simultaneous import (
    code_request,
    count_transactions,
    entries_locked,
    locked,
    refresh_request,
    send,
    sending,
    token_request,
    userinfo_request,
    wait_for_waiting,
)


def test_codes_are_each_redeemed_for_their_user(here):
    client, codes = new_codes(here, 6)
    requests = [code_request(client, code, headers=origin(n)) for n, code in enumerate(codes)]

    assert send(requests) == [200] * 6

    subjects = [claims_of(request.json["id_token"])["sub"] for request in requests]
    assert len(set(subjects)) == 6
    for number, (request, subject) in enumerate(zip(requests, subjects, strict=True)):
        assert origins_of(request) == [(here.tenant.pk, *origin(number).values())]
        assert [entry.user_id for entry in request.entries] == [subject]


@pytest.mark.parametrize("scope", ["openid", "openid offline_access"])
def test_codes_that_are_sent_many_times_at_once_are_redeemed_once_and_revoked(here, scope):
    client, codes = new_codes(here, 3, scope=scope)
    for code in codes:
        requests = [code_request(client, code) for _ in range(12)]

        assert sorted(send(requests)) == [200] + [400] * 11

        [tokens] = [request.json for request in requests if request.status == 200]
        assert send([userinfo_request(client, tokens["access_token"])]) == [401]
        if "refresh_token" in tokens:
            assert send([refresh_request(client, tokens["refresh_token"])]) == [400]


@only_postgresql
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT FROM grants_authorizationcode WHERE user_id = %s FOR UPDATE",
        "SELECT FROM users_user WHERE id = %s FOR UPDATE",
    ],
)
def test_a_lock_on_a_code_or_its_user_delays_only_its_request(here, machine, statement):
    client, codes = new_codes(here, 6)
    with here.active():
        user = AuthorizationCode.objects.get(code_hash=get_hash(codes[4])).user_id
    requests = [code_request(client, code) for code in codes]
    requests += [token_request(machine) for _ in range(8)]

    with locked(statement, user) as session, sending(requests) as connections:
        for number, (request, http) in enumerate(zip(requests, connections, strict=True)):
            if number != 4:
                request.read(http)
                assert request.status == 200
        wait_for_waiting(1)
        session.rollback()

    assert requests[4].status == 200


@only_postgresql
def test_codes_are_redeemed_in_few_transactions(here):
    # A thread whose connection has not prepared a statement yet executes each call by itself.
    assert any(count_redemptions(here, 12) < 12 for _ in range(8))


def count_redemptions(here: World, number: int) -> int:
    """Redeem so many codes at the same moment, and return in how many transactions that was done."""
    client, codes = new_codes(here, number)
    requests = [code_request(client, code) for code in codes]

    with entries_locked() as session, sending(requests):
        wait_for_waiting(1)
        session.rollback()

    assert [request.status for request in requests] == [200] * number
    return len(count_transactions(requests))
