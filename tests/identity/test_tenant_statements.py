"""Statements that are put into SQL once find and change what the ORM would, for the tenant of the moment."""

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, IntegrityError, connections
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import log
from audit.events import Event
from audit.models import Entry
from database.statements import AtomicChange, Insert
from identity.core import tenancy
from identity.core.tenant_statements import (
    ConditionalInsert,
    Delete,
    JoinedSelects,
    Select,
    SelectValues,
    Update,
    duration,
    moment,
    number,
    text,
    uuid,
)
from identity.rest.list_query import BoundListQuery, CountSubquery, ListQuery
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.models import User
from tests.support.cast import World
from tests.support.threads import at_once

BY_NAME = Select(lambda: User.objects.filter(username_key=text("key"))[:1])
ALL = Select(lambda: User.objects.order_by("username_key"))
SESSIONS = Select(
    lambda: (
        Session.objects.filter(user=uuid("user_id"), expires_at__gt=moment("after"))
        .select_related("user")
        .annotate(age=Now() - F("auth_time"), next_epoch=F("epoch") + 1)
    )
)
TOGETHER = JoinedSelects(BY_NAME, SESSIONS, Select(lambda: User.objects.order_by("-username_key")[:1]))
COUNT = Update(lambda: User.objects.filter(pk=uuid("pk")), login_count=F("login_count") + number("more"))
RENAME_ALL = Update(User.objects.all, name=text("name"))
FORGET_ALL = Delete(Session.objects.all)
NAMED = SelectValues(
    lambda: (
        User.objects.filter(name=text("name"))
        .order_by("username_key")
        .values_list("pk", "custom_data", "created_at", "is_suspended")
    )
)
COLUMNS = ("pk", "username_key", "created_at")
LIST_QUERY = ListQuery(
    lambda: User.objects.filter(name=text("name")).order_by("username_key"),
    COLUMNS,
    lambda: CountSubquery(User.objects.filter(name=text("name"))),
)
INSERT = Insert(Session, expires_at=Now() + duration("lifetime"))


def facts(row: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if not name.startswith("_")}


def test_a_row_is_what_the_orm_makes_of_it(acme: World):
    user = acme.user()
    with acme.active():
        found = BY_NAME.first(key=user.username_key)
        assert found is not None
        assert facts(found) == facts(User.objects.get(pk=user.pk))
        found.name = "Somebody"
        found.save()
        assert User.objects.get(pk=user.pk).name == "Somebody"
        assert BY_NAME.first(key="nobody") is None


def test_related_rows_and_annotations_come_with_it(acme: World):
    user = acme.user()
    with acme.active():
        started, _ = sessions.start(user, amr=["pwd"])
        found: Any
        (found,) = SESSIONS.all(user_id=user.pk, after=started.auth_time)
        with CaptureQueriesContext(connections[DEFAULT_DB_ALIAS]) as captured:
            assert facts(found.user) == facts(User.objects.get(pk=user.pk))
        assert len(captured) == 1  # the comparison's own
        assert found.amr == ["pwd"]
        assert found.next_epoch == user.epoch + 1
        assert timedelta() <= found.age < timedelta(minutes=1)
        assert SESSIONS.all(user_id=user.pk, after=started.expires_at + timedelta(minutes=1)) == []


def test_several_queries_are_one_statement(acme: World, rival: World):
    user, last = acme.user("a"), acme.user("b")
    rival.user("z")
    with acme.active():
        started = [sessions.start(user, amr=["pwd"])[0] for _ in range(2)]
        with CaptureQueriesContext(connections[DEFAULT_DB_ALIAS]) as captured:
            rows = TOGETHER.all(key=user.username_key, user_id=user.pk, after=user.created_at)
        assert len(captured) == 1
        assert sorted(session.pk for _, session, _ in rows) == sorted(session.pk for session in started)
        for first, session, second in rows:
            assert facts(first) == facts(User.objects.get(pk=user.pk))
            assert (session.user, session.amr, session.next_epoch) == (user, ["pwd"], user.epoch + 1)
            assert facts(second) == facts(User.objects.get(pk=last.pk))
        assert TOGETHER.all(key="nobody", user_id=last.pk, after=user.created_at) == [[None, None, last]]


def some(world: World, number: int) -> list[User]:
    with world.active():
        made = [User(username_key=f"p{n}", name="Same", custom_data={"n": [n]}) for n in range(number)]
        return User.objects.bulk_create(made)


def test_tuples_are_what_the_orm_makes_of_them(acme: World, rival: World):
    some(acme, 5)
    some(rival, 2)
    for world, many in ((acme, 5), (rival, 2)):
        with world.active():
            rows = User.objects.filter(name="Same").order_by("username_key")
            expected = list(rows.values_list("pk", "custom_data", "created_at", "is_suspended"))
            assert len(expected) == many
            assert [tuple(row) for row in NAMED.all(name="Same")] == expected
            assert [tuple(row) for row in NAMED.slice(1, 4, name="Same")] == expected[1:4]
            assert NAMED.all(name="Nobody") == NAMED.slice(many, many + 1, name="Same") == []


def test_a_listing_is_read_from_both_ends(acme: World):
    some(acme, 7)
    with acme.active():
        rows = (
            User.objects.filter(name="Same")
            .order_by("username_key")
            .values("pk", "username_key", "created_at")
        )
        listed = BoundListQuery(LIST_QUERY, lambda: rows, lambda: rows, name="Same")
        for first, after in ((0, 1), (0, 7), (2, 5), (6, 9), (7, 9)):
            assert listed.slice(first, after, is_backwards=False) == list(rows[first:after])
            expected = list(rows[first:after])
            assert listed.slice_with_total(first, after) == (expected, 7 if expected else None)
            assert listed.slice(first, after, is_backwards=True) == list(rows.reverse()[first:after])


