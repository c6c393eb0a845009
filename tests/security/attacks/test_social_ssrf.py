"""Addresses of our own network, as where a connector or its provider may want us to go.

The list of what is tried comes from the providers' own declarations, so that a new field cannot be
forgotten. Nothing may be connected to: an audit hook sees every connection that Python makes.
"""

import dataclasses
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from identity.core.errors import ServiceError
from interaction.connectors import configs, provider_keys, relying_party
from interaction.connectors import services as connectors
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import new_test_email, new_test_sms
from interaction.connectors.outbound import web
from interaction.connectors.providers import oauth, registry, rules
from interaction.connectors.providers.base import CaptchaProvider, Endpoints, Field, Sender, TokenResponse
from interaction.connectors.providers.base import Type as Kind
from tests.support import providers
from tests.support.management import superuser
from tests.support.providers import answer

REFUSED = [
    # This machine, as many ways as there are to write it.
    "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "127.255.255.254", "0177.0.0.1", "0x7f.0.0.1",
    "0x7f000001", "2130706433", "017700000001", "localhost", "LOCALHOST", "localhost.",
    "\uff11\uff12\uff17.\uff10.\uff10.\uff11", "127\u30020\u30020\u30021", "\u24dbocalhost",
    "0.0.0.0", "0", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",  # noqa: S104 - nobody binds to it
    "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[2002:7f00:1::]", "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]", "[2001:0:7f00:1::80ff:fffe]", "[fe80::1%lo]",
    # Networks behind a firewall, and what clouds tell their machines.
    "10.0.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.1", "[fc00::1]", "[fec0::1]", "[fe80::1]",
    "169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "100.100.100.200",
    "168.63.129.16", "192.0.0.192", "[fd00:ec2::254]",
    # What belongs to nobody on the internet.
    "192.88.99.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "[ff02::1]", "[2001:db8::1]", "[3fff::1]", "[3fff:fff::1]", "[100::1]",
    "[5f00::1]", "[2001:2::1]", "[2001:10::1]",
]  # fmt: skip
WITH_USER_INFO = ["93.184.215.14@127.0.0.1", "93.184.215.14\\@127.0.0.1", "93.184.215.14#@127.0.0.1"]

_attempts: list[Any] | None = None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _attempts is not None and event == "socket.connect":
        _attempts.append(arguments[1])
        raise ConnectionRefusedError("the test lets nothing through")


@pytest.fixture(scope="module", autouse=True)
def hook() -> None:
    """Audit hooks stay for the life of the process; this one sleeps outside of its tests."""
    sys.addaudithook(_watch)


@contextmanager
def watched() -> Iterator[list[Any]]:
    """Yield where somebody tried to connect to."""
    global _attempts  # noqa: PLW0603 - a hook has no other memory
    _attempts = []
    try:
        yield _attempts
    finally:
        _attempts = None


@pytest.fixture
def production(settings: Any, acme: Any) -> Iterator[None]:
    """As in production, inside a tenant."""
    settings.DEVELOPMENT = False
    settings.OUTBOUND_PRIVATE_HOSTS = set()
    with acme.active():
        yield


@dataclasses.dataclass
class Listener:
    """A server on this machine that must never be spoken to."""

    port: int
    connections: int = 0


