"""Consents and tokens of earlier releases."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from identity.core import tenancy
from oidc.grants import consents
from oidc.grants.models import Consent, ConsentTarget, RefreshFamily
from tests.support.third_parties import Estate, connect, silent


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
        assert consents.find(estate.user.pk, client.application.pk) is None


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

            granted = consents.find(estate.user.pk, client.application.pk)
            assert granted is not None
            assert granted.identity == {"openid"}
            assert [target.scopes for target in granted.organizations.values()] == [{"see"}]