def test_one_statement_serves_every_tenant(acme: World, rival: World):
    users = {acme: acme.user(), rival: rival.user()}
    for world, other in ((acme, rival), (rival, acme), (acme, rival)):
        with world.active():
            assert {user.tenant_id for user in ALL.all()} == {world.tenant.pk}
            assert COUNT(pk=users[other].pk, more=1) == 0
            assert COUNT(pk=users[world].pk, more=2) == 1
    for world, count in ((acme, 4), (rival, 2)):
        with world.active():
            assert User.objects.get(pk=users[world].pk).login_count == count


def test_what_changes_all_rows_changes_those_of_one_tenant(acme: World, rival: World):
    for world in (acme, rival):
        user = world.user()
        with world.active():
            sessions.start(user, amr=["pwd"])
    with acme.active():
        assert RENAME_ALL(name="Renamed") == User.objects.count()
        assert FORGET_ALL() == 1
    with rival.active():
        assert not User.objects.filter(name="Renamed").exists()
        assert Session.objects.count() == 1


@pytest.mark.parametrize(
    "scope", [tenancy.without_tenant(), tenancy.using(tenancy.EVERYWHERE)], ids=["none", "all"]
)
def test_without_one_tenant_nothing_runs(scope: AbstractContextManager[None]):
    with scope:
        for run in (ALL.all, lambda: NAMED.all(name="Nobody"), FORGET_ALL, lambda: RENAME_ALL(name="Nobody")):
            with pytest.raises(tenancy.NoActiveTenant):
                run()


def test_an_inserted_row_is_there_whole(acme: World):
    user = acme.user()
    with acme.active():
        row = Session(user=user, token_hash="x" * 64, epoch=3, amr=["otp", "hwk"], ip="::1")
        row.auth_time = row.last_used_at = timezone.now()
        INSERT(row, lifetime=timedelta(hours=2))
        found: Any = Session.objects.annotate(left=F("expires_at") - Now()).get(pk=row.pk)
        assert timedelta(minutes=119) < found.left <= timedelta(hours=2)
        assert (found.amr, found.epoch, found.ip, found.ended_at) == (["otp", "hwk"], 3, "::1", None)
        assert found.created_at == row.created_at
        row.ip = "127.0.0.1"
        row.save(update_fields=["ip"])
        assert Session.objects.get(pk=row.pk).ip == "127.0.0.1"


def a_session(user: User, token: str) -> Session:
    now = timezone.now()
    row = Session(user=user, token_hash=token, epoch=0, amr=[], auth_time=now, last_used_at=now)
    row.expires_at = now + timedelta(hours=1)
    return row


ROWS = AtomicChange(COUNT, Insert(Session), log.INSERT)
IF_SOMEBODY = ConditionalInsert(log.INSERT, lambda: User.objects.filter(username_key=text("key")))


def test_what_a_change_entails_is_there_with_it(acme: World):
    user = acme.user()
    with acme.active():
        entry = log.new_entry(Event.SESSION_END, user_id=user.pk, reason="a test")
        assert ROWS({"pk": user.pk, "more": 3}, a_session(user, "a" * 64), entry)
        assert User.objects.get(pk=user.pk).login_count == 3
        assert Session.objects.get(token_hash="a" * 64).user_id == user.pk
        written = Entry.objects.get(pk=entry.pk)
        assert (written.payload, written.user_id) == ({"reason": "a test"}, str(user.pk))
        assert written.created_at <= timezone.now()


def test_without_a_change_nothing_is_inserted(acme: World, rival: World):
    user = rival.user()
    with acme.active():
        entry = log.new_entry(Event.SESSION_END, user_id=user.pk)
        assert not ROWS({"pk": user.pk, "more": 3}, a_session(user, "b" * 64), entry)
        assert not Session.objects.filter(token_hash="b" * 64).exists()
        assert not Entry.objects.filter(pk=entry.pk).exists()


def test_what_cannot_be_inserted_undoes_the_change(acme: World):
    user = acme.user()
    with acme.active():
        assert ROWS({"pk": user.pk, "more": 1}, a_session(user, "c" * 64), log.new_entry(Event.SESSION_END))
        entry = log.new_entry(Event.SESSION_END)
        with pytest.raises(IntegrityError):
            ROWS({"pk": user.pk, "more": 1}, a_session(user, "c" * 64), entry)
        assert User.objects.get(pk=user.pk).login_count == 1
        assert not Entry.objects.filter(pk=entry.pk).exists()


def test_a_row_is_inserted_if_something_is_true_at_that_moment(acme: World, rival: World):
    user = acme.user()
    for world, key, happens in (
        (acme, user.username_key, True),
        (acme, "nobody", False),
        (rival, user.username_key, False),
    ):
        with world.active():
            entry = log.new_entry(Event.SESSION_END)
            assert IF_SOMEBODY(entry, key=key) is happens
            assert Entry.objects.filter(pk=entry.pk).exists() is happens


def test_of_changes_at_one_moment_each_entails_its_own(acme: World):
    user = acme.user()

    def change(number: int) -> bool:
        with acme.active():
            row = a_session(user, f"{number:064}")
            return ROWS({"pk": user.pk, "more": 1}, row, log.new_entry(Event.SESSION_END, user_id=user.pk))

    assert at_once(8, change) == [True] * 8
    with acme.active():
        assert User.objects.get(pk=user.pk).login_count == 8
        assert Session.objects.filter(user=user).count() == 8


def test_each_thread_asks_on_its_own_connection(acme: World):
    user = acme.user()

    def ask(_: int) -> str:
        with acme.active():
            found = BY_NAME.first(key=user.username_key)
        return found.username if found else ""

    assert at_once(4, ask) == [user.username] * 4
