"""The database stores the number of users of each tenant, which always agrees with the rows."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from identity.core import tenancy
from identity.tenants import services as tenants
from identity.users import checks, row_counts
from identity.users.models import User, UserCount, UserDayCount
from tests.support import management
from tests.support.cast import World
from tests.support.management import result_of
from tests.support.threads import at_once, rounds

WRITERS = 6
NUMBERS = (row_counts.USERS, row_counts.USERS_BY_DAY)
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
DAY = "(created_at AT TIME ZONE 'UTC')::date" if connection.vendor == "postgresql" else "date(created_at)"


def new_users(number: int) -> list[User]:
    names = [secrets.token_hex(8) for _ in range(number)]
    times = [MIDNIGHT - timedelta(hours=8 * place + 1) for place in range(number)]  # three a day
    return [
        User(username=name, username_key=name, created_at=moment)
        for name, moment in zip(names, times, strict=True)
    ]


def create_users(world: World, number: int = 1) -> list[User]:
    with world.active():
        return User.objects.bulk_create(new_users(number))


def count_and_check(world: World) -> int:
    """Return the stored number of users. Check that the tenant has as many rows."""
    with world.active():
        stored = row_counts.count_users()
        assert stored == User.objects.count()
    return stored


def assert_counts_match_rows() -> None:
    """Compare the stored numbers of all tenants, and those by day, with the rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tenant_id, sum(n) FROM (SELECT tenant_id, users AS n FROM users_usercount UNION ALL"
            " SELECT tenant_id, -count(*) FROM users_user GROUP BY tenant_id) AS both_ways"
            " GROUP BY tenant_id HAVING sum(n) <> 0"
        )
        assert cursor.fetchall() == []
        cursor.execute(
            "SELECT tenant_id, day, sum(n) FROM (SELECT tenant_id, day, users AS n FROM users_userdaycount"  # noqa: S608
            f" UNION ALL SELECT tenant_id, {DAY}, -count(*) FROM users_user GROUP BY 1, 2) AS both_ways"
            " GROUP BY tenant_id, day HAVING sum(n) <> 0"
        )
        assert cursor.fetchall() == []


class TestByDay:
    def test_a_page_starts_at_the_end_of_a_day(self, acme, rival):
        create_users(acme, 12)
        create_users(rival, 5)

        with acme.active():
            newest_first = list(User.objects.order_by("-created_at"))
            for skipped in range(12):
                found = row_counts.find_page_start(skipped, 12)
                assert (found is None) is (skipped < 3)
                if found:
                    older = [user for user in newest_first if user.created_at < found[0]]
                    assert older[found[1] :] == newest_first[skipped:]
                    assert found[1] < 3

    def test_numbers_that_do_not_add_up_are_not_used(self, acme):
        create_users(acme, 12)

        with acme.active():
            assert row_counts.find_page_start(6, 12) is not None
            assert row_counts.find_page_start(6, 13) is None

    def test_a_time_counts_for_its_day_in_utc(self, acme):
        with acme.active():
            eastern = datetime.fromisoformat("2026-03-02T03:00:00+09:00")  # the day before, in UTC
            User.objects.create(username="east", username_key="east", created_at=eastern)
            with connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    cursor.execute("SET LOCAL timezone = 'Asia/Tokyo'")
                User.objects.create(username="far", username_key="far", created_at=eastern)

            assert {str(row.day) for row in UserDayCount.objects.all()} == {"2026-03-01"}
        assert_counts_match_rows()


