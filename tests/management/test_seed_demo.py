"""``manage.py seed_demo``: the same data for the same seed, and nothing where real people are."""

import json
import secrets
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from audit.models import Entry
from identity.core import served_address, tenancy
from identity.factors.models import Authenticator, BackupCode, KnownBrowser, Passkey
from identity.limits.rules import Lock
from identity.organizations.models import Membership, Organization
from identity.roles.models import RoleScope, UserRole
from identity.sessions.models import Session
from identity.tenants.models import Tenant
from identity.users import sign_in_locks
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.experience.models import SignInExperience
from management.seeding import demo
from oidc.applications.models import Application
from tests.support import cast, factors
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
    entries = Entry.objects.filter(tenant_id=world.tenant.pk, user_agent__endswith="seed_demo/1")
    # How many tokens a machine requested depends on the time of the day.
    of_users = entries.exclude(payload__grant_type="client_credentials")
    return people, organizations, sorted(of_users.values_list("ip", "key", "payload__result"))


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


def test_users_who_signed_in_lately_have_one_live_session_each(acme):
    for _ in range(2):
        seed(acme.tenant.slug, "--users", "20", "--organizations", "0", "--logs", "400")

    with acme.active():
        users = list(Session.objects.live().values_list("user__username", flat=True))
        assert len(users) == len(set(users)) > 0
        assert not Session.objects.live().filter(user__is_suspended=True).exists()
        assert not Session.objects.filter(user_agent__contains="seed_demo").exists()


def test_a_tenant_of_others_is_left_alone_unless_told_otherwise(acme):
    acme.user("somebody")
    with pytest.raises(CommandError, match="--in-use"):
        seed(acme.tenant.slug, *AMOUNTS)
    with acme.active():
        assert User.objects.count() == 1

    assert seed(acme.tenant.slug, *AMOUNTS, "--in-use")["users"] == 20
    acme.user("somebody-else")
    assert seed(acme.tenant.slug, *AMOUNTS)["users"] == 0, "it has made-up users already"


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


def test_sign_ins_fit_what_users_and_applications_show(acme):
    made = seed(acme.tenant.slug, *AMOUNTS)
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk)
    successes = entries.filter(key__startswith="SignIn.", payload__result="success")

    with acme.active():
        users = {str(user.pk): user for user in User.objects.all()}
        applications = {str(row.pk) for row in Application.objects.all()}
    for pk, user in users.items():
        times = [entry.created_at for entry in successes.filter(user_id=pk)]
        assert (user.login_count, user.last_sign_in_at) == (len(times), max(times, default=None))
        assert all(time > user.created_at for time in times)
        created = entries.get(key="User.Create", payload__id=pk)
        assert created.created_at == user.created_at
    tokens = entries.filter(key__startswith="Token.")
    assert {entry.application_id for entry in tokens} <= applications
    days = {entry.created_at.date() for entry in tokens}
    assert (max(days) - min(days)).days >= 90
    assert made["present"]["tokens"] == tokens.count()


def test_there_are_applications_roles_connectors_suspended_users_and_a_locked_one(acme, monkeypatch):
    monkeypatch.setattr("identity.limits.rules.PAIR", Lock("pair", 10, 900))

    made = seed(acme.tenant.slug, *AMOUNTS)

    with acme.active():
        assert {row.type for row in Application.objects.all()} == set(Application.Type)
        assert set(Connector.objects.values_list("connector_id", flat=True)) == {"google", "smtp"}
        assert UserRole.objects.filter(role__name="Order manager").exists()
        assert RoleScope.objects.filter(role__name="Order manager").count() == 2
        assert len(made["suspended"]) == User.objects.filter(is_suspended=True).count() == 2
        assert sign_in_locks.get_locks(User.objects.get(username=made["locked"]))
    assert made["more"] == {"applications": 5, "roles": 3, "connectors": 2}
    assert seed(acme.tenant.slug, *AMOUNTS)["more"] == {"applications": 0, "roles": 0, "connectors": 0}


