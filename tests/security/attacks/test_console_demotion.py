"""Requests that an administrator has in flight while rights are taken (AP18)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from management.administrators import services as administrators
from management.administrators.models import Administrator
from tests.support.cast import PASSWORD
from tests.support.demotion import caller, is_ended, sent_meanwhile
from tests.support.management import refusal_of, result_of
from tests.support.operators import administrator

ALL = {"is_superuser": True, "role": "administrator"}
TAKEN = [{"is_superuser": False}, {"role": "auditor"}]

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
)


def rights_of(who):
    return Administrator.objects.values("is_superuser", "role").get(pk=who.pk)


@pytest.mark.parametrize("taken", TAKEN, ids=str)
@pytest.mark.parametrize("proof", [{}, {"current_password": PASSWORD}], ids=["token", "password"])
def test_attack_AP18_who_is_demoted_does_not_take_the_rights_back(address, taken, proof):
    who = administrator()
    own = caller(who)

    answer = sent_meanwhile(
        lambda: administrators.change(Administrator.objects.get(pk=who.pk), taken),
        lambda: own.patch(f"/administrators/{who.pk}", **ALL, **proof),
    )

    is_ended(answer)
    assert rights_of(who) == ALL | taken


def test_attack_AP18_nor_from_whom_one_promotes_with_a_password(address):
    who, friend = administrator(), administrator(is_superuser=False)
    own = caller(who)

    answer = sent_meanwhile(
        lambda: administrators.change(Administrator.objects.get(pk=who.pk), {"is_superuser": False}),
        lambda: own.patch(f"/administrators/{friend.pk}", is_superuser=True, current_password=PASSWORD),
    )

    is_ended(answer)
    assert not rights_of(friend)["is_superuser"]


@pytest.mark.parametrize("taken", TAKEN, ids=str)
def test_attack_AP18_rights_that_seemed_unchanged_are_not_given_back_to_another(address, taken):
    who, other = administrator(), administrator()
    own = caller(other)

    answer = sent_meanwhile(
        lambda: administrators.change(Administrator.objects.get(pk=who.pk), taken),
        lambda: own.patch(f"/administrators/{who.pk}", **ALL, email="ada@ops.example"),
    )

    refusal_of(answer, 412)
    assert rights_of(who) == ALL | taken
    result_of(own.patch(f"/administrators/{who.pk}", **ALL))


def test_attack_AP18_tenants_that_seemed_unchanged_are_not_given_back_either(acme):
    who = administrator(tenants=[acme.tenant.slug])
    own = caller(administrator())

    answer = sent_meanwhile(
        lambda: administrators.change(Administrator.objects.get(pk=who.pk), {"tenants": []}),
        lambda: own.patch(f"/administrators/{who.pk}", tenants=[acme.tenant.slug]),
    )

    refusal_of(answer, 412)
    assert not who.tenants.exists()


def test_two_who_demote_each_other_wait_instead_of_a_deadlock(address):
    ones = [administrator() for _ in range(2)]
    callers = [caller(one) for one in ones]

    with ThreadPoolExecutor(2) as threads:
        answers = list(
            threads.map(
                lambda own, other: own.patch(f"/administrators/{other.pk}", is_superuser=False),
                callers,
                reversed(ones),
            )
        )

    assert {answer.status_code for answer in answers} <= {200, 401, 403}
    assert 200 in {answer.status_code for answer in answers}


@pytest.mark.parametrize("taken", TAKEN, ids=str)
def test_attack_AP18_who_is_demoted_deletes_no_superuser(address, taken):
    who, other = administrator(), administrator()
    own = caller(who)

    answer = sent_meanwhile(
        lambda: administrators.change(Administrator.objects.get(pk=who.pk), taken),
        lambda: own.delete(f"/administrators/{other.pk}"),
    )

    is_ended(answer)
    assert Administrator.objects.filter(pk=other.pk).exists()


def test_attack_AP18_who_is_demoted_sets_nobody_a_password(address):
    who, other = administrator(), administrator()
    own, body = caller(who), {"password": "the thief's own words", "current_password": PASSWORD}

    answer = sent_meanwhile(
        lambda: administrators.change(Administrator.objects.get(pk=who.pk), {"is_superuser": False}),
        lambda: own.patch(f"/administrators/{other.pk}", **body),
    )

    is_ended(answer)
    assert Administrator.objects.get(pk=other.pk).check_password(PASSWORD)
