"""A second server on the database of the run, with other environment variables."""

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.support import server
from tests.support.cast import World
from tests.support.threads import at_once

_PORTS = range(20_000, 32_000)  # below those of net.ipv4.ip_local_port_range


def free_port() -> int:
    """Return a free port that the system gives to no process that binds any port.

    Otherwise another process of the run could get it before the server is up.
    """
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def running(**environment: str) -> Iterator[str]:
    """Serve with these variables changed, and yield the address, which is its issuer too."""
    port = str(free_port())
    address = f"http://127.0.0.1:{port}"
    with server.running(**({"PORT": port, "BASE_URL": address, "WEB_CONCURRENCY": "1"} | environment)):
        yield address


def issue_tokens(world: World, address: str) -> None:
    """Let clients at a second server use each kind of token so often that its statements are prepared."""
    machine = world.at(address).application("MachineToMachine")
    client, user = world.at(address).application(), world.user()

    def ask(_: int) -> set[int]:
        return {machine.token(grant_type="client_credentials").status_code for _ in range(8)}

    assert at_once(8, ask) == [{200}] * 8
    tokens = client.tokens_for(user)
    for _ in range(8):
        assert client.userinfo(tokens["access_token"]).status_code == 200
        tokens = client.refresh(tokens["refresh_token"]).json()
