"""A provider of one tenant fills neither the memory of workers nor the places of other tenants."""

import time
from typing import Any

import orjson
import pytest
from joserfc.jwk import ECKey, RSAKey

from identity.core import tenancy
from identity.core.tenancy import ActiveTenant
from interaction.connectors import provider_keys, relying_party
from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import web
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Config, Endpoints
from interaction.connectors.tenant_cache import TenantCache
from tests.support import openid
from tests.support.openid import OpenIDProvider
from tests.support.providers import answer
from tests.support.social import came, connect
from tests.support.social_pages import ADA, entry

KEY = ECKey.generate_key("P-256", {"kid": "one"})
VICTIM, ATTACKER = ActiveTenant("victim", "victim"), ActiveTenant("attacker", "attacker")


@pytest.fixture
def provider():
    with openid.provider() as running:
        running.key = KEY
        running.publish()
        yield running


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """No window of time ends during a test of this process."""
    for module in (provider_keys, relying_party):
        module._cache.clear()
        monkeypatch.setattr(module, "get_time_window", lambda seconds: seconds)


def published(key: Any = KEY, **members: Any) -> dict[str, Any]:
    return {**key.as_dict(private=False), **members}


def keys(number: int) -> list[dict[str, Any]]:
    """A set of this many keys, whose last is the provider's."""
    return [*(published(kid=f"other-{n}") for n in range(number - 1)), published()]


def comes_in(world: Any, provider: OpenIDProvider, key_list: list[Any]) -> bool:
    provider.web.answers["/jwks"] = answer(200, {"keys": key_list})
    connect(world, provider.config)
    return bool(came(world.browser(), provider, **ADA).status_code == 303)


@pytest.mark.parametrize(
    "key_list",
    [
        [published(j=[[]] * 30_000)],
        [published(x5c=["x" * 65_536])],
        [published(x="x" * 65_536), published()],
        keys(51),
        [1] * 50 + [published()],
    ],
    ids=["unknown member", "certificate", "key", "51 keys", "50 others"],
)
def test_a_key_set_that_is_too_large_is_refused(acme, provider, key_list):
    assert not comes_in(acme, provider, key_list)
    payload = entry(acme).payload
    assert (payload["error"], payload["reason"]) == ("provider_failed", "answer")


@pytest.mark.parametrize(
    "key_list",
    [
        keys(50),
        [published(kid="other", x5c=["x" * 8_000], x5t="x"), *keys(10)],
        [published(kid="other", x5c=5), published(x5c=5)],
    ],
    ids=["50 keys", "certificates", "malformed certificates"],
)
def test_a_key_set_of_usual_size_is_accepted(acme, provider, key_list):
    assert comes_in(acme, provider, key_list)


def test_only_the_members_that_are_needed_are_kept(monkeypatch):
    rsa = RSAKey.generate_key(2048, {"kid": "rsa"})
    waste = {"j": [[]] * 100, "x5c": ["x"], "x5t": "x", "d": "AQ", "p": "x"}
    document = {"keys": [published(use="sig", key_ops=["verify"], **waste), published(rsa, **waste)]}
    monkeypatch.setattr(web, "get", lambda _: web.Response(200, orjson.dumps(document)))

    found = provider_keys._fetch_keys("https://example.com")

    assert [set(key.members) for key in found] == [
        {"kty", "kid", "crv", "x", "y", "use", "key_ops"},
        {"kty", "kid", "n", "e"},
    ]
    assert [key.key.dict_value for key in found] == [key.members for key in found]


@pytest.mark.parametrize(
    "name", ["jwks_uri", "token_endpoint", "authorization_endpoint", "userinfo_endpoint"]
)
def test_a_long_address_is_refused(acme, provider, name):
    connect(acme, provider.config)
    provider.publish(**{name: f"{provider.issuer}/".ljust(2_049, "x")})
    too_long = acme.browser().get("/social/oidc").status_code
    provider.publish(**{name: f"{provider.issuer}/".ljust(2_048, "x")})
    long = acme.browser().get("/social/oidc").status_code

    assert (too_long, long) == (502, 303)


