"""What counts as an access token of this tenant, and what it says of the user's password and claims."""

from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F

from identity.encryption import keyring
from identity.users.models import User
from oidc.keys import signing
from oidc.keys.jws import InvalidToken
from oidc.keys.models import SigningKey
from oidc.provider import tokens
from tests.support import cast

GOOD = {"iss": "i", "sub": "s", "client_id": "c", "jti": "j", "scope": "a b", "aud": "x", "iat": 1, "exp": 2}


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
