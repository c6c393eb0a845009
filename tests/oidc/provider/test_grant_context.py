"""What the tokens of one response contain, and when they expire."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from django.conf import settings

from identity.core.tenancy import DEFAULT_ID
from identity.sessions.models import UNKNOWN_AUTH_TIME
from identity.users.models import User
from oidc.applications.models import Application
from oidc.provider.grant_context import GrantContext, SignIn, get_consented
from oidc.provider.target import Target

NOW, ORGANIZATION = 1_767_323_045, uuid4()
USER = User(pk=uuid4(), tenant_id=DEFAULT_ID)


def context(
    *scopes: str, lifetime: int = 60, target: tuple[str, ...] = (), user: User | None = USER, **fields
):
    application = Application(
        tenant_id=DEFAULT_ID, client_id="client", is_third_party=fields.pop("third", False)
    )
    return GrantContext(
        application=application,
        access_token_key_id=uuid4(),
        scopes=scopes,
        target=Target("https://api.example", lifetime, target, ORGANIZATION),
        user=user,
        issuer="https://id.example",
        issued_at=NOW,
        **fields,
    )


class TestSignIn:
    def test_has_claims_for_what_is_known(self):
        sign_in = SignIn(UUID(int=1), datetime.fromtimestamp(NOW + 0.9, UTC), ["pwd"], "urn:two")

        assert sign_in.claims == {"auth_time": NOW, "amr": ["pwd"], "acr": "urn:two"}

    def test_has_no_claims_for_what_is_not(self):
        assert SignIn(UUID(int=1), UNKNOWN_AUTH_TIME, [], "").claims == {}


@pytest.mark.parametrize(
    ("third", "old", "scopes"),
    [
        (False, False, None),
        (False, True, None),
        (True, False, ("openid", "profile")),
        (True, True, ("openid",)),
    ],
)
def test_consented_scopes_are_those_of_third_parties_without_an_old_profile(third, old, scopes):
    assert get_consented(("openid", "profile"), is_third_party=third, agreed_to_old_profile=old) == scopes
    assert context("openid", "profile", third=third, agreed_to_old_profile=old).consented_scopes == scopes


def test_a_name_that_the_target_has_means_the_targets_scope():
    found = context("openid", "roles", "groups", target=("roles", "read"))

    assert found.scopes == ("openid", "groups")
    assert found.all_scopes == ("openid", "groups", "roles", "read")
    assert context("openid", target=("read",)).all_scopes == ("openid", "read")


@pytest.mark.parametrize(
    ("scopes", "user", "has_id_token"),
    [(("openid",), USER, True), (("profile",), USER, False), (("openid",), None, False)],
)
@pytest.mark.parametrize("lifetime", [60, settings.ID_TOKEN_SECONDS + 60])
def test_an_id_token_is_for_a_user_and_openid(scopes, user, has_id_token, lifetime):
    found = context(*scopes, user=user, lifetime=lifetime)

    assert found.has_id_token is has_id_token
    assert found.id_token_exp == (NOW + settings.ID_TOKEN_SECONDS if has_id_token else None)
    assert found.access_token_exp == NOW + lifetime
    assert found.last_exp == max(NOW + lifetime, found.id_token_exp or 0)
    assert found.expires_at == datetime.fromtimestamp(NOW + lifetime, UTC)
    assert found.lifetime == lifetime


def test_the_subject_is_the_user_or_the_client():
    assert context("openid").subject == str(USER.pk)
    assert context(user=None).subject == "client"


def test_facts_are_of_the_user_and_the_organization_of_the_target():
    found = context("openid")

    assert (found.facts.user, found.facts.organization_id) == (USER, ORGANIZATION)
