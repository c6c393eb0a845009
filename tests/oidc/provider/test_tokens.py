"""What an access token contains, and what counts as one."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F

from database import ids
from identity.encryption import keyring
from identity.users.models import User
from oidc.keys import signing
from oidc.keys.jws import InvalidToken
from oidc.keys.models import SigningKey
from oidc.provider import tokens
from oidc.provider.claims_request import ClaimsRequest
from oidc.provider.grant_context import GrantContext, SignIn
from oidc.provider.target import Target
from tests.support import cast

GOOD = {"iss": "i", "sub": "s", "client_id": "c", "jti": "j", "scope": "a b", "aud": "x", "iat": 1, "exp": 2}

SIGN_IN = SignIn(ids.new(), datetime.fromtimestamp(1_767_323_045, UTC), ["pwd"])


@pytest.fixture
def sign(acme):
    """Sign claims with the key of the tenant: ``GOOD``, with changes. None leaves a claim out."""

    def sign(typ=tokens.ACCESS_TOKEN_TYPE, **changes: Any) -> str:
        claims = {name: value for name, value in (GOOD | changes).items() if value is not None}
        with acme.active():
            return signing.sign(claims, typ=typ, key_id=SigningKey.objects.active().get().pk)

    return sign


def read(world, token):
    with world.active():
        return tokens.read_access_token(token).claims


class TestAccessClaims:
    @pytest.fixture
    def build(self, acme, application):
        """Build the claims of an access token for a user, unless the fields say otherwise."""

        def build(target=None, **fields: Any) -> dict[str, Any]:
            with acme.active():
                given: dict[str, Any] = {"scopes": ("openid",), "user": acme.user()} | fields
                to = Target("https://api.example", 60, ("read",), None) if target is None else target
                context = GrantContext(
                    application=application, access_token_key_id=ids.new(), target=to, **given
                )
                return tokens.build_access_claims(context)

        return build

    def test_for_an_application_alone(self, acme, application, build):
        claims = build(user=None, scopes=())

        assert {name: claims[name] for name in ("iss", "sub", "aud", "client_id", "azp", "scope")} == {
            "iss": acme.issuer,
            "sub": application.client_id,
            "aud": "https://api.example",
            "client_id": application.client_id,
            "azp": application.client_id,
            "scope": "read",
        }
        assert claims["exp"] - claims["iat"] == 60
        assert claims["token_type"] == "m2m"
        assert set(claims) == {*GOOD, "azp", "token_type"}

    def test_with_a_family_it_names_the_family_and_not_the_session(self, build):
        family = ids.new()

        claims = build(family_id=family, sign_in=SIGN_IN)

        assert (claims["family_id"], claims["scope"]) == (str(family), "openid read")
        assert set(claims) == {*GOOD, "azp", "family_id"}

    def test_without_a_family_it_names_the_session(self, build):
        claims = build(sign_in=SIGN_IN)

        assert claims["sid"] == str(SIGN_IN.session_id)
        assert set(claims) == {*GOOD, "azp", "sid"}

    def test_a_tenant_with_factors_says_how_the_user_signed_in(self, build):
        claims = build(sign_in=replace(SIGN_IN, acr="urn:two"))

        assert (claims["acr"], claims["amr"], claims["auth_time"]) == ("urn:two", ["pwd"], 1_767_323_045)

    def test_claims_that_were_asked_for_are_named_unless_a_scope_releases_them(self, build):
        request = ClaimsRequest(userinfo=("email", "name"))

        assert build(scopes=("openid", "email"), claims=request)["userinfo_claims"] == ["name"]
        assert "userinfo_claims" not in build(scopes=("openid", "email", "profile"), claims=request)

    @pytest.mark.parametrize("is_admin", [True, False])
    def test_the_organization_and_whether_the_user_is_its_admin(self, build, is_admin):
        target = Target("https://api.example", 60, (), ids.new(), organization_is_admin=is_admin)

        claims = build(target)

        assert claims["organization_id"] == str(target.organization_id)
        assert claims["organization_is_admin"] is is_admin
        assert "organization_is_admin" not in build(target, user=None, scopes=())

    def test_decision_N2_of_a_consent_it_names_the_consent_and_the_epoch(self, acme, build):
        target = Target("https://api.example", 60, (), None, consent_id=ids.new())
        user = acme.user()

        claims = build(target, user=user)

        assert claims[tokens.CONSENT] == str(target.consent_id)
        assert tokens.has_current_epoch(claims, user)
        assert tokens.EPOCH in claims
        assert not {tokens.CONSENT, tokens.EPOCH} & set(build(target, user=None, scopes=()))


class TestReadAccessToken:
    @pytest.mark.parametrize(
        "changes",
        [{}, {"aud": ["x", "y"]}, {"nbf": 0}, {"scope": ""}, {"exp": 253_402_300_799}, {"iat": 0}],
    )
    def test_returns_the_claims_of_a_good_token(self, acme, sign, changes):
        assert read(acme, sign(**changes)) == GOOD | changes

    @pytest.mark.parametrize("name", sorted(GOOD))
    def test_refuses_a_token_without_a_required_claim(self, acme, sign, name):
        with pytest.raises(InvalidToken, match="missing"):
            read(acme, sign(**{name: None}))

    @pytest.mark.parametrize("value", [1, True, ["s"], {}, "a\nb", "\x7f"])
    @pytest.mark.parametrize("name", ["iss", "sub", "client_id", "jti", "scope", "aud"])
    def test_refuses_what_is_not_a_printable_text(self, acme, sign, name, value):
        if (name, value) == ("aud", ["s"]):
            value = ["x", 1]
        with pytest.raises(InvalidToken, match="not a text"):
            read(acme, sign(**{name: value}))

    @pytest.mark.parametrize("value", [-1, 253_402_300_800, True, 1.5, "1"])
    @pytest.mark.parametrize("name", ["iat", "exp", "nbf"])
    def test_refuses_what_is_not_a_number_of_seconds(self, acme, sign, name, value):
        with pytest.raises(InvalidToken, match="number of seconds"):
            read(acme, sign(**{name: value}))

    @pytest.mark.parametrize("typ", [tokens.ID_TOKEN_TYPE, tokens.USERINFO_TYPE])
    def test_decision_O1_refuses_a_token_of_another_type(self, acme, sign, typ):
        with pytest.raises(InvalidToken):
            read(acme, sign(typ))

    def test_decision_T2_refuses_a_token_of_another_tenant(self, sign):
        with pytest.raises(InvalidToken):
            read(cast.new_world("Rival"), sign())


class TestHasCurrentEpoch:
    @pytest.fixture
    def user(self, acme):
        return acme.user()

    @pytest.fixture
    def is_current(self, acme, user):
        def is_current(**claims: Any) -> bool:
            with acme.active():
                return tokens.has_current_epoch({"jti": "j"} | claims, User.objects.get(pk=user.pk))

        return is_current

    @pytest.fixture
    def hashed(self, acme, user):
        with acme.active():
            return keyring.digest(f"j {user.epoch}", purpose=tokens.EPOCH)

    def test_decision_N2_until_the_password_changes(self, acme, user, is_current, hashed):
        names = {tokens.EPOCH: hashed}, {"user_epoch": user.epoch}
        assert [is_current(**claims) for claims in names] == [True, True]
        with acme.active():
            User.objects.filter(pk=user.pk).update(epoch=F("epoch") + 1)

        assert [is_current(**claims) for claims in names] == [False, False]

    def test_of_the_same_token_only(self, is_current, hashed):
        assert not is_current(jti=str(uuid4()), **{tokens.EPOCH: hashed})

    def test_a_token_without_an_epoch_counts_as_current(self, is_current):
        assert is_current()

    @pytest.mark.parametrize("value", ["", "x", 1, [], {}])
    def test_a_malformed_epoch_is_not_current(self, is_current, user, value):
        assert not is_current(**{tokens.EPOCH: value, "user_epoch": user.epoch})


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (["email", "name"], {"email", "name"}),
        (["email", "sub2", 1, None, ["name"]], {"email"}),
        ("email", set()),
        ({"email": None}, set()),
        (None, set()),
    ],
)
def test_requested_claims_are_names_of_known_claims(value, names):
    assert tokens.get_requested_claims({"userinfo_claims": value}) == names


def test_requested_claims_of_a_token_that_names_none():
    assert tokens.get_requested_claims({}) == set()
