"""A chain makes all of its writes or none, and refuses with the same errors on both engines."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import log
from audit.events import Event
from audit.models import Entry
from database.chains import Chain
from database.statements import Insert
from identity.core.tenant_statements import Delete, Update, number, text, uuid
from identity.sessions.models import Session
from identity.users.models import User
from tests.support.cast import World
from tests.support.statement_costs import chained
from tests.support.threads import at_once

COUNT = Update(lambda: User.objects.filter(pk=uuid("pk")), login_count=F("login_count") + 1)
RENAME = Update(lambda: User.objects.filter(pk=uuid("pk"), name=text("old")), name=text("new"))
CLAIM = Update(
    lambda: Session.objects.filter(pk=uuid("pk"), epoch__lt=number("epoch")), epoch=number("epoch")
)
FORGET = Delete(lambda: Session.objects.filter(token_hash=text("token_hash")))
INSERT = Insert(Session)


class Refused(Exception):
    """What the tests refuse with."""


class Other(Refused):
    """The refusal of another write."""


def a_session(user: User, token: str) -> Session:
    now = timezone.now()
    row = Session(user=user, token_hash=token, epoch=0, amr=["pwd"], auth_time=now, last_used_at=now)
    row.expires_at = now + timedelta(hours=1)
    return row


def counting(user: User) -> Chain:
    """A chain whose first write counts a sign-in of a user."""
    chain = Chain()
    chain.add(COUNT, {"pk": user.pk}, refusal=Refused)
    return chain


def count_statements(run: Callable[[], None]) -> int:
    with CaptureQueriesContext(connection) as captured:
        run()
    return sum(not query["sql"].startswith(("BEGIN", "COMMIT")) for query in captured)


def count_of(user: User) -> int:
    return User.objects.get(pk=user.pk).login_count


def test_all_writes_are_made_in_one_statement_of_postgresql(acme: World):
    user = acme.user()
    with acme.active():
        chain, row = counting(user), a_session(user, "a" * 64)
        entry = log.new_entry(Event.SESSION_END, user_id=user.pk, reason="a test")
        chain.add(FORGET, {"token_hash": "nobody's"})
        chain.insert(INSERT, row)
        chain.insert(log.INSERT, entry)

        statements = count_statements(chain.run)

        assert statements == chained(4)
        assert count_of(user) == 1
        stored = Session.objects.get(pk=row.pk)
        assert (stored.amr, stored.user_id, stored.ended_at) == (["pwd"], user.pk, None)
        assert Entry.objects.get(pk=entry.pk).payload == {"reason": "a test"}
        assert not row._state.adding


@pytest.mark.parametrize("is_inside", [False, True])
def test_a_write_that_must_find_a_row_and_finds_none_undoes_all(acme: World, is_inside: bool):
    user, done = acme.user(), []
    with acme.active():
        chain, entry = counting(user), log.new_entry(Event.SESSION_END, user_id=user.pk)
        chain.add(RENAME, {"pk": user.pk, "old": "Nobody", "new": "Somebody"}, refusal=Other)
        chain.insert(log.INSERT, entry)
        chain.then(lambda: done.append("told"))

        if is_inside:
            with transaction.atomic():
                User.objects.filter(pk=user.pk).update(name="Before")
                with pytest.raises(Other):
                    chain.run()
                User.objects.filter(pk=user.pk).update(name=F("name"))
        else:
            with pytest.raises(Other):
                chain.run()

        assert count_of(user) == 0
        assert (User.objects.get(pk=user.pk).name == "Before") is is_inside
        assert not Entry.objects.filter(pk=entry.pk).exists()
        assert done == []


@pytest.mark.parametrize("old", ["Ada", "Nobody"])
def test_the_first_refusal_counts_whether_or_not_a_later_write_finds_its_row(
    acme: World, rival: World, old: str
):
    user, stranger = acme.user(name="Ada"), rival.user()
    with acme.active():
        chain = counting(stranger)
        chain.add(RENAME, {"pk": user.pk, "old": old, "new": "Somebody"}, refusal=Other)

        with pytest.raises(Refused) as refused:
            chain.run()

        assert User.objects.get(pk=user.pk).name == "Ada"
    assert type(refused.value) is Refused
    with rival.active():
        assert count_of(stranger) == 0


@pytest.mark.parametrize(("refusal", "error"), [(Other, Other), (None, IntegrityError)])
def test_a_row_that_violates_a_constraint_undoes_all(acme: World, refusal: Any, error: type[Exception]):
    user = acme.user()
    with acme.active():
        a_session(user, "b" * 64).save()
        chain = counting(user)
        chain.insert(INSERT, a_session(user, "b" * 64), refusal=refusal)

        with pytest.raises(error):
            chain.run()

        assert count_of(user) == 0


def test_a_function_of_a_chain_runs_in_its_place_and_is_undone_with_it(acme: World):
    user, seen = acme.user(), []

    def look_and_change() -> None:
        seen.append(count_of(user))
        User.objects.filter(pk=user.pk).update(name="Changed")

    with acme.active():
        for refusal, counted in ((Other, 0), (None, 1)):
            chain = counting(user)
            chain.call(look_and_change)
            chain.add(RENAME, {"pk": user.pk, "old": "Nobody", "new": "Somebody"}, refusal=refusal)
            if refusal:
                with pytest.raises(refusal):
                    chain.run()
            else:
                chain.run()
            assert count_of(user) == counted
            assert (User.objects.get(pk=user.pk).name == "Changed") is (refusal is None)

    assert seen == [1, 1]


def test_one_of_concurrent_chains_gets_what_counts_once(acme: World):
    user = acme.user()
    with acme.active():
        claimed = a_session(user, "c" * 64)
        claimed.save()

    def claim(index: int) -> bool:
        with acme.active():
            chain = counting(user)
            chain.add(CLAIM, {"pk": claimed.pk, "epoch": 7}, refusal=Other)
            chain.insert(INSERT, a_session(user, f"{index:064}"))
            chain.insert(log.INSERT, log.new_entry(Event.SESSION_END, user_id=user.pk, index=index))
            try:
                chain.run()
            except Other:
                return False
        return True

    outcomes = at_once(8, claim)

    assert outcomes.count(True) == 1
    with acme.active():
        assert count_of(user) == 1
        assert Session.objects.filter(user=user).count() == 2
        written = Entry.objects.filter(user_id=str(user.pk), key=Event.SESSION_END.value)
        assert [entry.payload["index"] for entry in written] == [outcomes.index(True)]


def test_concurrent_chains_all_count_if_none_is_refused(acme: World):
    user = acme.user()

    def count(index: int) -> None:
        with acme.active():
            chain = counting(user)
            chain.insert(INSERT, a_session(user, f"{index:064}"))
            chain.run()

    at_once(8, count)

    with acme.active():
        assert count_of(user) == 8
        assert Session.objects.filter(user=user).count() == 8


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="on SQLite every chain is a transaction")
def test_on_postgresql_no_transaction_is_begun_for_a_chain(acme: World):
    user, inside = acme.user(), []

    def look(execute: Callable[..., Any], *arguments: Any) -> Any:
        inside.append(connection.in_atomic_block)
        return execute(*arguments)

    with acme.active(), connection.execute_wrapper(look):
        chain = counting(user)
        chain.insert(INSERT, a_session(user, "d" * 64))
        chain.run()

    assert inside == [False]
