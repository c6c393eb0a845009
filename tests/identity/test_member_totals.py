"""How many members an organization has: kept by the database, and exact whatever happens."""

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


def organization_of(world: World, members: int = 0) -> Organization:
    with world.active():
        made = Organization.objects.create(name="Org")
    add(world, made, members)
    return made


def people(number: int) -> list[User]:
    names = (secrets.token_hex(8) for _ in range(number))
    return User.objects.bulk_create([User(username=name, username_key=name) for name in names])


def add(world: World, organization: Organization, number: int) -> list[Membership]:
    with world.active():
        return join(organization, people(number))


def join(organization: Organization, users: list[User]) -> list[Membership]:
    return Membership.objects.bulk_create(Membership(organization=organization, user=user) for user in users)


def total(world: World, organization: Organization) -> int:
    """The number that is kept, which must be that of the rows, and what a list of organizations says."""
    with world.active():
        kept = row_counts.count_members(organization.pk)
        listed = Organization.objects.filter(pk=organization.pk).annotate(
            n=MemberCount.objects.count_per_organization()
        )
        assert kept == Membership.objects.filter(organization=organization).count()
        assert listed.values_list("n", flat=True).first() == kept
    return kept


def agree() -> None:
    """For every organization, in one look at the database."""
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
        org, other, theirs = organization_of(acme, 7), organization_of(acme, 2), organization_of(rival, 3)
        assert [total(acme, org), total(acme, other), total(rival, theirs)] == [7, 2, 3]

        with acme.active():
            first, *rest = Membership.objects.filter(organization=org)
            first.delete()
            Membership.objects.filter(pk__in=[member.pk for member in rest[:2]]).delete()
            Membership.objects.filter(organization=other).update(is_admin=True)

        assert [total(acme, org), total(acme, other), total(rival, theirs)] == [4, 2, 3]
        agree()

    def test_no_tenant_reads_the_number_of_another(self, acme, rival):
        org = organization_of(acme, 2)
        with rival.active():
            assert row_counts.count_members(org.pk) == 0

    def test_what_was_rolled_back_never_was(self, acme):
        org = organization_of(acme, 3)
        with acme.active(), transaction.atomic():
            join(org, people(5))
            assert row_counts.count_members(org.pk) == 8
            with suppress(RuntimeError), transaction.atomic():
                Membership.objects.filter(organization=org).delete()
                assert row_counts.count_members(org.pk) == 0
                raise RuntimeError
            transaction.set_rollback(True)

        assert total(acme, org) == 3

    def test_a_deleted_user_is_no_member_anywhere(self, acme):
        orgs = [organization_of(acme, 1) for _ in range(3)]
        with acme.active():
            (user,) = people(1)
            for org in orgs:
                join(org, [user])
            assert [total(acme, org) for org in orgs] == [2, 2, 2]
            user.delete()

        assert [total(acme, org) for org in orgs] == [1, 1, 1]
        agree()

    def test_a_deleted_organization_leaves_no_number(self, acme):
        org, stays = organization_of(acme, 3), organization_of(acme, 2)
        with acme.active():
            org.delete()
            assert list(MemberCount.objects.values_list("organization_id", flat=True)) == [stays.pk]
        agree()

    def test_a_deleted_tenant_leaves_no_number(self, acme):
        organization_of(acme, 3)
        gone = acme.tenant.pk

        tenants.remove(acme.tenant)

        with tenancy.using(tenancy.EVERYWHERE):
            assert not MemberCount.objects.filter(tenant_id=gone).exists()
        agree()

    def test_every_list_tells_it_at_once(self, acme):
        admin = management.superuser(acme)
        org = admin.created("/organizations", name="Org")["id"]
        manager = management.member_manager(acme, org)
        members, third_party = f"/organizations/{org}/users", f"/m2m/organizations/{org}/members"

        def told() -> set[int]:
            (shown,) = (row for row in result_of(admin.get("/organizations"))["data"] if row["id"] == org)
            lists = [result_of(admin.get(members)), result_of(manager.get(third_party))]
            one = result_of(admin.get(f"/organizations/{org}"))
            return {shown["member_count"], one["member_count"], *(page["total"] for page in lists)}

        assert told() == {0}
        mia = result_of(manager.post(third_party, phone="+4930123456"))["id"]
        result_of(admin.post(members, user_ids=[str(acme.user().pk)]))
        assert told() == {2}
        result_of(manager.delete(f"{third_party}/{mia}"))
        assert told() == {1}


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
class TestAtOnce:
    def test_it_is_exact_at_every_moment(self, acme):
        """Members come and go, with their users or alone, while a reader compares in single statements."""
        orgs = [organization_of(acme), organization_of(acme)]
        done: list[int] = []

        def write(index: int) -> None:
            chance = Random(index)  # noqa: S311 - the same each time
            mine: list[User] = []
            for _ in range(rounds(12)):
                with suppress(RuntimeError), acme.active(), transaction.atomic():
                    made = people(chance.randrange(1, 4))
                    join(chance.choice(orgs), made)
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
                agree()

        at_once(WRITERS + 1, work)

        assert sum(total(acme, org) for org in orgs) > 0

    def test_an_organization_that_goes_while_members_leave_takes_its_number_along(self, acme):
        org = organization_of(acme, 20)
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
        agree()


class TestTriggers:
    @pytest.fixture(autouse=True)
    def _always_there_again(self, address) -> Iterator[None]:
        yield
        row_counts.MEMBERS.install(connection)

    @pytest.mark.parametrize("name", sorted(row_counts.MEMBERS.names(connection.vendor)))
    def test_one_that_is_missing_is_told_and_made_again(self, acme, name):
        org = organization_of(acme, 2)
        table = "organizations_organization" if name.endswith("forget") else "organizations_membership"
        with connection.cursor() as cursor:
            cursor.execute(
                f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else "")
            )
        add(acme, org, 3)

        (found,) = checks.members_are_counted(databases=["default"])
        assert found.id == "organizations.W001"
        assert name in found.msg
        call_command("migrate", verbosity=0, interactive=False)

        assert checks.members_are_counted(databases=["default"]) == []
        assert total(acme, org) == 5
