"""Which key verifies an ID token, and the reason that the log has when an answer of a provider is refused."""

import json
import time
from typing import Any, Final

import pytest
from django.conf import settings
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from tests.support import openid
from tests.support.openid import OpenIDProvider
from tests.support.providers import answer
from tests.support.social import away, back, came, connect
from tests.support.social_pages import ADA, entry

pytestmark = pytest.mark.usefixtures("development")

EC = [ECKey.generate_key("P-256", {"kid": f"ec-{number}"}) for number in range(3)]
P384 = ECKey.generate_key("P-384", {"kid": "p-384"})
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})


def published(key: Any, **members: Any) -> dict[str, Any]:
    """A key as a provider publishes it; a member that is None is left out."""
    told = key.as_dict(private=False) | members
    return {name: value for name, value in told.items() if value is not None}


def publish(provider: OpenIDProvider, *keys: dict[str, Any]) -> None:
    provider.web.answers["/jwks"] = answer(200, {"keys": list(keys)})


def sign(provider: OpenIDProvider, key: Any, *, alg: str = "ES256", kid: str | None = None) -> None:
    header = {"alg": alg} | ({"kid": kid} if kid else {})
    provider.sign = lambda claims: jws.serialize_compact(header, json.dumps(claims), key, [alg])


def comes_in(world: Any, provider: OpenIDProvider) -> bool:
    return bool(came(world.browser(), provider, **ADA).status_code == 303)


def reason(world: Any) -> str:
    payload = entry(world).payload
    assert (payload["result"], payload["error"]) == ("failed", "provider_failed")
    return str(payload["reason"])


def fetches(provider: OpenIDProvider) -> int:
    return sum(asked.path == "/jwks" for asked in provider.web.asked)


class TestATokenWithoutAKeyId:
    @pytest.mark.parametrize(
        "others",
        [
            [],
            [published(RSA)],
            [published(P384)],
            [published(EC[1], alg="ES384")],
            [published(EC[1], use="enc")],
            [{"kty": "oct", "k": "eA"}, {"kty": "EC"}],
        ],
    )
    @pytest.mark.parametrize("members", [{"kid": None}, {"kid": "any"}, {"alg": "ES256", "use": "sig"}])
    def test_decision_Q17_is_verified_by_the_only_key_that_fits(self, acme, provider, others, members):
        connect(acme, provider.config)
        publish(provider, *others, published(EC[0], **members))
        sign(provider, EC[0])

        assert comes_in(acme, provider)

    @pytest.mark.parametrize("alg", ["RS256", "PS256"])
    def test_decision_Q17_of_rsa_is_verified_by_the_only_rsa_key(self, acme, provider, alg):
        connect(acme, provider.config)
        publish(provider, published(EC[0]), published(RSA))
        sign(provider, RSA, alg=alg)

        assert comes_in(acme, provider)

    def test_decision_Q17_is_refused_if_several_keys_fit(self, acme, provider):
        connect(acme, provider.config)
        publish(provider, published(EC[0]), published(EC[1]))
        sign(provider, EC[0])

        assert not comes_in(acme, provider)
        assert reason(acme) == "several_keys"

    def test_decision_Q17_is_refused_if_no_key_fits(self, acme, provider):
        connect(acme, provider.config)
        publish(provider, published(RSA), published(EC[0], use="enc"))
        sign(provider, EC[0])

        assert not comes_in(acme, provider)
        assert reason(acme) == "no_such_key"


class TestAKeyId:
    @pytest.mark.parametrize("members", [{"kid": "another"}, {"kid": None}, {"kid": None, "use": "sig"}])
    def test_decision_Q17_that_names_no_key_is_refused_though_one_would_verify(self, acme, provider, members):
        connect(acme, provider.config)
        publish(provider, published(EC[0], **members))
        sign(provider, EC[0], kid=EC[0].thumbprint())

        assert not comes_in(acme, provider)
        assert reason(acme) == "no_such_key"

    def test_decision_Q17_that_two_keys_have_means_the_one_that_fits(self, acme, provider):
        connect(acme, provider.config)
        publish(provider, published(RSA, kid="x"), published(EC[0], kid="x"))
        sign(provider, EC[0], kid="x")

        assert comes_in(acme, provider)


