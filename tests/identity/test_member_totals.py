"""The database stores the number of members of each organization, which always agrees with the rows."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from identity.core import tenancy
from identity.organizations import checks, row_counts
from identity.organizations.models import MemberCount, Membership, Organization
from identity.tenants import services as tenants
from identity.users.models import User
from tests.support import management
from tests.support.cast import World
from tests.support.management import result_of
from tests.support.threads import at_once, rounds

WRITERS = 6


def create_organization(world: World, members: int = 0) -> Organization:
    with world.active():
        made = Organization.objects.create(name="Org")
    add_new_members(world, made, members)
    return made


def create_users(number: int) -> list[User]:
    names = (secrets.token_hex(8) for _ in range(number))
    return User.objects.bulk_create([User(username=name, username_key=name) for name in names])


def add_new_members(world: World, organization: Organization, number: int) -> list[Membership]:
    with world.active():
        return create_members(organization, create_users(number))


def create_members(organization: Organization, users: list[User]) -> list[Membership]:
    return Membership.objects.bulk_create(Membership(organization=organization, user=user) for user in users)


def count_and_check(world: World, organization: Organization) -> int:
    """Return the stored number of members.

    Check that the organization has as many rows, and that a list of organizations shows the same number.
    """
    with world.active():
        stored = row_counts.count_members(organization.pk)
        listed = Organization.objects.filter(pk=organization.pk).annotate(
            n=MemberCount.objects.count_per_organization()
        )
        assert stored == Membership.objects.filter(organization=organization).count()
        assert listed.values_list("n", flat=True).first() == stored
    return stored


def assert_counts_match_rows() -> None:
    """Compare the stored numbers of all organizations with the rows, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tenant_id, organization_id, sum(n) FROM ("
            "SELECT tenant_id, organization_id, members AS n FROM organizations_membercount UNION ALL"
            " SELECT tenant_id, organization_id, -count(*) FROM organizations_membership"
            " GROUP BY tenant_id, organization_id) AS both_ways"
            " GROUP BY tenant_id, organization_id HAVING sum(n) <> 0"
        )
        assert cursor.fetchall() == []


