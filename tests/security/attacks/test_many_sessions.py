"""AV42: an account with more sessions than a statement has parameters could not be reclaimed or deleted."""

from datetime import timedelta

import pytest
from django.db.models import F

from identity.core import tenancy
from identity.sessions import ending
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.tenants import services as tenants
from identity.users import services as users
from identity.users.models import User
from tests.support import codes, management
from tests.support.audit_log import entries
from tests.support.cast import Browser, World, new_world, signed_in
from tests.support.codes import new_email
from tests.support.grant_rows import new_code
from tests.support.many_rows import multiply
from tests.support.ownership import came_by_code, registered

MOST, KEPT = 1_000, 900
MANY = 70_000  # PostgreSQL's protocol allows 65,535 parameters


def fill(world: World, user: User, number: int = MANY) -> None:
    with world.active():
        multiply(Session.objects.filter(user=user)[0], number, "token_hash")


def live(world: World, user: User) -> int:
    with world.active():
        return Session.objects.live().filter(user=user).count()


def is_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


def test_attack_AV42_the_owner_takes_the_account_over(acme):
    mail = new_email()
    codes.reachable(acme)
    attacker = registered(acme, email=mail)
    with acme.active():
        user = User.objects.get(email=mail)
    fill(acme, user)

    owner = came_by_code(acme, mail)

    assert is_in(owner)
    assert not is_in(attacker)
    assert live(acme, user) == 1


def test_attack_AV42_a_first_factor_ends_the_sessions_without_one(acme):
    _, user = signed_in(acme)
    fill(acme, user)

    with acme.active():
        session = Session.objects.filter(user=user).latest("created_at")
        assert sessions.end_others(session) == MANY

    assert live(acme, user) == 1


@pytest.mark.parametrize("is_own", [True, False], ids=["the user", "an administrator"])
def test_attack_AV42_all_sessions_can_be_ended(acme, is_own):
    browser, user = signed_in(acme)
    fill(acme, user)

    if is_own:
        answer = browser.http.delete(f"{acme.address}/api/my-account/sessions")
    else:
        answer = management.administrator(acme).delete(f"/users/{user.pk}/sessions")

    assert answer.status_code == 200
    assert (is_in(browser), live(acme, user)) == (False, 0)
    (entry,) = entries(acme, "Session.End")
    assert (entry.payload["count"], len(entry.payload["session_ids"])) == (MANY + 1, 100)


# Not over HTTP: tests/budgets.tsv has the statements of usual deletions.


def test_attack_AV42_an_administrator_deletes_the_user(acme):
    browser, user = signed_in(acme)
    fill(acme, user)

    with acme.active():
        users.remove(user)

    assert not is_in(browser)


def test_attack_AV42_a_superuser_deletes_the_tenant():
    gone = new_world("Gone")
    _, user = signed_in(gone)
    fill(gone, user)

    tenants.remove(gone.tenant)

    with tenancy.using(tenancy.EVERYWHERE):
        assert not User.objects.filter(pk=user.pk).exists()


def test_attack_AV42_an_administrator_deletes_an_application_with_very_many_codes(acme):
    client, (_, user) = acme.application(), signed_in(acme)
    with acme.active():
        code = new_code(client.application, Session.objects.get(user=user))
        multiply(code, MANY, "code_hash")

    answer = management.administrator(acme).delete(f"/applications/{client.application.pk}")

    assert answer.status_code == 200


def test_attack_AV42_a_sign_in_beyond_a_thousand_ends_the_sessions_used_longest_ago(acme):
    _, user = signed_in(acme)
    other, bystander = signed_in(acme)
    fill(acme, user, MOST - 1)
    with acme.active():
        User.objects.update(login_count=MOST)
        Session.objects.filter(user=user).update(last_used_at=F("last_used_at") - timedelta(minutes=1))
        oldest = Session.objects.filter(user=user).order_by("pk")[0]
        Session.objects.filter(pk=oldest.pk).update(last_used_at=F("last_used_at") - timedelta(minutes=1))

    browser = acme.browser()
    assert browser.sign_in(user).status_code == 200

    assert live(acme, user) == KEPT + 1
    assert (is_in(browser), is_in(other), live(acme, bystander)) == (True, True, 1)
    with acme.active():
        assert not Session.objects.live().filter(pk=oldest.pk).exists()
    (entry,) = entries(acme, "Session.End")
    assert (entry.user_id, entry.payload["reason"]) == (str(user.pk), "too_many")
    assert entry.payload["count"] == MOST - KEPT


def test_attack_AV42_a_thousand_are_no_reason_to_end_one(acme):
    _, user = signed_in(acme)
    fill(acme, user, MOST - 2)
    with acme.active():
        User.objects.update(login_count=MOST)

    assert acme.browser().sign_in(user).status_code == 200

    assert live(acme, user) == MOST


def test_a_user_with_fewer_sign_ins_is_not_counted(acme, django_assert_num_queries):
    user = acme.user()
    user.login_count = MOST - 1

    with acme.active(), django_assert_num_queries(0):
        assert not ending.is_at_limit(user)