class TestExactly:
    def test_as_users_come_and_go(self, acme, rival):
        assert count_and_check(acme) == 0
        made = create_users(acme, 7)
        create_users(rival, 2)
        assert (count_and_check(acme), count_and_check(rival)) == (7, 2)

        with acme.active():
            made[0].delete()
            User.objects.filter(pk__in=[user.pk for user in made[1:4]]).delete()
            User.objects.update(name="Somebody else", login_count=1)

        assert (count_and_check(acme), count_and_check(rival)) == (3, 2)
        assert_counts_match_rows()

    def test_what_was_rolled_back_never_was(self, acme):
        made = create_users(acme, 3)
        with acme.active(), transaction.atomic():
            User.objects.bulk_create(new_users(5))
            made[0].delete()
            assert row_counts.count_users() == 7
            with suppress(RuntimeError), transaction.atomic():
                User.objects.all().delete()
                assert row_counts.count_users() == 0
                raise RuntimeError
            assert row_counts.count_users() == 7
            transaction.set_rollback(True)

        assert count_and_check(acme) == 3

    def test_what_was_there_already_is_not_counted_twice(self, acme):
        made = create_users(acme, 3)

        create_users(acme, 0)
        with acme.active():
            again = [User(pk=user.pk, username_key=user.username_key) for user in made]
            User.objects.bulk_create([*again, *new_users(2)], ignore_conflicts=True)

        assert count_and_check(acme) == 5

    def test_users_of_many_tenants_in_one_statement(self, acme, rival):
        rows = [*create_users(acme, 4), *create_users(rival, 3)]
        with tenancy.using(tenancy.EVERYWHERE):
            User.objects.bulk_create(
                User(tenant=world.tenant, username_key=secrets.token_hex(8)) for world in (acme, rival, rival)
            )
            assert (count_and_check(acme), count_and_check(rival)) == (5, 5)
            User.objects.filter(pk__in=[user.pk for user in rows]).delete()

        assert (count_and_check(acme), count_and_check(rival)) == (1, 2)

    def test_a_deleted_tenant_leaves_no_number(self, acme):
        create_users(acme, 3)
        gone = acme.tenant.pk

        tenants.remove(acme.tenant)

        with tenancy.using(tenancy.EVERYWHERE):
            assert not UserCount.objects.filter(tenant_id=gone).exists()
            assert not UserDayCount.objects.filter(tenant_id=gone).exists()
        assert_counts_match_rows()

    def test_the_list_shows_a_change_at_once(self, acme):
        admin = management.superuser(acme)
        for number in range(1, 4):
            made = admin.created("/users", username=f"person{number}", password="sesame and more")
            assert result_of(admin.get("/users"))["total"] == number
        admin.delete(f"/users/{made['id']}")
        assert result_of(admin.get("/users"))["total"] == 2
        assert result_of(admin.get("/users", is_suspended="false"))["total"] == 2
        result_of(
            admin.patch(
                f"/users/{result_of(admin.get('/users'))['data'][0]['id']}/suspend", is_suspended=True
            )
        )
        assert [
            result_of(admin.get("/users", is_suspended=is_it))["total"] for is_it in ("true", "false")
        ] == [1, 1]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
class TestAtOnce:
    def test_nobody_waits_for_somebody_who_counts(self, acme):
        create_users(acme)

        def impatiently(_: int) -> None:
            with acme.active(), transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL lock_timeout = '1ms'")
                User.objects.bulk_create(new_users(2))

        with acme.active(), transaction.atomic():
            User.objects.bulk_create(new_users(3))
            at_once(2, impatiently)
        assert count_and_check(acme) == 8

    def test_it_is_exact_at_every_moment(self, acme):
        """Writers add, delete and change their minds, while a reader compares in single statements."""
        done: list[int] = []

        def write(index: int) -> None:
            chance = Random(index)  # noqa: S311 - the same each time
            mine: list[User] = []
            for _ in range(rounds(15)):
                with suppress(RuntimeError), acme.active(), transaction.atomic():
                    made = User.objects.bulk_create(new_users(chance.randrange(1, 5)))
                    gone = mine[: chance.randrange(3)]
                    User.objects.filter(pk__in=[user.pk for user in gone]).delete()
                    if chance.random() < 0.3:
                        raise RuntimeError
                    mine = [*mine[len(gone) :], *made]

        def work(index: int) -> None:
            try:
                if index < WRITERS:
                    write(index)
            finally:
                done.append(index)
            while len(done) < WRITERS + 1:
                assert_counts_match_rows()

        at_once(WRITERS + 1, work)

        assert count_and_check(acme) > 0
        with acme.active():
            # A writer takes a row that nobody has. Not seeing one of a moment ago, it makes another.
            assert UserCount.objects.count() <= 3 * WRITERS
            assert UserDayCount.objects.filter(day=MIDNIGHT - timedelta(days=1)).count() <= 3 * WRITERS


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
def test_users_change_while_those_of_each_day_are_counted_again(acme):
    create_users(acme, 7)

    def work(index: int) -> None:
        for _ in range(rounds(10)):
            if index:
                create_users(acme, 2)[0].delete()
            else:
                row_counts.USERS_BY_DAY.install(connection)

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM users_userdaycount")
    at_once(3, work)

    assert_counts_match_rows()


class TestTriggers:
    @pytest.fixture(autouse=True)
    def _always_there_again(self, address) -> Iterator[None]:
        yield
        for count in NUMBERS:
            count.install(connection)

    @pytest.mark.parametrize(
        "name", sorted(name for count in NUMBERS for name in count.names(connection.vendor))
    )
    def test_a_missing_one_is_reported_and_created_again(self, acme, name):
        create_users(acme, 2)
        table = "tenants_tenant" if name.endswith("forget") else "users_user"
        with connection.cursor() as cursor:
            cursor.execute(
                f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else "")
            )
        create_users(acme, 3)

        (found,) = checks.users_are_counted(databases=["default"])
        assert found.id == "users.W001"
        assert name in found.msg
        call_command("migrate", verbosity=0, interactive=False)

        assert checks.users_are_counted(databases=["default"]) == []
        assert count_and_check(acme) == 5
        assert_counts_match_rows()

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no TRUNCATE")
    def test_nobody_is_left_when_the_table_was_emptied(self, acme):
        create_users(acme, 2)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '5s'")
            cursor.execute("TRUNCATE users_user CASCADE")
            assert count_and_check(acme) == 0
            assert_counts_match_rows()
            transaction.set_rollback(True)
        assert count_and_check(acme) == 2
