"""What a provider says is not believed before it is checked."""

import base64
import json
from typing import Any

import httpx
import pytest
from joserfc.jwk import ECKey, OctKey

from interaction.social.models import SocialAttempt
from tests.support import openid
from tests.support.cast import Browser, World, query_of
from tests.support.providers import answer
from tests.support.social import away, back, came, connect
from tests.support.social_pages import (
    ADA,
    NOBODY,
    NOT_BELIEVED,
    Refusal,
    count_arrivals,
    entry,
    find_refusal,
    only_user,
)

pytestmark = pytest.mark.usefixtures("development")


def unsigned(claims: dict[str, Any]) -> str:
    parts = [json.dumps({"alg": "none", "kid": "one"}), json.dumps(claims)]
    encoded = [base64.urlsafe_b64encode(part.encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, ""])


OTHER_KEY = ECKey.generate_key("P-256", {"kid": "one"})
UNKNOWN_KEY = ECKey.generate_key("P-256", {"kid": "two"})
SHARED = OctKey.import_key("our-secret-there-our-secret-there")
FORGED: dict[str, Any] = {
    "none": lambda _, claims: unsigned(claims),
    "another key of that name": lambda provider, claims: provider.signed(claims, OTHER_KEY),
    "a key that is not published": lambda provider, claims: provider.signed(claims, UNKNOWN_KEY, kid="two"),
    "a shared secret": lambda provider, claims: provider.signed(claims, SHARED, alg="HS256"),
    "the key that it brings": lambda provider, claims: provider.signed(
        claims, OTHER_KEY, jwk=OTHER_KEY.as_dict(private=False)
    ),
    "altered": lambda provider, claims: provider.signed(claims)[:-4] + "AAAA",
    "four parts": lambda provider, claims: provider.signed(claims) + ".x",
    "long": "x" * 70_000,
    "short": "a.b.c",
    "empty": "",
    "letters": "\u00e4.\u00e4.\u00e4",
}


