"""The foundation's plans for relying parties, against our OpenID Connect connector.

``oidcc-client-basic-certification-test-plan`` and ``oidcc-client-config-certification-test-plan``: each test
has the name of its module. The provider of the tests plays the suite's.
"""

import base64
import json
from typing import Any, Final

import pytest
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from audit.models import Entry
from identity.users.models import User
from tests.support.cast import World
from tests.support.openid import CLIENT, OpenIDProvider
from tests.support.providers import answer
from tests.support.social import came, connect

RSA: Final = RSAKey.generate_key(2048, {"kid": "rsa"})
OTHER_RSA: Final = RSAKey.generate_key(2048, {"kid": "rsa"})
NEXT_RSA: Final = RSAKey.generate_key(2048, {"kid": "next"})
EC: Final = ECKey.generate_key("P-256", {"kid": "ec"})
OTHER_EC: Final = ECKey.generate_key("P-256", {"kid": "ec"})
PERSON: Final = {"email": "ada@example.com", "email_verified": True, "name": "Ada"}


@pytest.fixture
def world(acme: World, loopback_server: str) -> World:
    return acme.at(loopback_server)


@pytest.fixture
def suite(world: World, provider: OpenIDProvider, settings: Any) -> OpenIDProvider:
    """The provider of a module, with an RSA and an EC key; ID tokens have RS256."""
    settings.DEVELOPMENT = True  # the provider is on loopback
    publish(provider, RSA, EC)
    sign(provider, RSA, alg="RS256", kid="rsa")
    connect(world, provider.config)
    return provider


def publish(suite: OpenIDProvider, *keys: Any, without: str = "") -> None:
    told = [key.as_dict(private=False) for key in keys]
    suite.web.answers["/jwks"] = answer(200, {"keys": [omit(key, without) for key in told]})


def omit(members: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key != name}


def sign(suite: OpenIDProvider, key: Any, *, alg: str, kid: str = "") -> None:
    header = {"alg": alg} | ({"kid": kid} if kid else {})
    suite.sign = lambda claims: jws.serialize_compact(header, json.dumps(claims), key, [alg])


def accepts(world: World, suite: OpenIDProvider, **person: Any) -> User:
    """Sign in, and return the user who came of it."""
    assert came(world.browser(), suite, **(person or PERSON)).status_code == 303
    with world.active():
        return User.objects.get()


def refuses(world: World, suite: OpenIDProvider, reason: str) -> None:
    assert came(world.browser(), suite, **PERSON).status_code == 502
    with world.active():
        assert not User.objects.exists()
    entry = Entry.objects.filter(tenant_id=world.tenant.pk, key="SignIn.Social").order_by("-pk")[0]
    assert (entry.payload["error"], entry.payload["reason"]) == ("provider_failed", reason)


