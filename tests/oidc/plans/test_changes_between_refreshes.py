"""A change between two refreshes: a plan never answers by what was true before."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from identity.core import assignments
from identity.resources import services as resources
from identity.resources.models import Resource
from identity.roles import services as roles
from identity.roles.models import Role
from identity.users import assigned_passwords
from identity.users import services as users
from identity.users.models import User
from oidc.applications import client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants.models import Consent, RefreshFamily
from oidc.keys import services as keys
from oidc.settings import services as oidc_settings
from tests.support.independent import claims_of, header_of, key_set, verified
from tests.support.refresh_plans import API, REFUSED, Refreshing, kept_plans

CHANGES_OF_A_USER = (
    users.suspend,
    lambda user: assigned_passwords.set_password(user, "another correct horse", is_proven=True),
    users.remove,
)


def change_application(refresh: Refreshing, **fields: Any) -> None:
    with refresh.client.world.active():
        applications.change(Application.objects.get(pk=refresh.client.application.pk), fields, is_proven=True)


def constant(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "source": {"value": value}, "into": ["userinfo"]}


class TestAChangeBetweenTwoRefreshes:
    def test_of_the_user_is_in_the_tokens(self, here, user, refresh):
        with here.active():
            User.objects.filter(pk=user.pk).update(name="Grace")

        assert claims_of(refresh()["id_token"])["name"] == "Grace"
        assert refresh.is_planned

    def test_of_the_application_passes_all_steps_once(self, here, refresh):
        claim = {"name": "tier", "source": {"value": "gold"}, "into": ["id_token"]}
        change_application(refresh, custom_claims=[claim])

        seen = [(claims_of(refresh()["id_token"])["tier"], refresh.is_planned) for _ in range(2)]

        assert seen == [("gold", False), ("gold", True)]

    def test_of_the_application_leaves_no_outdated_plan(self, refresh):
        change_application(refresh, name="Renamed")
        refresh()
        assert len(kept_plans()) == 1

        claims = [constant(f"n{number}", "x" * 1000) for number in range(20)]
        change_application(refresh, custom_claims=claims)  # too large for a plan
        refresh()

        assert kept_plans() == []

    def test_of_the_grant_types_refuses(self, refresh):
        change_application(refresh, grant_types=["authorization_code"])

        assert refresh.refusal() == (400, "unauthorized_client")

    def test_of_the_required_acr_refuses_and_consumes_nothing(self, refresh):
        generation = refresh.family.generation
        change_application(refresh, required_acr="urn:service:acr:2fa")

        assert refresh.refusal()[0] == 400
        assert refresh.family.generation == generation

    def test_of_the_tenants_lifetimes_refuses(self, here, refresh):
        with here.active():
            RefreshFamily.objects.filter(pk=refresh.family.pk).update(
                rotated_at=F("rotated_at") - timedelta(hours=2)
            )
            oidc_settings.change({"refresh_token_idle_seconds": 3600}, is_proven=True)

        assert refresh.refusal() == REFUSED

    def test_of_the_tenants_absolute_lifetime_passes_all_steps_once(self, here, refresh):
        with here.active():
            oidc_settings.change({"refresh_token_absolute_seconds": 90_000}, is_proven=True)

        seen = []
        for _ in range(2):
            refresh()
            seen.append(refresh.is_planned)

        assert seen == [False, True]

    def test_of_the_tenants_lifetimes_is_in_the_row(self, here, refresh):
        with here.active():
            oidc_settings.change({"refresh_token_idle_seconds": 3600}, is_proven=True)

        refresh()

        assert refresh.family.idle_expires_at - refresh.family.rotated_at == timedelta(hours=1)

    def test_of_the_key_signs_with_the_new_one(self, here, refresh):
        with here.active():
            keys.rotate()

        tokens = [refresh() for _ in range(2)]

        assert header_of(tokens[0]["access_token"]) == header_of(tokens[1]["access_token"])
        for each in tokens:
            assert verified(each["id_token"], key_set(here))

    def test_of_the_first_secret_refuses_the_old_one(self, here, refresh):
        with here.active():
            applications.rotate_secret(
                Application.objects.get(pk=refresh.client.application.pk), is_proven=True
            )

        assert refresh.refusal() == (401, "invalid_client")

    def test_of_the_first_secret_alone_refuses_the_old_one(self, here, refresh):
        """The version of the application stays the same."""
        with here.active():
            rows = Application.objects.filter(pk=refresh.client.application.pk)
            rows.update(secret_digest=client_secrets.new_secret()[1])

        assert refresh.refusal() == (401, "invalid_client")

    @pytest.mark.parametrize("ends_by", ["deletion", "time"])
    def test_of_a_further_secret_refuses_it(self, here, refresh, ends_by):
        row = Application.objects.get
        with here.active():
            expires_at = timezone.now() + timedelta(hours=1)
            application = row(pk=refresh.client.application.pk)
            secret, text = client_secrets.create(application, expires_at=expires_at, is_proven=True)
        refresh.form["auth"] = (refresh.client.client_id, text)
        refresh()
        refresh()
        assert refresh.is_planned
        with here.active():
            if ends_by == "time":  # the version of the application stays the same
                expired = timezone.now() - timedelta(seconds=1)
                type(secret).objects.filter(pk=secret.pk).update(expires_at=expired)
            else:
                client_secrets.remove(application, secret.pk)

        assert refresh.refusal() == (401, "invalid_client")

    @pytest.mark.parametrize("change", CHANGES_OF_A_USER, ids=("suspended", "password", "deleted"))
    def test_of_what_the_user_may_refuses(self, here, user, refresh, change):
        with here.active():
            change(User.objects.get(pk=user.pk))

        assert refresh.refusal() == REFUSED

    def test_of_the_roles_that_the_application_demands_refuses(self, here, user, refresh):
        with here.active():
            role = Role.objects.create(name="Staff", type=Role.Type.USER)
        assignment = partial(assignments.replace, roles.USERS, role.pk, is_proven=True)
        with here.active():
            assignment([str(user.pk)])
        change_application(refresh, allowed_role_ids=[str(role.pk)])
        refresh()
        refresh()
        assert refresh.is_planned
        with here.active():
            assignment([])

        assert refresh.refusal() == REFUSED
        with here.active():
            assignment([str(user.pk)])
        refresh()
        assert refresh.is_planned

    def test_of_the_consent_refuses(self, here, user, refresh):
        change_application(refresh, is_third_party=True)
        family = refresh.family
        with here.active():
            consent = Consent.objects.create(
                user=user, application=refresh.client.application, scopes=family.scope.split()
            )
            RefreshFamily.objects.filter(pk=family.pk).update(consent_id=consent.pk)
        refresh()
        assert claims_of(refresh()["access_token"])["consent_id"] == str(consent.pk)
        assert refresh.is_planned
        with here.active():
            consent.delete()

        assert refresh.refusal() == REFUSED

    def test_of_an_api_is_in_the_tokens(self, here, user):
        with here.active():
            api = resources.create(name="API", indicator=API, access_token_ttl=600)
        refresh = Refreshing(here.application(), user, resource=API)
        assert [refresh()["expires_in"] for _ in range(2)] == [600, 600]
        with here.active():
            resources.change(
                Resource.objects.get(pk=api.pk), {"access_token_ttl": 700}, expected=None, is_proven=True
            )

        assert refresh()["expires_in"] == 700
        assert refresh.is_planned
        with here.active():
            resources.remove(Resource.objects.get(pk=api.pk), expected=None, is_proven=True)
        assert refresh.refusal()[0] == 400
        assert refresh.send(resource=None).status_code == 200, "nothing was used up"

    def test_that_deletes_the_application_refuses(self, here, refresh):
        with here.active():
            applications.remove(Application.objects.get(pk=refresh.client.application.pk))

        assert refresh.refusal() == (401, "invalid_client")
