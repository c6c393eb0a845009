"""Long lists of ids find, link and refuse what the ORM would, one by one."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework import serializers

from database import ids
from database.list_parameters import among, among_selected
from identity.core import tenancy
from identity.core.links import insert_links
from identity.rest.fields import Ids, Line
from identity.rest.serializers import IdsSerializer
from identity.roles.models import Role, UserRole
from identity.users.models import User
from tests.support.cast import World

MANY = 300


@pytest.fixture
def people(acme: World) -> list[User]:
    with acme.active():
        return User.objects.bulk_create([User(username_key=f"p{number}") for number in range(MANY)])


def names(rows: Any) -> list[str]:
    return sorted(rows.values_list("username_key", flat=True))


def test_a_condition_is_that_of_the_orm(acme: World, people: list[User]):
    some = [person.pk for person in people[::3]]
    with acme.active():
        everybody = User.objects.filter(username_key__startswith="p")
        for pks in (some, some[:1], [*some, ids.new()], [ids.new()]):
            assert names(everybody.filter(among("pk", pks))) == names(everybody.filter(pk__in=pks))
            assert names(everybody.exclude(among("pk", pks))) == names(everybody.exclude(pk__in=pks))
        assert len(names(everybody.filter(among("pk", some)))) == len(some)


def test_a_condition_on_what_is_selected_is_that_of_the_orm(acme: World, people: list[User]):
    with acme.active():
        role = Role.objects.create(name="some", type=Role.Type.USER)
        insert_links(UserRole, "role", role.pk, "user", [person.pk for person in people[::3]])
        everybody = User.objects.filter(username_key__startswith="p")
        linked = UserRole.objects.filter(role=role).values("user_id")
        for selected in (linked, linked.none()):
            condition = among_selected("pk", selected)
            assert names(everybody.filter(condition)) == names(everybody.filter(pk__in=selected))
            assert names(everybody.exclude(condition)) == names(everybody.exclude(pk__in=selected))
        assert len(names(everybody.filter(among_selected("pk", linked)))) == MANY / 3


def test_none_of_no_ids_are_found_without_asking(acme: World, people: list[User]):
    with acme.active(), CaptureQueriesContext(connection) as captured:
        assert names(User.objects.filter(among("pk", []))) == []
        assert not captured
        assert len(names(User.objects.exclude(among("pk", [])).filter(among("pk", [people[0].pk])))) == 1


def test_ids_of_another_tenant_are_nobodys(acme: World, rival: World, people: list[User]):
    with rival.active():
        assert names(User.objects.filter(among("pk", [person.pk for person in people]))) == []


def test_links_are_those_of_the_orm_and_stay(acme: World, people: list[User]):
    with acme.active():
        role, other = (Role.objects.create(name=name, type=Role.Type.USER) for name in ("a", "b"))
        first = UserRole.objects.create(role=role, user=people[0])
        insert_links(UserRole, "role", role.pk, "user", [person.pk for person in people])
        insert_links(UserRole, "role", role.pk, "user", [])
        found = UserRole.objects.filter(role=role)
        assert {row.user_id for row in found} == {person.pk for person in people}
        assert {row.tenant_id for row in found} == {acme.tenant.pk}
        assert len({row.pk for row in found}) == found.count() == MANY
        assert found.filter(pk=first.pk).exists()
        assert not UserRole.objects.filter(role=other).exists()


def test_without_a_tenant_nothing_is_linked(people: list[User]):
    with tenancy.without_tenant(), pytest.raises(tenancy.NoActiveTenant):
        insert_links(UserRole, "role", ids.new(), "user", [people[0].pk])


GOOD = [str(ids.new()) for _ in range(3)]
ODD: list[Any] = [
    *("", " ", "x" * 64, "x" * 65, "a b", "a\u00a0b", "\u200b", "a\x00b", "a\nb", "\u0085", "\ud800", "é"),
    *(None, 1, 1.5, True, [], {}, ["a"]),
]


def outcome(field: serializers.Field[Any, Any, Any, Any], value: Any) -> Any:
    try:
        return field.run_validation(value)
    except serializers.ValidationError as refused:
        return refused.detail


def test_a_list_is_checked_as_item_by_item():
    one_by_one = serializers.ListField(child=Line(max_length=64), max_length=10_000)
    lists = ([*GOOD, odd, *GOOD] for odd in ODD)
    for value in [*lists, *ODD, GOOD, [], GOOD * 4000, "text", tuple(GOOD)]:
        assert outcome(Ids(), value) == outcome(one_by_one, value), value


def test_what_was_sent_is_not_what_is_handed_on():
    given = list(GOOD)
    sent = IdsSerializer(data={"user_ids": given}, ids_field="user_ids")
    sent.is_valid(raise_exception=True)
    assert sent.ids == given
    assert sent.ids is not given