class TestExactly:
    def test_as_members_come_and_go(self, acme, rival):
        org, other = create_organization(acme, 7), create_organization(acme, 2)
        theirs = create_organization(rival, 3)
        assert [count_and_check(acme, org), count_and_check(acme, other)] == [7, 2]
        assert count_and_check(rival, theirs) == 3

        with acme.active():
            first, *rest = Membership.objects.filter(organization=org)
            first.delete()
            Membership.objects.filter(pk__in=[member.pk for member in rest[:2]]).delete()
            Membership.objects.filter(organization=other).update(is_admin=True)

        assert [count_and_check(acme, org), count_and_check(acme, other)] == [4, 2]
        assert count_and_check(rival, theirs) == 3
        assert_counts_match_rows()

    def test_no_tenant_reads_the_number_of_another(self, acme, rival):
        org = create_organization(acme, 2)
        with rival.active():
            assert row_counts.count_members(org.pk) == 0

    def test_what_was_rolled_back_never_was(self, acme):
        org = create_organization(acme, 3)
        with acme.active(), transaction.atomic():
            create_members(org, create_users(5))
            assert row_counts.count_members(org.pk) == 8
            with suppress(RuntimeError), transaction.atomic():
                Membership.objects.filter(organization=org).delete()
                assert row_counts.count_members(org.pk) == 0
                raise RuntimeError
            transaction.set_rollback(True)

        assert count_and_check(acme, org) == 3

    def test_a_deleted_user_is_no_member_anywhere(self, acme):
        orgs = [create_organization(acme, 1) for _ in range(3)]
        with acme.active():
            (user,) = create_users(1)
            for org in orgs:
                create_members(org, [user])
            assert [count_and_check(acme, org) for org in orgs] == [2, 2, 2]
            user.delete()

        assert [count_and_check(acme, org) for org in orgs] == [1, 1, 1]
        assert_counts_match_rows()

    def test_a_deleted_organization_leaves_no_number(self, acme):
        org, stays = create_organization(acme, 3), create_organization(acme, 2)
        with acme.active():
            org.delete()
            assert list(MemberCount.objects.values_list("organization_id", flat=True)) == [stays.pk]
        assert_counts_match_rows()

    def test_a_deleted_tenant_leaves_no_number(self, acme):
        create_organization(acme, 3)
        gone = acme.tenant.pk

        tenants.remove(acme.tenant)

        with tenancy.using(tenancy.EVERYWHERE):
            assert not MemberCount.objects.filter(tenant_id=gone).exists()
        assert_counts_match_rows()

    def test_every_list_shows_a_change_at_once(self, acme):
        admin = management.superuser(acme)
        org = admin.created("/organizations", name="Org")["id"]
        manager = management.member_manager(acme, org)
        members, third_party = f"/organizations/{org}/users", f"/m2m/organizations/{org}/members"

        def listed_totals() -> set[int]:
            (shown,) = (row for row in result_of(admin.get("/organizations"))["data"] if row["id"] == org)
            lists = [result_of(admin.get(members)), result_of(manager.get(third_party))]
            one = result_of(admin.get(f"/organizations/{org}"))
            return {shown["member_count"], one["member_count"], *(page["total"] for page in lists)}

        assert listed_totals() == {0}
        mia = result_of(manager.post(third_party, phone="+4930123456"))["id"]
        result_of(admin.post(members, user_ids=[str(acme.user().pk)]))
        assert listed_totals() == {2}
        result_of(manager.delete(f"{third_party}/{mia}"))
        assert listed_totals() == {1}


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
class TestAtOnce:
    def test_it_is_exact_at_every_moment(self, acme):
        """Members come and go, with their users or alone, while a reader compares in single statements."""
        orgs = [create_organization(acme), create_organization(acme)]
        done: list[int] = []

        def write(index: int) -> None:
            chance = Random(index)  # noqa: S311 - the same each time
            mine: list[User] = []
            for _ in range(rounds(12)):
                with suppress(RuntimeError), acme.active(), transaction.atomic():
                    made = create_users(chance.randrange(1, 4))
                    create_members(chance.choice(orgs), made)
                    gone = mine[: chance.randrange(3)]
                    if chance.random() < 0.5:
                        User.objects.filter(pk__in=[user.pk for user in gone]).delete()
                    else:
                        Membership.objects.filter(user__in=gone).delete()
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

        assert sum(count_and_check(acme, org) for org in orgs) > 0

    def test_an_organization_that_goes_while_members_leave_takes_its_number_along(self, acme):
        org = create_organization(acme, 20)
        with acme.active():
            users = list(User.objects.filter(memberships__organization=org))

        def work(index: int) -> None:
            with acme.active():
                if index:
                    users[index].delete()
                else:
                    Organization.objects.filter(pk=org.pk).delete()

        at_once(WRITERS, work)

        with acme.active():
            assert not MemberCount.objects.exists()
        assert_counts_match_rows()


class TestTriggers:
    @pytest.fixture(autouse=True)
    def _always_there_again(self, address) -> Iterator[None]:
        yield
        row_counts.MEMBERS.install(connection)

    @pytest.mark.parametrize("name", sorted(row_counts.MEMBERS.names(connection.vendor)))
    def test_a_missing_one_is_reported_and_created_again(self, acme, name):
        org = create_organization(acme, 2)
        table = "organizations_organization" if name.endswith("forget") else "organizations_membership"
        with connection.cursor() as cursor:
            cursor.execute(
                f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else "")
            )
        add_new_members(acme, org, 3)

        (found,) = checks.members_are_counted(databases=["default"])
        assert found.id == "organizations.W001"
        assert name in found.msg
        call_command("migrate", verbosity=0, interactive=False)

        assert checks.members_are_counted(databases=["default"]) == []
        assert count_and_check(acme, org) == 5