@pytest.fixture
def listener() -> Iterator[Listener]:
    sockets = [socket.create_server(("127.0.0.1", 0))]
    found = Listener(sockets[0].getsockname()[1])
    with suppress(OSError):
        sockets.append(socket.create_server(("::1", found.port), family=socket.AF_INET6))

    def accept(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                server.accept()[0].close()
                found.connections += 1

    threads = [threading.Thread(target=accept, args=(server,), daemon=True) for server in sockets]
    for thread in threads:
        thread.start()
    yield found
    for server in sockets:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


# ── What is tried, out of the declarations ──────────────────────────────────────────────────────────────────

_URLS = {rules.https_url, rules.issuer}
_NO_ADDRESS = {rules.url_safe, rules.aws_region, rules.port, None}


def fields() -> list[tuple[Any, Field]]:
    """Every field of every provider that says where we connect to."""
    return [
        (provider, field)
        for provider in registry.PROVIDERS
        for field in provider.fields
        if field.rule in {*_URLS, rules.host}
    ]


def named(one: Any) -> str:
    """The name of a provider or a field, for the name of a test."""
    return str(getattr(one, "connector_id", None) or one.name)


def test_every_field_that_decides_where_we_connect_to_is_known_here():
    """A new kind of field has to be thought about: add its rule above, and how it is attacked."""
    for provider in registry.PROVIDERS:
        for field in provider.fields:
            if field.rule in {*_URLS, rules.host}:
                assert field.destination, f"{provider.connector_id}.{field.name} has to be a destination"
            elif field.destination:
                assert field.rule in _NO_ADDRESS, f"{provider.connector_id}.{field.name}"
    assert fields()


def test_every_address_that_a_provider_names_is_known_here():
    fetched = {field.name for field in dataclasses.fields(Endpoints) if field.type in {str, "str"}}

    # The browser goes to the first; the issuer is compared and not fetched from after discovery.
    assert fetched - {"authorization", "issuer"} == set(FETCHED)


def config_of(provider: Any, **given: Any) -> dict[str, Any]:
    """A configuration that lacks nothing."""
    filled: dict[str, Any] = {}
    for field in provider.fields:
        if field.required:
            filled[field.name] = {
                rules.https_url: "https://93.184.215.14/", rules.issuer: "https://93.184.215.14",
                rules.host: "93.184.215.14", rules.email: "a@example.com", rules.domain: "example.com",
                rules.aws_region: "eu-central-1",
            }.get(field.rule, "x")  # fmt: skip
    return filled | given


def use(provider: Any, config: dict[str, Any]) -> None:
    """Do with a configuration all that a connector does.

    Raises:
        ServiceError: the configuration is refused.
        ProviderError: we do not go there.

    """
    whole = configs.with_defaults(provider, configs.validate(provider, config))
    if isinstance(provider, Sender):
        message = (
            new_test_email("a@example.com") if provider.type == Kind.EMAIL else new_test_sms("+15550100123")
        )
        provider.send(whole, message)
    elif isinstance(provider, CaptchaProvider):
        provider.test_secret(whole)
    else:
        relying_party._cache.clear()
        provider.test(whole, "https://us.example/social/callback/1")
        endpoints = relying_party.get_endpoints(provider, whole)
        provider.profile(whole, endpoints, TokenResponse("x", {}))


def value_for(field: Field, host: str, port: int) -> str:
    return f"https://{host}:{port}" if field.rule in _URLS else host.strip("[]")


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize(
    ("provider", "field"), fields(), ids=lambda one: getattr(one, "connector_id", None) or one.name
)
def test_no_configured_address_leads_into_our_network(provider, field, listener):
    reached = []
    for host in [*REFUSED, *(WITH_USER_INFO if field.rule in _URLS else [])]:
        given: dict[str, Any] = {field.name: value_for(field, host, listener.port)}
        if field.rule is rules.host:
            given["port"] = listener.port
        with watched() as attempts:
            try:
                use(provider, config_of(provider, **given))
            except (ServiceError, ProviderError):
                pass
            else:
                reached.append((host, "no refusal"))
        # Other fields of the configuration name a public address, which is let through to the hook.
        reached += [(host, to) for to in attempts if to[0] != "93.184.215.14"]

    assert reached == []
    assert listener.connections == 0


FETCHED: dict[str, Callable[[str], Any]] = {
    "token": lambda url: oauth.exchange(
        Endpoints(authorization="", token=url), {"client_id": "x", "client_secret": "y"}, code="c",
        verifier="v", redirect_uri="https://us.example/",
    ),
    "userinfo": lambda url: oauth.get_with_token(url, "token"),
    "jwks": provider_keys._fetch_keys,
}  # fmt: skip


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize("name", FETCHED)
def test_no_address_that_a_provider_names_leads_into_our_network(name, listener):
    for host in [*REFUSED, *WITH_USER_INFO]:
        with watched() as attempts, pytest.raises(ProviderError):
            FETCHED[name](f"https://{host}:{listener.port}/")
        assert attempts == [], host

    assert listener.connections == 0


# ── Names ───────────────────────────────────────────────────────────────────────────────────────────────────


class Resolver:
    """A name server of the attacker's: each question is answered with the next list of addresses."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    def __call__(self, host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        kinds = [socket.AF_INET6 if ":" in ip else socket.AF_INET for ip in found]
        ends = [(ip, port, 0, 0) if ":" in ip else (ip, port) for ip in found]
        return [(kind, socket.SOCK_STREAM, 6, "", end) for kind, end in zip(kinds, ends, strict=True)]


LITERALS = [
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "::ffff:10.0.0.1",
    "fd00:ec2::254",
    "3fff::1",
    "192.88.99.1",
]


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize("ip", LITERALS)
@pytest.mark.parametrize("others", [[], ["93.184.215.14"]], ids=["alone", "beside a public one"])
def test_no_name_leads_into_our_network(monkeypatch, ip, others):
    monkeypatch.setattr(socket, "getaddrinfo", Resolver([*others, ip]))

    with watched() as attempts, pytest.raises(ProviderError):
        web.get("https://attacker.example/")

    assert attempts == []


@pytest.mark.usefixtures("production")
def test_a_name_that_changes_its_mind_is_not_asked_again(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["93.184.215.14"], ["127.0.0.1"]))

    with watched() as attempts, pytest.raises(ProviderError):
        web.get("https://attacker.example/")

    assert {address[0] for address in attempts} == {"93.184.215.14"}


def test_no_redirect_leads_anywhere(settings, listener):
    settings.DEVELOPMENT = True
    with providers.web_provider() as web_provider:
        for status in (301, 302, 303, 307, 308):
            web_provider.answers["/"] = answer(status, Location=f"http://127.0.0.1:{listener.port}/")
            assert web.get(web_provider.address).status == status

    assert listener.connections == 0


# ── Over HTTP, at the server as it runs in production ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("provider", "field"), fields(), ids=lambda one: getattr(one, "connector_id", None) or one.name
)
def test_the_test_of_a_connector_does_not_reach_our_network(acme, provider, field, listener):
    given: dict[str, Any] = {field.name: value_for(field, "127.0.0.1", listener.port)}
    if field.rule is rules.host:
        given["port"] = listener.port
    with acme.active():
        made = connectors.create(
            connector_id=provider.connector_id,
            type=provider.type,
            config=config_of(provider, **given),
            is_proven=True,
        )
    to = "a@example.com" if provider.type == Kind.EMAIL else "+15550100123"

    refused = superuser(acme).post(
        f"/connectors/{made.pk}/test", **({"to": to} if isinstance(provider, Sender) else {})
    )

    assert refused.status_code == 400, refused.text
    assert listener.connections == 0
