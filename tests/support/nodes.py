"""Several nodes behind nginx with TLS, on PostgreSQL, with the very file that docs/deployment.md names."""

import os
import shutil
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import trustme
from django.conf import settings

from tests.support import second, server

PROXY = "127.0.0.1"


@dataclass(frozen=True)
class Cluster:
    """``address`` is nginx's, ``nodes`` the processes behind it by their own addresses."""

    address: str
    nodes: dict[str, "subprocess.Popen[bytes]"]
    trust: ssl.SSLContext

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, verify=self.trust)

    def kill(self, node: str) -> None:
        """End a node as a power cut does, workers and all."""
        process = self.nodes[node]
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for pid in (process.pid, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        process.wait()


@contextmanager
def cluster(folder: Path, number: int = 2) -> Iterator[Cluster]:
    """Serve with so many nodes on the database of the run."""
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(nginx).exists():
        pytest.skip("nginx is not there (Debian: apt install nginx-light)")
    authority = trustme.CA()
    port = second.free_port()
    address = f"https://localhost:{port}"
    with ExitStack() as running:
        nodes = {}
        for _ in range(number):
            own = f"{PROXY}:{second.free_port()}"
            environment = {"PORT": own.rpartition(":")[2], "WEB_CONCURRENCY": "1", "TRUSTED_PROXIES": PROXY}
            nodes[own] = running.enter_context(server.process(BASE_URL=address, **environment))
        trust = ssl.create_default_context()
        authority.configure_trust(trust)
        running.enter_context(_nginx(nginx, folder, authority, port, list(nodes)))
        _wait_until(lambda: httpx.get(f"{address}/healthz", verify=trust).status_code == 200)
        yield Cluster(address, nodes, trust)


@contextmanager
def _nginx(program: str, folder: Path, authority: trustme.CA, port: int, nodes: list[str]) -> Iterator[None]:
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(folder / "tls.pem")
    (folder / "nginx.conf").write_text(_configuration(folder, port, nodes))
    process = subprocess.Popen(
        [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)


def _configuration(folder: Path, port: int, nodes: list[str]) -> str:
    """Return the documented configuration with the places, hosts and ports of a test."""
    text = (settings.BASE_DIR / "docs/deployment/nginx.conf").read_text()
    for number, node in enumerate(nodes, start=1):
        text = text.replace(f"node-{number}:8000", node)
    changes = {
        "pid /tmp/nginx.pid": f"pid {folder}/nginx.pid",
        "/etc/nginx/tls/fullchain.pem": f"{folder}/tls.pem",
        "/etc/nginx/tls/privkey.pem": f"{folder}/tls.pem",
        "listen 443 ": f"listen {port} ",
        "listen 80 ": f"listen {second.free_port()} ",
        # One worker takes the nodes in turn, and says which it took.
        "worker_processes auto": "worker_processes 1",
        "proxy_redirect off;": "proxy_redirect off; add_header X-Served-By $upstream_addr always;",
    }
    for documented, here in changes.items():
        assert documented in text
        text = text.replace(documented, here)
    return text


def _wait_until(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if ready():
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise RuntimeError("nginx does not answer")
