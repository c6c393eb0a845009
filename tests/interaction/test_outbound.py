"""Outbound connections: who may be spoken to, for how long and how much."""

import socket
import socketserver
import ssl
import time
from typing import Any

import pytest

from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import addresses, web
from tests.support import providers
from tests.support.providers import answer

PRIVATE = [
    "127.0.0.1",
    "localhost",
    "localhost.",
    "0x7f000001",
    "2130706433",
    "127.1",
    "0.0.0.0",  # noqa: S104
    "10.0.0.1",
    "172.16.3.4",
    "192.168.1.1",
    "100.100.100.200",
    "169.254.169.254",
    "168.63.129.16",
    "224.0.0.1",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::",
    "::127.0.0.1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("host", PRIVATE)
def test_a_private_address_is_refused_before_connecting(settings, connections, host):
    settings.DEVELOPMENT = False
    literal = f"[{host}]" if ":" in host else host

    with pytest.raises(addresses.NotPublic):
        web.get(f"https://{literal}/")
    with pytest.raises(addresses.NotPublic):
        addresses.connect(host, 25)

    assert connections == []


@pytest.mark.parametrize("host", ["169.254.169.254", "fe80::1", "0.0.0.0", "168.63.129.16", "ff02::1"])  # noqa: S104
def test_not_even_development_reaches_metadata(development, host):
    with pytest.raises(addresses.NotPublic):
        addresses.resolve(host, 80)


def test_a_name_with_one_private_address_is_refused(settings, connections, monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in ("93.184.215.14", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)

    with pytest.raises(addresses.NotPublic):
        web.get("https://rebinding.example/")
    assert connections == []


def test_a_name_is_resolved_once_and_connected_to_by_that_address(monkeypatch, connections):
    answers = [
        [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", 443))],
        [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 443))],
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers.pop(0))

    with pytest.raises(ProviderError):
        web.get("https://rebinding.example/")

    assert connections == [("93.184.215.14", 443)]


def test_the_operator_may_list_hosts_that_are_private(settings):
    settings.DEVELOPMENT = False
    settings.OUTBOUND_PRIVATE_HOSTS = {"127.0.0.1"}

    assert addresses.resolve("127.0.0.1", 25)
    with pytest.raises(addresses.NotPublic):
        addresses.resolve("127.0.0.2", 25)


def test_plain_http_reaches_loopback_in_development_only(web_provider, settings):
    web_provider.answers["/"] = answer(200, {"hello": "there"})
    assert web.get(web_provider.address).json() == {"hello": "there"}

    with pytest.raises(ProviderError, match="requires https"):
        web.get("http://93.184.215.14/")
    settings.DEVELOPMENT = False
    with pytest.raises(ProviderError, match="must be an https URL"):
        web.get(web_provider.address)


def test_the_trusted_certificates_are_read_at_most_once(monkeypatch, connections):
    """It takes 30 ms of a processor."""
    load, reads = ssl.SSLContext.load_default_certs, list[None]()
    monkeypatch.setattr(
        ssl.SSLContext, "load_default_certs", lambda *arguments: reads.append(load(*arguments))
    )

    for _ in range(3):
        with pytest.raises(ProviderError):
            web.get("https://93.184.215.14/")

    assert len(connections) >= 3
    assert len(reads) <= 1


def test_a_redirect_is_not_followed(web_provider):
    web_provider.answers["/"] = answer(302, Location=f"{web_provider.address}/secret")

    assert web.get(web_provider.address).status == 302
    assert [asked.path for asked in web_provider.asked] == ["/"]


def test_an_answer_over_a_megabyte_is_refused(web_provider):
    web_provider.answers["/"] = 200, {}, b"x" * (1024 * 1024 + 1)

    with pytest.raises(ProviderError, match="larger than one megabyte"):
        web.get(web_provider.address)


def test_an_answer_that_drips_is_cut_off(development, monkeypatch):
    monkeypatch.setattr(addresses, "TIMEOUT_SECONDS", 0.5)

    class Dripping(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65536)
            try:
                for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"z" * 100:
                    self.request.sendall(bytes([byte]))
                    time.sleep(0.1)
            except OSError:
                return

    with providers.serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Dripping)) as port:
        started = time.monotonic()
        with pytest.raises(ProviderError, match="took longer than"):
            web.get(f"http://127.0.0.1:{port}/")
        assert time.monotonic() - started < 3


def test_a_connection_that_fails_is_tried_twice(development, monkeypatch):
    tried: list[Any] = []

    def refuse(self, address):
        tried.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", refuse)

    with pytest.raises(ProviderError, match=r"^127.0.0.1 could not be reached$"):
        web.get("http://127.0.0.1:9/")
    assert len(tried) == 2


def test_what_does_not_speak_http_is_an_error_in_our_own_words(development):
    class Rude(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65536)
            self.request.sendall(b"internal-banner 42\r\n")

    with (
        providers.serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Rude)) as port,
        pytest.raises(ProviderError, match=r"^127.0.0.1 closed the connection$"),
    ):
        web.get(f"http://127.0.0.1:{port}/")
