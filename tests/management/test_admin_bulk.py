"""What operators do to many rows at once."""

import re

import pytest
from django.contrib.admin import site
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import Client

from audit.models import Entry
from identity.operator_kit import bulk, extensions
from identity.sessions import services as sessions
from identity.users.models import User
from tests.support import operators
from tests.support.bulk_actions import SESSIONS, USERS, run_bulk_action
from tests.support.operators import administrator


def suspended(world):
    with world.active():
        return set(User.objects.filter(is_suspended=True).values_list("username", flat=True))


def test_asks_first_and_says_how_many_and_whom(acme, operator):
    people = [acme.user(name=f"Person {number}") for number in range(3)]

    answer = run_bulk_action(operator, USERS, "suspend", people)

    assert "Suspend 3 users" in answer.text
    assert "Person 2" in answer.text
    assert suspended(acme) == set()


def test_speaks_of_one_user_or_of_several(acme, operator):
    one, other = acme.user(), acme.user()

    assert (
        "Permanently deletes this user and their data."
        in run_bulk_action(operator, USERS, "delete", [one]).text
    )
    several = run_bulk_action(operator, USERS, "delete", [one, other]).text
    assert "Permanently deletes these users and their data." in several
    assert "this user" not in several


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(operation, id=f"{model.__name__} {operation.name}")
        for model, pages in site._registry.items()
        for operation in (*getattr(pages, "operations", ()), *extensions.registry[model].operations)
        if operation.bulk_label
    ],
)
def test_no_operation_speaks_of_one_row_if_there_are_several(operation):
    said = str(operation.bulk_description or operation.description)

    assert not re.search(
        r"\b(this|the|its) (user|session|browser|message|link|invitation)\b", said, re.IGNORECASE
    )


def test_each_is_done_and_written_down_for_itself(acme, operator):
    people = [acme.user() for _ in range(3)]
    other = acme.user()

    answer = run_bulk_action(operator, USERS, "suspend", people, confirmed="yes")

    assert answer.status_code == 303
    assert "3 of 3 done" in operator.get(USERS).text
    assert suspended(acme) == {user.username for user in people}
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Update")
    assert {entry.payload["id"] for entry in entries} == {str(user.pk) for user in people}
    assert {entry.payload["administrator_id"] for entry in entries} == {operator.who.pk}
    assert other.username not in suspended(acme)


def test_those_for_whom_it_makes_no_sense_are_left_out(acme, operator):
    once, twice = acme.user(), acme.user()
    run_bulk_action(operator, USERS, "suspend", [twice], confirmed="yes")

    answer = run_bulk_action(operator, USERS, "suspend", [once, twice])

    assert 'value="Suspend user"' in answer.text


def test_sessions_end(acme, operator):
    user = acme.user()
    with acme.active():
        for _ in range(3):
            sessions.start(user, amr=["pwd"])
        live = list(user.sessions.live())

    run_bulk_action(operator, SESSIONS, "end", live[:2], confirmed="yes")

    with acme.active():
        assert list(user.sessions.live()) == live[2:]


def test_what_another_tenant_owns_is_not_touched(acme, rival, operator):
    acme.user()

    run_bulk_action(operator, USERS, "suspend", [rival.user()], confirmed="yes")

    assert suspended(rival) == set()


@pytest.mark.parametrize("row", ["x", "", "%00", "1 OR 1=1"])
def test_what_is_no_id_is_refused(acme, operator, row):
    acme.user()

    assert run_bulk_action(operator, USERS, "suspend", [row], confirmed="yes").status_code == 400


def test_there_is_an_end_to_how_many(acme, operator, monkeypatch):
    people = [acme.user() for _ in range(3)]
    monkeypatch.setattr(bulk, "MAX_ROWS", 2)
    local = operators.Operator(operator.who, Client())
    local.sign_in()
    local.choose(acme)

    sent = {
        "action": "suspend",
        "drawn_for": acme.tenant.pk,
        ACTION_CHECKBOX_NAME: [one.pk for one in people],
    }
    local.http.post(USERS, sent)

    assert "At most 2 rows at once" in operators.text_of(local.get(USERS))
    assert suspended(acme) == set()


@pytest.mark.parametrize("action", ["password", "change", "nonsense", "delete_selected"])
def test_nothing_else_is_an_action(acme, operator, action):
    user = acme.user()

    run_bulk_action(operator, USERS, action, [user], confirmed="yes")

    with acme.active():
        assert User.objects.filter(pk=user.pk, is_suspended=False).exists()


def test_an_auditor_has_none_and_support_has_those_of_people(acme):
    user = acme.user()
    auditor = operators.at(acme, administrator(role="auditor", is_superuser=True))
    support = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))

    assert ACTION_CHECKBOX_NAME not in auditor.get(USERS).text
    run_bulk_action(auditor, USERS, "suspend", [user], confirmed="yes")
    assert suspended(acme) == set()
    run_bulk_action(support, USERS, "suspend", [user], confirmed="yes")
    assert suspended(acme) == {user.username}


class TestSentTwice:
    def test_a_form_runs_once(self, acme, operator):
        people = [acme.user() for _ in range(2)]
        shown = run_bulk_action(operator, USERS, "suspend", people).text
        (key,) = re.findall(r'name="idempotency_key" value="([^"]+)"', shown)

        pages = []
        for _ in range(2):
            run_bulk_action(operator, USERS, "suspend", people, confirmed="yes", idempotency_key=key)
            pages.append(operator.get(USERS).text)

        assert "2 of 2 done" in pages[0]
        assert "You have sent this form before. It was done once." in pages[1]
        assert "2 of 2 done" not in pages[1]
        assert suspended(acme) == {user.username for user in people}
        assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Update").count() == 2

    def test_its_key_does_nothing_to_other_rows(self, acme, operator):
        one, other = acme.user(), acme.user()
        key = {"confirmed": "yes", "idempotency_key": "k" * 24}

        run_bulk_action(operator, USERS, "suspend", [one], **key)
        run_bulk_action(operator, USERS, "suspend", [other], **key)

        assert suspended(acme) == {one.username}

    def test_a_number_that_was_typed_wrong_can_be_typed_again(self, acme, operator):
        people = [acme.user() for _ in range(10)]
        key = {"confirmed": "yes", "idempotency_key": "k" * 24}

        refused = run_bulk_action(operator, USERS, "delete", people, number="9", **key)
        run_bulk_action(operator, USERS, "delete", people, number="10", **key)

        assert refused.status_code == 400
        with acme.active():
            assert not User.objects.filter(pk__in=[user.pk for user in people]).exists()