class TestBasicPlan:
    def test_oidcc_client_test(self, world, suite):
        user = accepts(world, suite)

        assert (user.email, user.email_verified, user.name) == ("ada@example.com", True, "Ada")

    @pytest.mark.parametrize("lie", ["https://another.example", "", "{issuer}/"])
    def test_oidcc_client_test_invalid_iss(self, world, suite, lie):
        suite.lie = {"iss": lie.format(issuer=suite.issuer)}

        refuses(world, suite, "issuer")

    def test_oidcc_client_test_missing_sub(self, world, suite):
        suite.lie = {"sub": None}

        refuses(world, suite, "missing_claim")

    @pytest.mark.parametrize("lie", ["another client", ["another", "client"], CLIENT["client_id"] + " "])
    def test_oidcc_client_test_invalid_aud(self, world, suite, lie):
        suite.lie = {"aud": lie}

        refuses(world, suite, "audience")

    def test_oidcc_client_test_missing_aud(self, world, suite):
        suite.lie = {"aud": None}

        refuses(world, suite, "missing_claim")

    def test_oidcc_client_test_missing_iat(self, world, suite):
        suite.lie = {"iat": None}

        refuses(world, suite, "missing_claim")

    def test_oidcc_client_test_kid_absent_single_jwks(self, world, suite):
        publish(suite, RSA, without="kid")
        sign(suite, RSA, alg="RS256")

        accepts(world, suite)

    def test_oidcc_client_test_kid_absent_multiple_jwks(self, world, suite):
        """Core 10.1: with several keys the token needs a ``kid``. The suite takes a refusal as well."""
        publish(suite, OTHER_RSA, RSA, without="kid")
        sign(suite, RSA, alg="RS256")

        refuses(world, suite, "several_keys")

    def test_oidcc_client_test_kid_absent_multiple_jwks_of_two_kinds(self, world, suite):
        publish(suite, EC, RSA, without="kid")
        sign(suite, RSA, alg="RS256")

        accepts(world, suite)

    def test_oidcc_client_test_idtoken_sig_rs256(self, world, suite):
        accepts(world, suite)

    def test_oidcc_client_test_idtoken_sig_es256(self, world, suite):
        sign(suite, EC, alg="ES256", kid="ec")

        accepts(world, suite)

    def test_oidcc_client_test_idtoken_sig_none(self, world, suite):
        suite.sign = _unsigned

        refuses(world, suite, "signature")

    def test_oidcc_client_test_invalid_sig_rs256(self, world, suite):
        sign(suite, OTHER_RSA, alg="RS256", kid="rsa")

        refuses(world, suite, "signature")

    def test_oidcc_client_test_invalid_sig_es256(self, world, suite):
        sign(suite, OTHER_EC, alg="ES256", kid="ec")

        refuses(world, suite, "signature")

    def test_oidcc_client_test_userinfo_invalid_sub(self, world, suite):
        suite.web.answers["/userinfo"] = answer(200, {"sub": "somebody-else", **PERSON})

        assert came(world.browser(), suite, sub="ada-1").status_code == 502
        with world.active():
            assert not User.objects.exists()

    def test_oidcc_client_test_nonce_invalid(self, world, suite):
        suite.lie = {"nonce": "another"}

        refuses(world, suite, "nonce")

    def test_oidcc_client_test_scope_userinfo_claims(self, world, suite):
        """The ID token has the subject alone: the other claims of the scopes are at userinfo."""
        suite.web.answers["/userinfo"] = answer(200, {"sub": "ada-1", **PERSON})

        user = accepts(world, suite, sub="ada-1")

        assert (user.email, user.email_verified, user.name) == ("ada@example.com", True, "Ada")
        (asked,) = [asked for asked in suite.web.asked if asked.path == "/userinfo"]
        assert asked.headers["authorization"] == "Bearer theirs"

    def test_oidcc_client_test_client_secret_basic(self, world, suite):
        accepts(world, suite)

        (asked,) = [asked for asked in suite.web.asked if asked.path == "/token"]
        pair = base64.b64encode(f"{CLIENT['client_id']}:{CLIENT['client_secret']}".encode()).decode()
        assert asked.headers["authorization"] == f"Basic {pair}"
        assert not {"client_id", "client_secret"} & asked.form.keys()


class TestConfigPlan:
    def test_oidcc_client_test_discovery_openid_config(self, world, suite):
        accepts(world, suite)

        assert suite.web.asked[0].path == "/.well-known/openid-configuration"
        assert {asked.path for asked in suite.web.asked} >= {"/token", "/jwks"}

    def test_oidcc_client_test_discovery_jwks_uri_keys(self, world, suite):
        suite.publish(jwks_uri=f"{suite.issuer}/keys-elsewhere")
        suite.web.answers["/keys-elsewhere"] = answer(200, {"keys": [RSA.as_dict(private=False)]})
        suite.web.answers["/jwks"] = answer(200, {"keys": []})

        accepts(world, suite)

    def test_oidcc_client_test_discovery_issuer_mismatch(self, world, suite):
        suite.publish(issuer=f"{suite.issuer}/another")

        assert world.browser().get("/social/oidc").status_code == 502
        entry = Entry.objects.get(tenant_id=world.tenant.pk, key="SignIn.Social")
        assert entry.payload["reason"] == "issuer"
        assert {asked.path for asked in suite.web.asked} == {"/.well-known/openid-configuration"}

    @pytest.mark.parametrize("key", [OTHER_RSA, NEXT_RSA], ids=["same", "next"])
    def test_oidcc_client_test_signing_key_rotation(self, world, suite, key):
        """Between two sign-ins the provider signs with another key, by another name or the same."""
        accepts(world, suite)
        publish(suite, key)
        sign(suite, key, alg="RS256", kid=key.kid)

        accepts(world, suite)

    def test_oidcc_client_test_signing_key_rotation_just_before_signing(self, world, suite):
        """The key is not published until the token request."""
        accepts(world, suite)
        sign(suite, NEXT_RSA, alg="RS256", kid="next")
        signed = suite.sign

        def rotated(claims: dict[str, Any]) -> str:
            publish(suite, RSA, NEXT_RSA)
            return str(signed(claims))

        suite.sign = rotated
        accepts(world, suite)


def _unsigned(claims: dict[str, Any]) -> str:
    parts = [json.dumps({"alg": "none"}), json.dumps(claims)]
    encoded = [base64.urlsafe_b64encode(part.encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, ""])