def test_every_fourth_user_has_second_factors_and_all_authenticators_one_key(acme):
    made = seed(acme.tenant.slug, *AMOUNTS, "--logs", "400")
    app = factors.App(made["authenticator_key"])
    body = {"password": made["password"]}

    with acme.active():
        assert not User.objects.get(username=made["example"]).factors
        enrolled = list(User.objects.filter(factors__gt=0, is_suspended=False))
        assert User.objects.filter(factors__gt=0).count() == 5
        assert Passkey.objects.exists()
        assert BackupCode.objects.filter(used_at=None).exists()
        assert KnownBrowser.objects.exclude(remembered_until=None).exists()
        assert Session.objects.filter(level=2, user__in=enrolled).exists()
        assert not Session.objects.filter(level=2, user__factors=0).exists()
        assert Organization.objects.filter(is_mfa_required=True).count() == 1
        assert Application.objects.get(name="Northwind Console").required_acr == "urn:service:acr:2fa"
    for user in enrolled[:2]:
        browser = acme.browser()
        half = browser.post("/api/interaction/sign-in", json=body | {"identifier": user.username})
        assert not factors.has_session(half)
        assert factors.has_session(browser.post(factors.TOTP, json={"code": app.code()}))


def test_a_second_run_adds_no_second_factor_and_no_browser(acme):
    seed(acme.tenant.slug, *AMOUNTS)
    with acme.active():
        before = [model.objects.count() for model in (Authenticator, Passkey, BackupCode, KnownBrowser)]

    again = seed(acme.tenant.slug, *AMOUNTS)

    with acme.active():
        after = [model.objects.count() for model in (Authenticator, Passkey, BackupCode, KnownBrowser)]
    assert (after, again["authenticator_key"]) == (before, "")


def test_a_policy_that_a_tenant_has_chosen_stays(acme):
    factors.switch_on(acme, "Totp", policy="PromptOnlyAtSignIn")

    seed(acme.tenant.slug, *AMOUNTS)

    with acme.active():
        assert SignInExperience.objects.get().mfa["factors"] == ["Totp"]


def test_the_user_of_the_demo_application_can_set_up_a_second_factor(address, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "DEVELOPMENT", True)
    monkeypatch.setattr(settings, "VAR", tmp_path)
    acme = cast.new_world()
    monkeypatch.setattr(tenancy, "DEFAULT", acme.tenant.to_active())

    made = demo.prepare("http://localhost:8001")

    with acme.active():
        assert SignInExperience.objects.get().has_factors
        application = Application.objects.get(client_id=made.client_id)
    client, browser = cast.RelyingParty(acme, application, made.client_secret), acme.browser()
    signed_in = {"identifier": made.username, "password": made.password}
    assert factors.has_session(browser.post("/api/interaction/sign-in", json=signed_in))
    place = browser.authorize(client, acr_values="urn:service:acr:2fa").headers["Location"]
    assert "/sign-in/set-up?" in browser.get(place).headers["Location"]


def test_again_adds_as_many(acme):
    seed(acme.tenant.slug, *AMOUNTS)

    more = seed(acme.tenant.slug, *AMOUNTS, "--again")

    assert (more["users"], more["organizations"], more["logs"]) == (20, 3, 40)
    assert more["present"]["users"] == 40


def test_a_new_password_replaces_the_old_one(acme):
    made = seed(acme.tenant.slug, *AMOUNTS)

    reset = seed(acme.tenant.slug, *AMOUNTS, "--reset-password")

    for password, status in ((made["password"], 401), (reset["password"], 200)):
        signed_in = acme.browser().post(
            "/api/interaction/sign-in", json={"identifier": reset["example"], "password": password}
        )
        assert signed_in.status_code == status


def text_of(slug, *arguments):
    out = StringIO()
    call_command("seed_demo", "--tenant", slug, "--users", "3", "--yes", *arguments, stdout=out)
    return out.getvalue()


def test_the_second_run_says_what_is_there_and_how_to_sign_in(acme):
    text_of(acme.tenant.slug)

    said = text_of(acme.tenant.slug)

    assert "Everything is there already" in said
    assert "has 3 users, 10 organizations" in said
    assert "--reset-password" in said


def test_development_keeps_the_password_for_the_second_run(acme, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "DEVELOPMENT", True)
    monkeypatch.setattr(settings, "VAR", tmp_path)

    first, second = (seed(acme.tenant.slug, *AMOUNTS, yes=False) for _ in range(2))

    assert first["password"] == second["password"]
    assert (tmp_path / f"demo-password-{acme.tenant.slug}").stat().st_mode & 0o777 == 0o600


def test_development_names_the_address_that_was_served_last(acme, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "DEVELOPMENT", True)
    monkeypatch.setattr(settings, "VAR", tmp_path)
    for name in ("PORT", "BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "address").write_text("http://localhost:9000")

    assert served_address.get() == "http://localhost:9000"
    monkeypatch.setenv("PORT", "8000")
    assert served_address.get() == settings.BASE_URL