class Forged:
    """A token that no key has signed, and the requests that its verification causes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        header = {"alg": "ES256", "kid": "none"}
        self.token = OpenIDProvider(None, KEY).signed({}, **header)  # type: ignore[arg-type]  # unused
        monkeypatch.setattr(web, "get", self._get)

    def _get(self, url: str) -> web.Response:
        self.asked.append(url)
        return web.Response(200, b'{"keys": []}')

    def verify(self, tenant: ActiveTenant, url: str) -> None:
        with tenancy.using(tenant), pytest.raises(ProviderError, match="no key"):
            provider_keys.verify(self.token, url)


def test_key_sets_of_a_tenant_replace_none_of_another(monkeypatch):
    forged = Forged(monkeypatch)
    forged.verify(VICTIM, "https://victim.example")
    for number in range(300):
        forged.verify(ATTACKER, f"https://{number}.example")
    forged.asked.clear()

    forged.verify(VICTIM, "https://victim.example")
    forged.verify(ATTACKER, "https://0.example")

    assert set(forged.asked) == {"https://0.example"}


def test_endpoints_of_a_tenant_replace_none_of_another(monkeypatch):
    provider: Any = registry.find("oidc")
    asked: list[str] = []

    def discover(_: Any, config: Config) -> Endpoints:
        asked.append(config["issuer"])
        return Endpoints(authorization=config["issuer"], token="")

    def get(tenant: ActiveTenant, issuer: str) -> None:
        with tenancy.using(tenant):
            assert relying_party.get_endpoints(provider, {"issuer": issuer}).authorization == issuer

    monkeypatch.setattr(type(provider), "endpoints", discover)
    get(VICTIM, "victim")
    for number in range(300):
        get(ATTACKER, str(number))
    asked.clear()
    get(VICTIM, "victim")
    get(ATTACKER, "0")

    assert asked == ["0"]


class TestTenantCache:
    def read(self, cache: TenantCache[str, float], key: str, window: int = 1, tenant: str = "a") -> float:
        with tenancy.using(ActiveTenant(tenant, tenant)):
            return cache.get(key, window, time.perf_counter)

    def test_a_tenant_keeps_the_eight_values_that_it_used_last(self):
        cache = TenantCache[str, float]()
        before = {key: self.read(cache, key) for key in "12345678"}
        self.read(cache, "1")

        self.read(cache, "9")

        kept = {key: self.read(cache, key) for key in "1345678"}
        assert kept.items() <= before.items()
        assert self.read(cache, "2") != before["2"]

    def test_the_tenants_that_used_it_last_are_kept(self):
        cache = TenantCache[str, float]()
        before = {tenant: self.read(cache, "1", tenant=str(tenant)) for tenant in range(256)}
        self.read(cache, "1", tenant="0")

        self.read(cache, "1", tenant="256")

        assert self.read(cache, "1", tenant="0") == before[0]
        assert self.read(cache, "1", tenant="2") == before[2]
        assert self.read(cache, "1", tenant="1") != before[1]

    def test_tenants_share_no_value(self):
        cache = TenantCache[str, float]()

        assert self.read(cache, "1") != self.read(cache, "1", tenant="b")

    def test_values_without_a_tenant_are_those_of_the_installation(self):
        cache = TenantCache[str, float]()
        before = cache.get("1", 1, time.perf_counter)

        for number in range(20):
            self.read(cache, str(number))

        assert cache.get("1", 1, time.perf_counter) == before

    def test_a_value_of_an_earlier_window_is_replaced(self):
        cache = TenantCache[str, float]()

        first, again, later = (self.read(cache, "1", window) for window in (1, 1, 2))

        assert first == again != later

    def test_an_error_is_not_kept(self):
        cache = TenantCache[str, Any]()
        with tenancy.using(VICTIM), pytest.raises(ValueError, match="invalid literal"):
            cache.get("1", 1, lambda: int("x"))

        assert self.read(cache, "1") > 0
