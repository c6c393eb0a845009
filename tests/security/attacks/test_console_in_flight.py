"""What a thief of a password has in flight when the administrator's account gets its owner back (AP18)."""

import base64

import pytest
from django.conf import settings as configured
from django.test import Client

from identity.core import tenancy
from identity.factors import totp
from management.administrators import recovery, second_step, sign_in
from management.administrators.models import Administrator, RecoveryCode
from tests.support import authenticator, management
from tests.support.cast import PASSWORD
from tests.support.operators import Operator, administrator, text_of
from tests.support.two_step_page import key_on

OWNERS, THIEFS = "the owner's new password", "the thief's new password"


@pytest.fixture
def thief(address):
    """A browser in which somebody who knows the password is signed in."""
    operator = Operator(administrator(), Client())
    assert operator.sign_in().status_code == 303
    return operator


@pytest.fixture
def with_step(thief):
    """The same, with a second step of which the thief has seen the codes."""
    secret = totp.new_secret()
    code = authenticator.code(base64.b32encode(secret).decode())
    thief.codes = second_step.set_up(Administrator.objects.get(pk=thief.who.pk), secret=secret, code=code)
    thief.sign_in()
    assert thief.submit("/admin/login/code/", code=thief.codes.pop()).status_code == 303
    return thief


@pytest.fixture
def recovered(monkeypatch):
    """The owner sets a new password by a link as soon as the old one has been verified for a change."""
    verify, done = sign_in.reauthenticate, []

    def reauthenticate(who, **typed):
        verify(who, **typed)
        state = recovery.get_state(Administrator.objects.get(pk=who.pk))
        recovery.set_password(who.pk, state=state, password=OWNERS)
        done.append(who.pk)

    monkeypatch.setattr(sign_in, "reauthenticate", reauthenticate)
    return done


def is_password(who, password):
    try:
        sign_in.begin(username=who.username, password=password)
    except sign_in.WrongCredentials:
        return False
    return True


def test_attack_AP18_a_new_password_does_not_replace_the_recovered_one(thief, recovered):
    answer = thief.submit("/admin/password/", current=PASSWORD, password=THIEFS)

    assert (answer.status_code, recovered) == (403, [thief.who.pk])
    assert is_password(thief.who, OWNERS)
    assert not is_password(thief.who, THIEFS)


def test_attack_AP18_nor_does_one_that_is_set_by_the_api(address, recovered):
    who = administrator()
    token = management.administrator_token(who.username, PASSWORD, configured.BASE_URL)
    body = {"password": THIEFS, "current_password": PASSWORD}
    headers = {"Authorization": f"Bearer {token}"}

    path = f"/api/v1/administrators/{who.pk}"
    answer = Client().patch(path, body, content_type="application/json", headers=headers)

    assert (answer.status_code, recovered) == (403, [who.pk])
    assert is_password(who, OWNERS)
    assert not is_password(who, THIEFS)


def test_attack_AP18_no_authenticator_is_added_to_the_recovered_account(thief, recovered):
    key = key_on(text_of(thief.get("/admin/two-step/")))

    answer = thief.submit("/admin/two-step/", password=PASSWORD, code=authenticator.code(key))

    assert (answer.status_code, recovered) == (403, [thief.who.pk])
    assert "Your session has ended meanwhile: sign in again." in text_of(answer)
    assert Administrator.objects.get(pk=thief.who.pk).second_step_since is None


@pytest.mark.parametrize("page", ["remove", "codes"])
def test_attack_AP18_the_second_step_of_the_recovered_account_stays(with_step, recovered, page):
    before = set(RecoveryCode.objects.filter(administrator=with_step.who).values_list("pk", flat=True))

    used, code = with_step.codes, with_step.codes[0]
    answer = with_step.submit(f"/admin/two-step/{page}/", password=PASSWORD, code=code)

    after = set(RecoveryCode.objects.filter(administrator=with_step.who).values_list("pk", flat=True))
    assert (answer.status_code, recovered) == (403, [with_step.who.pk])
    assert Administrator.objects.get(pk=with_step.who.pk).second_step_since
    assert (after < before, len(after)) == (True, len(used) - 1)


def test_another_superuser_resets_a_second_step_whatever_its_owner_does(with_step):
    with tenancy.using(tenancy.DEFAULT):
        second_step.reset(with_step.who, by=administrator())

    assert Administrator.objects.get(pk=with_step.who.pk).second_step_since is None
