"""Sessions and tokens of administrators from before a change stay ended when it is undone (AP18)."""

import pytest
from django.core.management import call_command

from management.administrators.models import Administrator
from tests.support import management, operators
from tests.support.administrator_tokens import is_unknown, me, sign_in
from tests.support.cast import PASSWORD, default_world
from tests.support.management import result_of
from tests.support.operators import administrator
from tests.support.two_step_page import again, is_in, set_up


def new_token(who):
    return sign_in(username=who.username, password=PASSWORD).json()["result"]["access_token"]


def remove_own(operator, codes, acme):
    answer = operator.submit("/admin/two-step/remove/", password=PASSWORD, code=codes[0])
    assert answer.status_code == 303
    assert is_in(operator)


def remove_by_another(operator, codes, acme):
    path = f"/admin/administrators/administrator/{operator.who.pk}/do/second-step/"
    answer = operators.at(acme).submit(path, current_password=PASSWORD)
    assert answer.status_code == 303


def remove_on_the_server(operator, codes, acme):
    call_command("reset_second_step", operator.who.username)


REMOVALS = [remove_own, remove_by_another, remove_on_the_server]


@pytest.mark.parametrize("remove", REMOVALS)
def test_attack_AP18_what_a_second_step_ended_stays_ended_when_it_is_removed(acme, remove, capsys):
    operator = operators.at(acme)
    unsent, token = operators.at(acme, operator.who), new_token(operator.who)

    _, codes = set_up(operator)
    is_unknown(me(token))
    remove(operator, codes, acme)

    assert Administrator.objects.get(pk=operator.who.pk).second_step_since is None
    is_unknown(me(token))
    assert not is_in(unsent)
    assert me(new_token(operator.who)).status_code == 200


@pytest.mark.parametrize("remove", REMOVALS)
def test_attack_AP18_a_removed_second_step_ends_what_began_with_it(acme, remove, capsys):
    operator = operators.at(acme)
    _, codes = set_up(operator)
    unsent = again(operator)
    assert unsent.submit("/admin/login/code/", code=codes[1]).status_code == 303

    remove(operator, codes, acme)

    assert not is_in(unsent)


@pytest.mark.parametrize("taken", [{"is_superuser": False}, {"role": "auditor"}], ids=str)
def test_attack_AP18_what_lost_rights_ended_stays_ended_when_they_are_given_back(acme, taken):
    root = management.superuser(default_world())
    who = administrator()
    unsent, token = operators.at(acme, who), new_token(who)
    path = f"/administrators/{who.pk}"

    result_of(root.patch(path, **taken))
    result_of(root.patch(path, is_superuser=True, role="administrator"))

    assert not is_in(unsent)
    is_unknown(me(token))


def test_rights_that_stay_end_nothing(acme):
    root = management.superuser(default_world())
    who = administrator()
    session, token = operators.at(acme, who), new_token(who)

    result_of(root.patch(f"/administrators/{who.pk}", is_superuser=True, role="administrator", tenants=[]))
    result_of(root.patch(f"/administrators/{who.pk}", email="ada@ops.example", tenants=[acme.tenant.slug]))

    assert is_in(session)
    assert me(token).status_code == 200


def test_sessions_and_tokens_of_the_previous_release_continue(address):
    """Until the first change, the hash and the fingerprint are those that older nodes calculate."""
    who = administrator()

    assert (who.epoch, who.proofs) == (0, who.password)
