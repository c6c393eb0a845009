"""Two PostgreSQL servers under Patroni on this machine, with the files of high-availability.md."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
from django.conf import settings

from tests.support import database_roles, postgres_server, second, stage
from tests.support.installation import Installation
from tests.support.packages import lacking

FILES = settings.BASE_DIR / "docs/deployment/high-availability"
_PACKAGES = "Debian: apt install patroni etcd-server haproxy pgbouncer"
_PATIENCE = 90


@dataclass
class Machine:
    """One of the two that have a database, by the name it has in the documentation."""

    name: str
    folder: Path
    database: int = field(default_factory=second.free_port)
    patroni: int = field(default_factory=second.free_port)
    process: Any = None

    @property
    def place(self) -> Path:
        return self.folder / self.name

    def role(self) -> str:
        """What Patroni says of it: primary, replica, sync_standby …, or nothing when it is dead."""
        try:
            said = httpx.get(f"http://127.0.0.1:{self.patroni}/patroni", timeout=3).json()
        except (httpx.HTTPError, ValueError):
            return ""
        if said.get("sync_standby"):
            return "sync_standby"
        return str(said["role"]) if said["state"] == "running" else ""

    def kill(self) -> None:
        """End Patroni and every process of PostgreSQL, as a power cut does."""
        postmaster = int((self.place / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        # What runuser started: Patroni itself.
        below = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in (*map(int, below), self.process.pid, postmaster, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        self.process.wait()


@dataclass
class Recipe:
    """The processes of the documentation on this machine, by their ports."""

    folder: Path
    running: ExitStack
    machines: list[Machine]
    etcd: int = field(default_factory=second.free_port)
    etcd_peer: int = field(default_factory=second.free_port)
    haproxy: int = field(default_factory=second.free_port)
    pgbouncer: int = field(default_factory=second.free_port)

    def url(self, role: str, database: str = "gatehouse") -> str:
        """An address that HAProxy leads to the primary."""
        return f"postgres://{role}@127.0.0.1:{self.haproxy}/{database}"

    def write(self, name: str, changes: dict[str, str], target: str = "") -> Path:
        """Copy a documented file with names, ports and passwords of the test."""
        text = (FILES / name).read_text()
        for documented, here in changes.items():
            assert documented in text, f"{documented} is not in {name}"
            text = text.replace(documented, here)
        path = self.folder / (target or name)
        path.write_text(text)
        path.chmod(0o600)
        postgres_server.own(path)
        return path

    def start(self, *command: object, **options: Any) -> "subprocess.Popen[bytes]":
        """Run a program as the user of PostgreSQL until the end."""
        log = self.running.enter_context((self.folder / f"{Path(str(command[0])).name}.log").open("ab"))
        line = postgres_server.as_postgres([str(part) for part in command])
        process = subprocess.Popen(line, stdout=log, stderr=log, cwd=self.folder, **options)
        self.running.callback(_end, process)
        return process

    def start_etcd(self) -> None:
        """Start one etcd; the documentation has three."""
        port, peer = f"127.0.0.1:{self.etcd}", f"127.0.0.1:{self.etcd_peer}"
        path = self.write(
            "etcd.yml",
            {
                ",etcd-2=http://etcd-2:2380,etcd-3=http://etcd-3:2380": "",
                "etcd-1:2379": port,
                "etcd-1:2380": peer,
                "/var/lib/etcd": str(self.folder),
            },
        )
        self.start(program("etcd"), f"--config-file={path}")

    def start_database(self, machine: Machine) -> None:
        """Start Patroni, which starts PostgreSQL."""
        path = self.write(
            "patroni.yml",
            {
                "db-1:5432": f"127.0.0.1:{machine.database}",
                "db-1:8008": f"127.0.0.1:{machine.patroni}",
                "db-1": machine.name,
                "etcd-1:2379,etcd-2:2379,etcd-3:2379": f"127.0.0.1:{self.etcd}",
                "/var/lib/postgresql/gatehouse": str(machine.place),
                "/usr/lib/postgresql/15/bin": str(Path(postgres_server.program("initdb")).parent),
                "10.0.0.0/24": "127.0.0.1/32",
                "SUPERUSER_PASSWORD": "superuser-password",
                "REPLICATION_PASSWORD": "replication-password",
                "REWIND_PASSWORD": "rewind-password",
                "wal_log_hints": f"unix_socket_directories: {self.folder}\n        wal_log_hints",
            },
            f"{machine.name}.yml",
        )
        machine.process = self.start(program("patroni"), path)

    def start_proxies(self) -> None:
        """Start HAProxy."""
        servers = {
            f"{each.name}:5432 check port 8008": f"127.0.0.1:{each.database} check port {each.patroni}"
            for each in self.machines
        }
        path = self.write("haproxy.cfg", {"127.0.0.1:5000": f"127.0.0.1:{self.haproxy}"} | servers)
        self.start(program("haproxy"), "-db", "-f", path)

    def start_pgbouncer(self, role: str, password: str) -> None:
        users = self.folder / "userlist.txt"
        users.write_text(f'"{role}" "{password}"\n')
        postgres_server.own(users)
        path = self.write(
            "pgbouncer.ini",
            {
                "/etc/pgbouncer/userlist.txt": str(users),
                "port=5000": f"port={self.haproxy}",
                "= 6432": f"= {self.pgbouncer}",
            },
        )
        self.start(program("pgbouncer"), path)

    def primary(self) -> Machine:
        wait_until(lambda: "master" in self._roles() or "primary" in self._roles(), "no primary")
        return next(each for each in self.machines if each.role() in {"master", "primary"})

    def is_synchronous(self) -> bool:
        return "sync_standby" in self._roles()

    def _roles(self) -> list[str]:
        return [machine.role() for machine in self.machines]


@contextmanager
def recipe() -> Iterator[Recipe]:
    """Run everything that keeps the database, until the block ends."""
    for name in ("etcd", "patroni", "haproxy", "pgbouncer"):
        program(name)
    with postgres_server.folder() as folder, ExitStack() as running:
        made = Recipe(folder, running, [Machine(name, folder) for name in ("db-1", "db-2")])
        made.start_etcd()
        made.start_database(made.machines[0])
        made.primary()
        made.start_database(made.machines[1])
        made.start_proxies()
        wait_until(made.is_synchronous, "no synchronous standby")
        yield made


def program(name: str) -> str:
    found = shutil.which(name, path=f"/usr/sbin:/usr/bin:{os.environ['PATH']}")
    if found is None:
        lacking(name, _PACKAGES)
    return str(found)


def wait_until(ready: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not ready():
        assert time.monotonic() < deadline, f"{what} after {_PATIENCE} seconds"
        time.sleep(0.2)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()


def install(made: Recipe) -> Installation:
    """Install as docs/deployment/high-availability.md says."""
    superuser = made.url("postgres:superuser-password", "postgres")
    with psycopg.connect(superuser, autocommit=True) as session:
        session.execute("CREATE DATABASE gatehouse")
    url = made.url("postgres:superuser-password")
    passwords = database_roles.run_file(url, "gatehouse_owner", "gatehouse_serving")
    owner = made.url(f"gatehouse_owner:{passwords['OWNER_PASSWORD']}")
    serving = passwords["SERVING_PASSWORD"]
    made.start_pgbouncer("gatehouse_serving", serving)
    common = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "TEST_STATEMENTS_FILE": os.devnull,
        "DATABASE_PREPARED_STATEMENTS": "false",
    }
    roles = {"DATABASE_URL": owner, "DATABASE_SERVING_ROLE": "gatehouse_serving"}
    for command in (["migrate", "--verbosity=0"], ["bootstrap"]):
        stage.manage(common | roles, *command)
    pooled = f"postgres://gatehouse_serving:{serving}@127.0.0.1:{made.pgbouncer}/gatehouse"
    return Installation(pooled, owner, None, made.running, common)
