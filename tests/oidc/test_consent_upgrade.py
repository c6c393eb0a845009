"""Consents and tokens of earlier releases."""

import json
from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from database import batching
from identity.core import tenancy
from identity.users import services as users
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants import consents
from oidc.grants.models import Consent, ConsentTarget, RefreshFamily
from tests.support.third_parties import Estate, claims_of, connect, silent


@pytest.fixture
def estate(acme):
    return Estate(acme)


@pytest.fixture
def client(acme):
    return acme.application(is_third_party=True)


def test_decision_N2_a_consent_of_0_1_0_counts_for_identity_only(acme, estate, client):
    payroll = estate.api("Payroll", {"read": ""})
    hospital = estate.organization("Hospital", {"see": ""})
    with acme.active():
        Consent.objects.create(
            user=estate.user,
            application=client.application,
            scopes=["offline_access", "openid", "read", "see"],
        )
    browser, scope = estate.browser(), "openid offline_access"

    said = [
        silent(browser, client, scope=scope),
        silent(browser, client, scope=scope, resource=payroll),
        silent(browser, client, scope=scope, organization_id=hospital),
    ]

    assert "code" in said[0]
    assert [one.get("error") for one in said[1:]] == ["consent_required"] * 2


def test_decision_N2_a_family_names_its_consent(acme, estate, client):
    connect(estate.browser(), client)

    with acme.active():
        assert RefreshFamily.objects.get().consent_id == Consent.objects.get().pk


def test_decision_N2_a_family_of_0_1_0_goes_on(acme, estate, client):
    tokens = connect(estate.browser(), client)
    with acme.active():
        RefreshFamily.objects.update(consent_id=None)

    assert client.refresh(tokens["refresh_token"]).status_code == 200


def test_decision_N2_a_family_of_0_1_0_is_older_than_a_new_consent(acme, estate, client):
    tokens = connect(estate.browser(), client)
    with acme.active():
        family = RefreshFamily.objects.get()
        RefreshFamily.objects.update(consent_id=None, created_at=family.created_at - timedelta(days=1))

    assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(("scope", "status"), [("openid", 200), ("openid email", 400)])
def test_decision_N2_a_family_from_when_it_was_a_first_party_needs_consent_to_its_scopes(
    acme, estate, client, scope, status
):
    connect(estate.browser(), client, scope="openid offline_access")
    change(client, is_third_party=False)
    tokens = client.tokens_for(estate.user, scope=f"{scope} offline_access")
    change(client, is_third_party=True)

    assert client.refresh(tokens["refresh_token"]).status_code == status


def change(client, **fields):
    with client.world.active():
        applications.change(Application.objects.get(pk=client.application.pk), fields, is_proven=True)


def test_a_node_of_0_1_0_that_deletes_a_consent_deletes_its_targets(acme, estate, client):
    payroll = estate.api("Payroll", {"read": ""})
    connect(estate.browser(), client, scope="openid", resource=payroll)
    with acme.active():
        assert ConsentTarget.objects.count() == 1
        consent = Consent.objects.get()
        with connection.cursor() as cursor:  # it knows nothing of the other table
            pk = consent.pk if connection.vendor == "postgresql" else consent.pk.hex
            cursor.execute("DELETE FROM grants_consent WHERE id = %s", [pk])

        assert not ConsentTarget.objects.exists()
        assert batching.run(consents.find(estate.user.pk, client.application.pk)) is None


PROFILE = {"birthdate": "1980-02-03", "given_name": "Ada"}
SCOPE = "openid profile offline_access"
CLAIMS = json.dumps({"id_token": {"birthdate": None}, "userinfo": {"birthdate": None}})