class TestDistrust:
    """Whatever a provider, or who stands in for it, sends: nobody is signed in and nothing breaks."""

    def refuses(self, world: World, browser: Browser, page: httpx.Response) -> None:
        assert find_refusal(page, NOT_BELIEVED) == Refusal(502)
        assert count_arrivals(world, browser) == NOBODY
        payload = entry(world).payload
        assert (payload["result"], payload["error"]) == ("failed", "provider_failed")

    @pytest.mark.parametrize(
        "lie",
        [
            {"nonce": "another"},
            {"nonce": None},
            {"nonce": ["x"]},
            {"iss": "https://accounts.evil.example"},
            {"iss": None},
            {"iss": 1},
            {"aud": "another client"},
            {"aud": ["another", "client"]},
            {"aud": None},
            {"aud": ["our-id", "another"]},  # and no azp
            {"azp": "another client"},
            {"exp": 1},
            {"exp": None},
            {"exp": "tomorrow"},
            {"exp": 1e400},
            {"iat": None},
            {"iat": 99999999999},
            {"nbf": 99999999999},
            {"sub": None},
            {"sub": ""},
            {"sub": ["ada-1"]},
            {"sub": "a\u0000b"},
            {"sub": "x" * 256},
            {"at_hash": "wrong"},
            {"at_hash": ["wrong"]},
        ],
        ids=str,
    )
    def test_a_claim_that_is_wrong(self, acme, provider, lie):
        connect(acme, provider.config)
        provider.lie = lie
        browser = acme.browser()

        page = came(browser, provider, **ADA)

        self.refuses(acme, browser, page)

    @pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
    def test_a_signature_that_is_wrong(self, acme, provider, forged):
        connect(acme, provider.config)
        provider.sign = lambda claims: forged(provider, claims) if callable(forged) else forged
        browser = acme.browser()

        page = came(browser, provider, **ADA)

        self.refuses(acme, browser, page)

    @pytest.mark.parametrize(
        "said",
        [
            answer(500, {"access_token": "x"}),
            answer(302, {}, Location="/elsewhere"),
            answer(200, []),
            answer(200, None),
            answer(200, {}),
            answer(200, {"error": "invalid_grant"}),
            answer(200, {"access_token": 1, "id_token": "x"}),
            answer(200, {"access_token": "a\nb", "id_token": "x"}),
            answer(200, {"access_token": "x"}),
            answer(200, {"access_token": "x", "id_token": None}),
            answer(200, {"access_token": "x", "id_token": {"sub": "ada"}}),
            (200, {}, b"<html>"),
            (200, {}, b"\xff\xfe"),
            (200, {}, b"[" * 100_000),
            (200, {}, b"x" * 2_000_000),
        ],
    )
    def test_garbage_from_the_token_endpoint(self, acme, provider, said):
        connect(acme, provider.config)
        provider.web.answers["/token"] = said
        browser = acme.browser()

        page = came(browser, provider)

        self.refuses(acme, browser, page)

    @pytest.mark.parametrize(
        "said",
        [
            answer(404, {}),
            answer(200, {}),
            answer(200, {"keys": "x"}),
            answer(200, {"keys": []}),
            answer(200, {"keys": [1, None, {}, {"kty": "EC"}, {"kty": "oct", "k": "eA", "kid": "one"}]}),
        ],
    )
    def test_garbage_instead_of_keys(self, acme, provider, said):
        connect(acme, provider.config)
        provider.web.answers["/jwks"] = said
        browser = acme.browser()

        self.refuses(acme, browser, came(browser, provider, **ADA))

    def test_userinfo_of_somebody_else(self, acme, provider):
        connect(acme, provider.config)
        provider.web.answers["/userinfo"] = answer(200, {"sub": "eve", **ADA})
        browser = acme.browser()

        self.refuses(acme, browser, came(browser, provider))

    def test_userinfo_that_fails_costs_the_address_only(self, acme, provider):
        connect(acme, provider.config)
        provider.web.answers["/userinfo"] = answer(500, {"sub": "ada-1", **ADA})

        came(acme.browser(), provider)

        assert only_user(acme).email == ""

    def test_a_new_key_is_fetched_when_it_is_met(self, acme, provider):
        connect(acme, provider.config)
        came(acme.browser(), provider)
        provider.key = UNKNOWN_KEY
        provider.publish()
        provider.sign = lambda claims: provider.signed(claims, kid="two")

        answer = came(acme.browser(), provider)

        assert answer.status_code == 303

    def test_an_answer_of_another_issuer(self, acme, provider):
        """RFC 9207: a provider must not get us to hand it a code that another gave."""
        connect(acme, provider.config)
        browser = acme.browser()
        query = provider.approve(away(browser)) | {"iss": "https://honest.example"}

        page = back(browser, query)

        self.refuses(acme, browser, page)
        assert query["code"] in provider.codes

    def test_an_answer_without_the_issuer_that_was_promised(self, acme, provider):
        provider.publish(authorization_response_iss_parameter_supported=True)
        connect(acme, provider.config)
        browser = acme.browser()
        query = provider.approve(away(browser))
        del query["iss"]

        self.refuses(acme, browser, back(browser, query))

    def test_a_code_of_somebody_elses_trip(self, acme, provider):
        """PKCE and nonce: an attacker's code in a victim's answer is worth nothing, and the reverse."""
        connect(acme, provider.config)
        eve, ada = acme.browser(), acme.browser()
        stolen = provider.approve(away(eve), sub="eve")
        query = provider.approve(away(ada), sub="ada") | {"code": stolen["code"]}

        self.refuses(acme, ada, back(ada, query))

    def test_a_provider_that_is_not_there(self, acme):
        connect(acme, openid.CLIENT | {"issuer": "http://127.0.0.1:9"})
        client, browser = acme.application(), acme.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]

        page = browser.get("/social/oidc", params={"interaction": interaction})

        self.refuses(acme, browser, page)
        assert f"/sign-in?interaction={interaction}" in page.text
        assert entry(acme).application_id == str(client.application.pk)
        with acme.active():
            assert not SocialAttempt.objects.exists()

    def test_a_provider_in_our_own_network_is_not_spoken_to(self, rival, provider, address):
        """In production: the address of the connector is checked when it is called, too."""
        world = World(rival.tenant, f"{address}/t/{rival.tenant.slug}")
        connect(rival, openid.CLIENT | {"issuer": "https://127.0.0.1"})

        page = world.browser().get("/social/oidc")

        assert find_refusal(page, NOT_BELIEVED) == Refusal(502)
        assert provider.web.asked == []
