"""A change between two codes: a plan never answers by what was true before."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from identity.core import assignments
from identity.resources import services as resources
from identity.resources.models import Resource
from identity.roles import services as roles
from identity.roles.models import Role
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import assigned_passwords
from identity.users import services as users
from identity.users.models import User
from oidc.applications import client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants.models import AuthorizationCode, Consent, RefreshFamily
from oidc.keys import services as keys
from oidc.provider.token import plan_store
from oidc.settings import services as oidc_settings
from tests.support.cast import CALLBACK
from tests.support.code_plans import Redeeming
from tests.support.independent import claims_of, header_of, key_set, verified
from tests.support.refresh_plans import API, REFUSED

CHANGES_OF_A_USER = (
    users.suspend,
    lambda user: assigned_passwords.set_password(user, "another correct horse", is_proven=True),
    users.remove,
)
OTHER_CALLBACK = f"{CALLBACK}/other"
INVALID_CLIENT = (401, "invalid_client")


def row_of(redeem: Redeeming) -> Application:
    return Application.objects.get(pk=redeem.client.application.pk)


def change_application(redeem: Redeeming, **fields: Any) -> None:
    with redeem.client.world.active():
        applications.change(row_of(redeem), fields, is_proven=True)


def plans_of(redeem: Redeeming) -> tuple[Any, ...]:
    tenant = redeem.client.world.tenant.to_active()
    return plan_store._plans.get(tenant, redeem.client.client_id)


class TestAChangeBetweenTwoCodes:
    def test_of_the_user_is_in_the_tokens(self, here, user, redeem):
        code = redeem.new_code()
        with here.active():
            User.objects.filter(pk=user.pk).update(name="Grace")

        assert claims_of(redeem(code)["id_token"])["name"] == "Grace"
        assert redeem.is_planned

    def test_of_the_application_passes_all_steps_once(self, redeem):
        claim = {"name": "tier", "source": {"value": "gold"}, "into": ["id_token"]}
        change_application(redeem, custom_claims=[claim])

        seen = [(claims_of(redeem()["id_token"])["tier"], redeem.is_planned) for _ in range(2)]

        assert seen == [("gold", False), ("gold", True)]
        assert len(plans_of(redeem)) == 1

    def test_of_the_redirect_uris_refuses(self, redeem):
        change_application(redeem, redirect_uris=[CALLBACK, OTHER_CALLBACK])
        redeem()
        redeem()
        assert redeem.is_planned
        code = redeem.new_code()
        change_application(redeem, redirect_uris=[OTHER_CALLBACK])

        assert redeem.refusal(code, redirect_uri=CALLBACK) == REFUSED

    def test_of_the_grant_types_refuses(self, here, redeem):
        code = redeem.new_code()
        with here.active():
            Application.objects.filter(pk=redeem.client.application.pk).update(version=100, grant_types=[])

        assert redeem.refusal(code) == (400, "unauthorized_client")

    def test_of_the_right_to_refresh_gives_no_refresh_token(self, redeem):
        code = redeem.new_code()
        change_application(redeem, grant_types=["authorization_code"])

        assert "refresh_token" not in redeem(code)
        assert "refresh_token" not in redeem(scope="openid offline_access")

    def test_of_the_required_acr_refuses_and_uses_nothing_up(self, redeem):
        code = redeem.new_code()
        change_application(redeem, required_acr="urn:service:acr:2fa")

        assert redeem.refusal(code)[0] == 400
        assert redeem.last_row.consumed_at is None

    @pytest.mark.parametrize("name", ["idle", "absolute"])
    def test_of_the_tenants_lifetimes_is_in_the_family(self, here, redeem, name):
        with here.active():
            oidc_settings.change({f"refresh_token_{name}_seconds": 3600}, is_proven=True)

        redeem()

        with here.active():
            family = RefreshFamily.objects.latest("pk")
        ends = family.idle_expires_at if name == "idle" else family.expires_at
        assert round((ends - family.created_at).total_seconds()) == 3600
        redeem()
        assert redeem.is_planned

    def test_of_the_key_signs_with_the_new_one(self, here, redeem):
        with here.active():
            keys.rotate()

        tokens = [redeem() for _ in range(2)]

        assert redeem.is_planned
        assert header_of(tokens[0]["access_token"]) == header_of(tokens[1]["access_token"])
        for each in tokens:
            assert verified(each["id_token"], key_set(here))

    def test_of_the_first_secret_refuses_the_old_one(self, here, redeem):
        code = redeem.new_code()
        with here.active():
            secret = applications.rotate_secret(row_of(redeem), is_proven=True)

        assert redeem.refusal(code) == INVALID_CLIENT
        assert redeem(code, auth=(redeem.client.client_id, secret))

    def test_of_the_first_secret_alone_refuses_the_old_one(self, here, redeem):
        """The version of the application stays the same."""
        with here.active():
            rows = Application.objects.filter(pk=redeem.client.application.pk)
            rows.update(secret_digest=client_secrets.new_secret()[1])

        assert redeem.refusal() == INVALID_CLIENT

    @pytest.mark.parametrize("ends_by", ["deletion", "time"])
    def test_of_a_further_secret_refuses_it(self, here, redeem, ends_by):
        with here.active():
            application = row_of(redeem)
            expires_at = timezone.now() + timedelta(hours=1)
            secret, text = client_secrets.create(application, expires_at=expires_at, is_proven=True)
        redeem.form["auth"] = (redeem.client.client_id, text)
        redeem()
        redeem()
        assert redeem.is_planned
        with here.active():
            if ends_by == "time":  # the version of the application stays the same
                expired = timezone.now() - timedelta(seconds=1)
                type(secret).objects.filter(pk=secret.pk).update(expires_at=expired)
            else:
                client_secrets.remove(application, secret.pk)

        assert redeem.refusal() == INVALID_CLIENT

    @pytest.mark.parametrize("change", CHANGES_OF_A_USER, ids=("suspended", "password", "deleted"))
    def test_of_what_the_user_may_refuses(self, here, user, redeem, change):
        code = redeem.new_code()
        with here.active():
            change(User.objects.get(pk=user.pk))

        assert redeem.refusal(code) == REFUSED

    def test_that_ends_the_session_refuses(self, here, user, redeem):
        code = redeem.new_code()
        with here.active():
            sessions.end_all(user)

        assert redeem.refusal(code) == REFUSED

    def test_that_begins_another_epoch_of_the_session_refuses(self, here, redeem):
        code = redeem.new_code()
        with here.active():
            Session.objects.filter(pk=redeem.last_row.session_id).update(epoch=100)

        assert redeem.refusal(code) == REFUSED

    def test_of_the_roles_that_the_application_demands_refuses(self, here, user, redeem):
        with here.active():
            role = Role.objects.create(name="Staff", type=Role.Type.USER)
        assignment = partial(assignments.replace, roles.USERS, role.pk, is_proven=True)
        with here.active():
            assignment([str(user.pk)])
        change_application(redeem, allowed_role_ids=[str(role.pk)])
        redeem()
        redeem()
        assert redeem.is_planned
        code = redeem.new_code()
        with here.active():
            assignment([])

        assert redeem.refusal(code) == REFUSED
        with here.active():
            assignment([str(user.pk)])
        assert redeem(code)
        assert redeem.is_planned

    def test_of_the_consent_refuses(self, here, user, redeem):
        code = redeem.new_code()
        scopes = redeem.last_row.scope.split()
        change_application(redeem, is_third_party=True)
        with here.active():
            consent = Consent.objects.create(user=user, application=row_of(redeem), scopes=scopes)
            AuthorizationCode.objects.filter(pk=redeem.last_row.pk).update(consent_id=consent.pk)
        redeem(code)
        assert claims_of(redeem()["access_token"])["consent_id"] == str(consent.pk)
        assert redeem.is_planned
        code = redeem.new_code()
        with here.active():
            consent.delete()

        assert redeem.refusal(code) == REFUSED

    def test_of_an_api_is_in_the_tokens(self, here, user):
        with here.active():
            api = resources.create(name="API", indicator=API, access_token_ttl=600)
        redeem = Redeeming(here.application(), user, resource=API)
        assert [redeem()["expires_in"] for _ in range(2)] == [600, 600]
        with here.active():
            resources.change(
                Resource.objects.get(pk=api.pk), {"access_token_ttl": 700}, expected=None, is_proven=True
            )

        assert redeem()["expires_in"] == 700
        assert redeem.is_planned
        code = redeem.new_code()
        with here.active():
            resources.remove(Resource.objects.get(pk=api.pk), expected=None, is_proven=True)
        assert redeem.refusal(code)[0] == 400
        assert redeem.send(code, resource=None).status_code == 200, "nothing was used up"

    def test_of_a_custom_claim_that_becomes_too_large_is_recorded(self, here, user, redeem):
        claim = {"name": "plan", "source": "user.custom_data.plan", "into": ["id_token"]}
        change_application(redeem, custom_claims=[claim])
        redeem()
        redeem()
        assert redeem.is_planned
        with here.active():
            User.objects.filter(pk=user.pk).update(custom_data={"plan": "x" * 5_000})

        assert "plan" not in claims_of(redeem()["id_token"])
        assert not redeem.is_planned

    def test_that_deletes_the_application_refuses(self, here, redeem):
        code = redeem.new_code()
        with here.active():
            applications.remove(row_of(redeem))

        assert redeem.refusal(code) == INVALID_CLIENT