class TestConsentsToTheOldProfile:
    """The consent page of 0.1.3 named less for ``profile`` than the scope releases since 0.2.0."""

    @pytest.fixture
    def refresh_token(self, acme, estate, client):
        """A connection from before the upgrade, at which the application asks for a new member by name."""
        with acme.active():
            users.change(estate.user, {"profile": PROFILE, "name": "Ada L."}, is_proven=True)
        tokens = connect(estate.browser(), client, scope=SCOPE, claims=CLAIMS)
        assert claims_of(tokens["id_token"])["birthdate"] == PROFILE["birthdate"]
        assert client.userinfo(tokens["access_token"]).json()["given_name"] == "Ada"
        with acme.active():
            Consent.objects.update(has_old_profile=True)
        return tokens["refresh_token"]

    def test_release_the_old_members_alone(self, acme, estate, client, refresh_token):
        declared = [
            {"name": "born", "source": "user.profile.birthdate", "into": ["id_token", "userinfo"]},
            {"name": "who", "source": "user.id", "into": ["id_token", "userinfo"]},
        ]
        with acme.active():
            Application.objects.filter(pk=client.application.pk).update(custom_claims=declared)

        tokens = client.refresh(refresh_token).json()

        in_token = claims_of(tokens["id_token"])
        at_userinfo = client.userinfo(tokens["access_token"]).json()
        for said in (in_token, at_userinfo):
            assert (said["name"], said["username"]) == ("Ada L.", estate.user.username)
            assert said["who"] == str(estate.user.pk)
            assert not {"birthdate", "given_name", "born"} & said.keys()
        assert "updated_at" in at_userinfo

    def test_are_asked_for_again_and_then_release_everything(self, estate, client, refresh_token):
        browser = estate.browser()
        assert silent(browser, client, scope=SCOPE)["error"] == "consent_required"

        tokens = connect(browser, client, scope=SCOPE, claims=CLAIMS)

        assert "code" in silent(browser, client, scope=SCOPE)
        for found in (tokens, client.refresh(tokens["refresh_token"]).json()):
            assert claims_of(found["id_token"])["birthdate"] == PROFILE["birthdate"]
            assert client.userinfo(found["access_token"]).json()["birthdate"] == PROFILE["birthdate"]

    def test_count_for_requests_without_the_profile(self, acme, estate, client, refresh_token):
        assert "code" in silent(estate.browser(), client, scope="openid")

        with acme.active():
            assert Consent.objects.get().has_old_profile

    def test_are_still_needed_again_after_consent_to_something_else(
        self, acme, estate, client, refresh_token
    ):
        connect(estate.browser(), client, scope="openid email")

        assert silent(estate.browser(), client, scope=SCOPE)["error"] == "consent_required"

    def test_first_parties_need_none(self, acme, estate, refresh_token):
        own = acme.application()

        tokens = own.tokens_for(estate.user, estate.browser())

        assert own.userinfo(tokens["access_token"]).json()["birthdate"] == PROFILE["birthdate"]


class TestFindingOldConsents:
    """The migration compares the time of a consent with that of the migration that added the profile."""

    @pytest.fixture
    def find(self):
        migration = import_module("oidc.grants.migrations.0008_find_old_consents")
        rows = MigrationRecorder(connection).migration_qs.filter(app="users")
        before = dict(rows.values_list("name", "applied"))

        def run(installed: timedelta, upgraded: timedelta) -> None:
            """Run it twice in an installation of this age, which got the profile so long ago."""
            rows.filter(name="0001_initial").update(applied=timezone.now() - installed)
            rows.filter(name="0008_profile").update(applied=timezone.now() - upgraded)
            with tenancy.using(tenancy.EVERYWHERE):
                for _ in range(2):
                    migration._mark_old_consents(apps, SimpleNamespace(connection=connection))

        yield run
        for name, applied in before.items():
            rows.filter(name=name).update(applied=applied)

    @pytest.fixture
    def marked(self, acme, estate, find):
        """Whether a consent of some scopes and age is marked."""

        def tell(scopes: list[str], age: timedelta, **installation: timedelta) -> bool:
            application = acme.application(is_third_party=True).application
            with acme.active():
                made = Consent.objects.create(user=estate.user, application=application, scopes=scopes)
                Consent.objects.filter(pk=made.pk).update(created_at=timezone.now() - age)
            find(**installation)
            with acme.active():
                return Consent.objects.get(pk=made.pk).has_old_profile

        return tell

    def test_marks_those_from_before_the_upgrade_and_from_its_first_day(self, marked):
        upgraded = {"installed": timedelta(days=90), "upgraded": timedelta(days=10)}

        assert marked(["openid", "profile"], timedelta(days=30), **upgraded)
        assert marked(["openid", "profile"], timedelta(days=9, hours=1), **upgraded)
        assert not marked(["openid", "profile"], timedelta(days=8), **upgraded)
        assert not marked(["openid", "email"], timedelta(days=30), **upgraded)

    def test_marks_none_of_an_installation_that_began_with_the_profile(self, marked):
        began = {"installed": timedelta(days=10, minutes=2), "upgraded": timedelta(days=10)}

        assert not marked(["openid", "profile"], timedelta(days=9, hours=1), **began)


class TestCopiesOfTargetScopes:
    """Nodes of 0.1.2 also write the names of targets' scopes into the consent, for nodes of 0.1.0."""

    @pytest.fixture
    def consent(self, acme, estate, client):
        hospital = estate.organization("Hospital", {"see": ""})
        connect(estate.browser(), client, scope="openid", organization_id=hospital)
        with acme.active():
            Consent.objects.update(scopes=["openid", "see"])
            yield Consent.objects.get()

    def test_are_not_written_any_more(self, acme, estate, client):
        hospital = estate.organization("Hospital", {"see": ""})
        connect(estate.browser(), client, scope="openid", organization_id=hospital)

        with acme.active():
            assert Consent.objects.get().scopes == ["openid"]

    def test_are_removed_by_the_contract_migration(self, estate, client, consent):
        migration = import_module("oidc.grants.migrations.0004_identity_scopes_of_consents")

        for _ in range(2):
            with tenancy.using(tenancy.EVERYWHERE):
                migration._keep_identity_scopes(apps, None)

            granted = batching.run(consents.find(estate.user.pk, client.application.pk))
            assert granted is not None
            assert granted.identity == {"openid"}
            assert [target.scopes for target in granted.organizations.values()] == [{"see"}]