class TestAKeptSet:
    """It was fetched for somebody who signed in before."""

    def begin(self, world: Any, provider: OpenIDProvider, *keys: dict[str, Any]) -> None:
        connect(world, provider.config)
        publish(provider, *keys)
        sign(provider, EC[0], kid="ec-0")
        assert comes_in(world, provider)
        assert fetches(provider) == 1

    @pytest.mark.parametrize(
        ("keys", "kid"),
        [
            ([published(EC[1])], "ec-1"),  # an unknown id
            ([published(EC[1], kid="ec-0")], "ec-0"),  # another key of the same name
        ],
    )
    def test_decision_Q17_is_fetched_once_more(self, acme, provider, keys, kid):
        self.begin(acme, provider, published(EC[0]))
        publish(provider, *keys)
        sign(provider, EC[1], kid=kid)

        assert comes_in(acme, provider)
        assert fetches(provider) == 2

    def test_decision_Q17_is_fetched_once_more_if_none_fits_without_an_id(self, acme, provider):
        self.begin(acme, provider, published(EC[0]))
        publish(provider, published(RSA))
        sign(provider, RSA, alg="RS256")

        assert comes_in(acme, provider)
        assert fetches(provider) == 2

    def test_decision_Q17_is_not_fetched_for_each_forged_token(self, acme, provider):
        self.begin(acme, provider, published(EC[0]))
        sign(provider, EC[1], kid="ec-0")

        for _ in range(5):
            assert not comes_in(acme, provider)

        assert reason(acme) == "signature"
        assert fetches(provider) <= 3  # within ten seconds once, and the seconds may pass

    def test_decision_Q17_is_not_fetched_again_for_an_algorithm_that_is_never_accepted(self, acme, provider):
        self.begin(acme, provider, published(EC[0]))
        provider.sign = lambda claims: "eyJhbGciOiJub25lIn0." + provider.signed(claims).split(".")[1] + "."

        assert not comes_in(acme, provider)
        assert (reason(acme), fetches(provider)) == ("signature", 1)


CLAIMS: Final[dict[str, list[dict[str, Any]]]] = {
    "issuer": [{"iss": "https://evil.example"}, {"iss": 1}],
    "audience": [{"aud": "another"}, {"aud": ["another", "client"]}, {"azp": "another"}],
    "nonce": [{"nonce": "another"}],
    "expired": [{"exp": 1}],
    "missing_claim": [
        {"sub": None},
        {"iss": None},
        {"aud": None},
        {"exp": None},
        {"iat": None},
        {"nonce": None},
    ],
    "answer": [{"exp": "tomorrow"}, {"at_hash": "wrong"}, {"sub": "a\u0000b"}, {"iat": 99999999999}],
}


class TestTheReason:
    @pytest.mark.parametrize(
        ("expected", "lie"), [(name, lie) for name, lies in CLAIMS.items() for lie in lies], ids=str
    )
    def test_decision_Q18_of_a_claim(self, acme, provider, expected, lie):
        connect(acme, provider.config)
        provider.lie = lie

        assert not comes_in(acme, provider)
        assert reason(acme) == expected

    def test_decision_Q18_of_a_signature(self, acme, provider):
        connect(acme, provider.config)
        sign(provider, EC[0], kid="one")

        assert not comes_in(acme, provider)
        assert reason(acme) == "signature"

    @pytest.mark.parametrize(
        ("expected", "said"),
        [
            ("code_refused", answer(400, {"error": "invalid_grant"})),
            ("code_refused", answer(401, {"error": "invalid_client"})),
            ("code_refused", answer(200, {"error": "bad_verification_code"})),
            ("answer", answer(500, {})),
            ("answer", answer(200, {"access_token": "x"})),
            ("answer", answer(200, {"access_token": "x", "id_token": "a.b.c"})),
            ("answer", (200, {}, b"<html>")),
        ],
    )
    def test_decision_Q18_of_the_token_endpoint(self, acme, provider, expected, said):
        connect(acme, provider.config)
        provider.web.answers["/token"] = said

        assert not comes_in(acme, provider)
        assert reason(acme) == expected

    def test_decision_Q18_of_an_answer_by_another_issuer(self, acme, provider):
        connect(acme, provider.config)
        browser = acme.browser()

        back(browser, provider.approve(away(browser)) | {"iss": "https://honest.example"})

        assert reason(acme) == "issuer"

    def test_decision_Q18_of_a_discovery_document_of_another_issuer(self, acme, provider):
        provider.publish(issuer="https://another.example")
        connect(acme, provider.config)

        assert acme.browser().get("/social/oidc").status_code == 502
        assert reason(acme) == "issuer"

    def test_decision_Q18_of_a_provider_that_is_not_there(self, acme):
        connect(acme, openid.CLIENT | {"issuer": "http://127.0.0.1:9"})

        assert acme.browser().get("/social/oidc").status_code == 502
        assert reason(acme) == "unreachable"

    def test_decision_Q18_of_a_provider_that_takes_too_long(self, acme, provider):
        connect(acme, provider.config)

        def late(_: object) -> Any:
            time.sleep(5.5)
            return answer(200, {})

        provider.web.answers["/token"] = late

        assert not comes_in(acme, provider)
        assert reason(acme) == "timed_out"

    def test_decision_Q18_is_in_the_server_s_log(self, acme, provider):
        connect(acme, provider.config)
        provider.lie = {"nonce": "another"}
        log = settings.VAR / "server.log"
        before = log.stat().st_size

        came(acme.browser(), provider, **ADA)

        assert b"a sign-in at a provider failed (nonce)" in log.read_bytes()[before:]
