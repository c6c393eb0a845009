"""``manage.py seed_demo``: the same data for the same seed, and nothing where real people are."""

import json
import secrets
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.models import Entry
from identity.core import tenancy
from identity.organizations.models import Membership, Organization
from identity.tenants.models import Tenant
from identity.users.models import User
from tests.support.cast import World


def seed(slug: str, *arguments: str, yes: bool = True) -> Any:
    out = StringIO()
    confirmed = ("--yes",) if yes else ()
    call_command("seed_demo", "--tenant", slug, "--json", *confirmed, *arguments, stdout=out)
    return json.loads(out.getvalue())


AMOUNTS = ("--users", "20", "--organizations", "3", "--logs", "40")


def shown(world: World) -> Any:
    """What the tenant holds, save ids, passwords and what is told from now."""
    with world.active():
        people = list(
            User.objects.order_by("username").values("username", "email", "phone", "name", "created_at")
        )
        organizations = sorted(
            (row.name, sorted(row.memberships.values_list("user__username", "is_admin")))
            for row in Organization.objects.all()
        )
    entries = Entry.objects.filter(tenant_id=world.tenant.pk, user_agent__startswith="seed_demo/")
    return people, organizations, sorted(entries.values_list("ip", "payload__result"))


def test_the_same_seed_gives_the_same_and_another_gives_others(acme, rival):
    first, second = seed(acme.tenant.slug, *AMOUNTS), seed(rival.tenant.slug, *AMOUNTS)

    assert shown(acme) == shown(rival)
    assert (first["users"], first["organizations"], first["logs"]) == (20, 3, 40)
    assert first["password"] != second["password"]
    people = shown(acme)[0]
    seed(acme.tenant.slug, *AMOUNTS, "--seed", "2")
    assert len(shown(acme)[0]) > len(people)


def test_they_sign_in_and_organizations_have_an_administrator_each(acme):
    made = seed(acme.tenant.slug, *AMOUNTS)

    answer = acme.browser().post(
        "/api/interaction/sign-in", json={"identifier": made["example"], "password": made["password"]}
    )
    assert answer.status_code == 200
    with acme.active():
        for organization in Organization.objects.all():
            assert Membership.objects.filter(organization=organization, is_admin=True).count() == 1
    keys = Entry.objects.filter(tenant_id=acme.tenant.pk).values_list("key", flat=True)
    assert list(keys).count("User.Create") == 20
    assert {"Organization.Create", "OrganizationMember.Create", "SignIn.Password"} <= set(keys)


def test_repeated_it_adds_what_is_missing_and_nothing_else(acme):
    seed(acme.tenant.slug, *AMOUNTS)
    before = shown(acme)

    again = seed(acme.tenant.slug, *AMOUNTS)
    assert (again["users"], again["organizations"], again["logs"], again["password"]) == (0, 0, 0, None)
    assert shown(acme) == before
    more = seed(acme.tenant.slug, "--users", "25", "--organizations", "4", "--logs", "45")

    assert (more["users"], more["organizations"], more["logs"]) == (5, 1, 5)


def test_a_tenant_of_others_is_left_alone_unless_told_otherwise(acme):
    acme.user("somebody")
    with pytest.raises(CommandError, match="--in-use"):
        seed(acme.tenant.slug, *AMOUNTS)
    with acme.active():
        assert User.objects.count() == 1

    assert seed(acme.tenant.slug, *AMOUNTS, "--in-use")["users"] == 20


def test_production_is_left_alone_unless_told_otherwise(acme):
    with pytest.raises(CommandError, match="production"):
        seed(acme.tenant.slug, *AMOUNTS, yes=False)
    with acme.active():
        assert not User.objects.exists()


def test_a_dry_run_says_how_much_and_makes_nothing(acme):
    told = seed(acme.tenant.slug, *AMOUNTS, "--dry-run")
    slug = f"demo-{secrets.token_hex(4)}"
    elsewhere = seed(slug, *AMOUNTS, "--dry-run")

    for said in (told, elsewhere):
        assert (said["users"], said["organizations"], said["logs"]) == (20, 3, 40)
    assert shown(acme) == ([], [], [])
    with tenancy.using(tenancy.EVERYWHERE):
        assert not Tenant.objects.filter(slug=slug).exists()


def test_a_tenant_that_is_missing_is_made_and_without_json_it_says_how_to_sign_in(database):
    slug = f"demo-{secrets.token_hex(4)}"
    out = StringIO()

    call_command("seed_demo", "--tenant", slug, "--users", "3", "--yes", stdout=out)

    assert "Password" in out.getvalue()
    assert f"/t/{slug}" in out.getvalue()


@pytest.mark.parametrize("amount", ["-1", "many", "1000001"])
def test_what_it_is_told_is_looked_at_first(database, amount):
    with pytest.raises(CommandError, match="whole number"):
        seed("demo", f"--users={amount}")
