"""Several nodes behind nginx with TLS, on PostgreSQL, with the very file that docs/deployment.md names."""

import os
import shutil
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import trustme
from django.conf import settings

from tests.support import second, server
from tests.support.packages import lacking

PROXY = "127.0.0.1"


class Proxy:
    """nginx before nodes, each by its address."""

    def __init__(self, program: str, folder: Path, authority: trustme.CA) -> None:
        self.port, self.plain_port = second.free_port(), second.free_port()
        self.address = f"https://localhost:{self.port}"
        self._folder = folder
        self._line = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
        certificate = authority.issue_cert("localhost").private_key_and_cert_chain_pem
        certificate.write_to_path(folder / "tls.pem")

    @contextmanager
    def running(self, nodes: list[str]) -> Iterator[None]:
        self._nodes = nodes
        self._configure()
        self._process = subprocess.Popen(self._line)
        try:
            yield
        finally:
            self._process.terminate()
            self._process.wait(10)

    def leave_out(self, node: str | None) -> None:
        """Take a node out of nginx, and wait until its requests have ended. None puts all nodes back."""
        self._configure(node)
        before = _children(self._process.pid)
        self._process.send_signal(signal.SIGHUP)
        _wait_until(lambda: not before & _children(self._process.pid))

    def _configure(self, left_out: str | None = None) -> None:
        """Write the documented configuration with the places, hosts and ports of a test."""
        text = (settings.BASE_DIR / "docs/deployment/nginx.conf").read_text()
        changes = {
            "pid /run/nginx.pid": f"pid {self._folder}/nginx.pid",
            "/etc/nginx/tls/fullchain.pem": f"{self._folder}/tls.pem",
            "/etc/nginx/tls/privkey.pem": f"{self._folder}/tls.pem",
            "listen 443 ": f"listen {self.port} ",
            "listen 80 ": f"listen {self.plain_port} ",
            "id.example.com$request_uri": f"localhost:{self.port}$request_uri",
            "server_name id.example.com": "server_name localhost",
            # One worker takes the nodes in turn, and says which it took.
            "worker_processes auto": "worker_processes 1",
            "proxy_redirect off;": "proxy_redirect off; add_header X-Served-By $upstream_addr always;",
        }
        for number, node in enumerate(self._nodes, start=1):
            documented = f"server node-{number}:8000"
            changes[documented] = f"server {node} down" if node == left_out else f"server {node}"
        for documented, here in changes.items():
            assert documented in text
            text = text.replace(documented, here)
        (self._folder / "nginx.conf").write_text(text)


@dataclass
class Cluster:
    """``address`` is nginx's, ``nodes`` the processes behind it by their own addresses."""

    proxy: Proxy
    trust: ssl.SSLContext
    environment: dict[str, str]
    running: ExitStack
    nodes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return self.proxy.address

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, verify=self.trust, timeout=60)

    def start(self, node: str, code: Path = settings.BASE_DIR) -> None:
        """Serve at an address, with the code of a folder, and with what that code made there."""
        own = {} if code == settings.BASE_DIR else {"VAR_DIR": str(code / "var")}
        environment = self.environment | own | {"PORT": node.rpartition(":")[2]}
        self.nodes[node] = self.running.enter_context(server.process(code, **environment))

    def replace(self, node: str, code: Path) -> None:
        """Put other code in the place of a node, as docs/upgrades.md says."""
        self.proxy.leave_out(node)
        self.nodes[node].terminate()
        self.nodes[node].wait(40)
        self.start(node, code)
        _wait_until(lambda: httpx.get(f"http://{node}/readyz").status_code == 200)
        self.proxy.leave_out(None)

    def kill(self, node: str) -> None:
        """End a node as a power cut does, workers and all."""
        process = self.nodes[node]
        for pid in (process.pid, *_children(process.pid)):
            os.kill(pid, signal.SIGKILL)
        process.wait()


@contextmanager
def cluster(
    folder: Path, number: int = 2, *, code: Path = settings.BASE_DIR, **environment: str
) -> Iterator[Cluster]:
    """Serve with so many nodes on the database of the run, or as the environment says."""
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(nginx).exists():
        lacking("nginx", "Debian: apt install nginx-light")
    authority = trustme.CA()
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    proxy = Proxy(nginx, folder, authority)
    environment |= {"BASE_URL": proxy.address, "WEB_CONCURRENCY": "1", "TRUSTED_PROXIES": PROXY}
    with ExitStack() as running:
        made = Cluster(proxy, trust, environment, running)
        for _ in range(number):
            made.start(f"{PROXY}:{second.free_port()}", code)
        running.enter_context(proxy.running(list(made.nodes)))
        _wait_until(lambda: httpx.get(f"{proxy.address}/healthz", verify=trust).status_code == 200)
        yield made


def _children(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def _wait_until(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if ready():
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise RuntimeError("nginx or a node is not as it should be by now")
