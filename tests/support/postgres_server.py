"""A PostgreSQL server of a test's own, that can be stopped, killed and started again."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support import second
from tests.support.packages import lacking

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
_USER = "postgres"
# Waits for the disk as in production. A crash must find little to repeat, and the machine has other work.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "log_min_messages": "fatal",
}


def program(name: str) -> str:
    """Return the path of a program of PostgreSQL."""
    found = next((str(folder / name) for folder in reversed(PROGRAMS) if (folder / name).exists()), None)
    found = found or shutil.which(name)
    if found is None:
        lacking(f"{name} of PostgreSQL", "Debian: apt install postgresql")
    return str(found)


def as_postgres(command: list[str]) -> list[str]:
    """Return a command that runs as another user where this one is root: PostgreSQL insists."""
    return ["runuser", "-u", _USER, "--", *command] if os.geteuid() == 0 else command


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a folder that PostgreSQL may write to."""
    made = Path(tempfile.mkdtemp(prefix="gatehouse-fault-", dir="/tmp"))
    own(made)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def own(path: Path) -> None:
    """Give a folder to the user that PostgreSQL runs as."""
    if os.geteuid() == 0:
        entry = pwd.getpwnam(_USER)
        os.chown(path, entry.pw_uid, entry.pw_gid)


class PostgresServer:
    """One in a folder, on a port of its own."""

    def __init__(self, place: Path, **settings: str) -> None:
        self.place, self.port = place / "data", second.free_port()
        self._settings = _SETTINGS | settings | {"unix_socket_directories": str(place)}
        self.log = place / "log"
        _run([program("initdb"), "--auth=trust", "--username=postgres", "--encoding=UTF8", str(self.place)])

    def url(self, database: str = "postgres", role: str = "postgres") -> str:
        return f"postgres://{role}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        options = " ".join(f"-c {name}={value}" for name, value in self._settings.items())
        _run([*self._pg_ctl("start"), "-o", f"-p {self.port} {options}", "-l", str(self.log)])

    def stop(self, mode: str) -> None:
        """Stop it: ``fast`` ends sessions in order, ``immediate`` leaves a crash to recover from."""
        _run([*self._pg_ctl("stop"), "-m", mode])

    def kill(self) -> None:
        """End it as a power cut does, every process at once."""
        postmaster = int((self.place / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for pid in (postmaster, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{postmaster}").exists():
            time.sleep(0.02)

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(self.url(database), autocommit=True)

    def check(self, database: str) -> None:
        """Fail where a table or an index is damaged."""
        checking = [program("pg_amcheck"), "--install-missing", "--heapallindexed"]
        _run([*checking, "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", database])

    def _pg_ctl(self, verb: str) -> list[str]:
        return [program("pg_ctl"), verb, "-D", str(self.place), "-w", "-t", "60", "-s"]


@contextmanager
def running(**settings: str) -> Iterator[PostgresServer]:
    """Serve while the block runs, whatever it does to the server."""
    with folder() as place:
        server = PostgresServer(place, **settings)
        server.start()
        try:
            yield server
        finally:
            if (server.place / "postmaster.pid").exists():
                server.stop("immediate")


def _run(command: list[str]) -> None:
    with tempfile.TemporaryFile("w+") as said:  # a pipe would stay open as long as the server runs
        done = subprocess.run(as_postgres(command), stdout=said, stderr=said, cwd="/", check=False)
        said.seek(0)
        assert done.returncode == 0, f"{command}: {said.read()}"
