"""``manage.py run`` as a newcomer meets it: start, sign in to the demo, look around, stop, start again."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from joserfc import jwk, jwt
from playwright.sync_api import Page, expect

from tests.support import server

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs to see processes in /proc"),
    pytest.mark.skipif(
        os.environ.get("TEST_ENGINE") == "postgres",
        reason="a first start is on SQLite, whatever is tested on",
    ),
]

_OF_THE_TESTS = (
    "DATABASE_URL",
    "SECRET_KEY",
    "ENCRYPTION_KEYS",
    "ADMIN_USERNAME",
    "ADMIN_PASSWORD",
    "BASE_URL",
)
_SIGNALLED_IN_A_FINALIZER = """
import django, os, signal
django.setup()
from management.management.commands import run
class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10):
            pass
run.Command._prepare = lambda self: Last() and None
django.core.management.call_command("run")
"""


@dataclass
class Started:
    """A running ``manage.py run``, and what it printed."""

    process: subprocess.Popen[bytes]
    said: str
    var: Path

    def told(self, label: str) -> str:
        """Return what the summary says of something."""
        found = re.search(rf"^ +{label} +(.+)$", self.said, re.MULTILINE)
        assert found, self.said
        return found[1]

    def stop(self, with_signal: int = signal.SIGINT) -> float:
        """Stop it as a terminal does, and return how many seconds that took."""
        began = time.monotonic()
        self.process.send_signal(with_signal)
        self.process.wait(40)
        return time.monotonic() - began


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def family(root: int) -> set[int]:
    """Return the processes that descend from one."""
    parents = {int(path.parent.name): _parent(path) for path in Path("/proc").glob("[0-9]*/stat")}
    found: set[int] = set()
    waiting = [root]
    while waiting:
        one = waiting.pop()
        children = [pid for pid, parent in parents.items() if parent == one]
        found.update(children)
        waiting += children
    return found


def _parent(path: Path) -> int:
    try:
        return int(path.read_text().rpartition(")")[2].split()[1])
    except OSError:  # it ended while we looked
        return 0


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def all_gone(pids: set[int]) -> bool:
    """Tell whether none of them is left, or will be in a moment: workers end when their master is gone."""
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not any(map(alive, pids))


def own_environment(var: Path, port: int, demo_port: int) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name not in _OF_THE_TESTS}
    own |= {"DEBUG": "true", "VAR_DIR": str(var), "HOST": "127.0.0.1", "WEB_CONCURRENCY": "1"}
    return own | {
        "PORT": str(port),
        "DEMO_PORT": str(demo_port),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }


@contextmanager
def started(
    var: Path, port: int, demo_port: int, *arguments: str, until: str = "Stop ", **environment: str
) -> Iterator[Started]:
    """Start everything in a place of its own, as ``make run`` does, and wait until it has said something."""
    own = own_environment(var, port, demo_port)
    log = var.parent / f"{var.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "run", *arguments],
            env=own | environment,
            cwd=settings.BASE_DIR,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Started(process, _said(process, log, until), var)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(40)


def _said(process: subprocess.Popen[bytes], log: Path, until: str) -> str:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        said = log.read_text()
        if until in said or process.poll() is not None:
            return said
        time.sleep(0.05)
    raise AssertionError(f"nothing like {until!r} in three minutes: {log.read_text()}")


def sign_in(page: Page, run: Started, name: str = "Alice Example") -> None:
    """Sign in to the demo application as the summary says."""
    page.goto(run.told("Open"))
    page.get_by_role("link", name="Sign in with Gatehouse").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Demo application")
    page.get_by_label("Username, email or phone").fill(run.told("Sign in as"))
    page.get_by_label("Password", exact=True).fill(run.told("Password"))
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Signed in as {name}")


def keys_of(run: Started) -> dict[str, object]:
    document: dict[str, object] = httpx.get(f"{run.told('Issuer')}/.well-known/jwks.json").json()
    return document


def test_decision_R1_a_first_start_and_a_second(tmp_path, screens):
    var, port, demo_port = tmp_path / "var", free_port(), free_port()

    with started(var, port, demo_port) as run:
        assert "Gatehouse is running." in run.said
        assert str(var / "outbox") in run.told("Codes")
        page = screens.open()
        look_around(page, run)
        password = (var / "admin-password").read_text()
        told = run.told("Sign in as"), run.told("Password"), run.told("Administrator")
        keys = keys_of(run)
        everyone = family(run.process.pid) | {run.process.pid}
        assert run.stop() < 8
        assert all_gone(everyone)
        assert run.process.returncode == 0

    for one in (port, demo_port):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", one)) != 0

    with started(var, port, demo_port) as run:
        assert (run.told("Sign in as"), run.told("Password"), run.told("Administrator")) == told
        assert (var / "admin-password").read_text() == password
        assert keys_of(run) == keys
        page = screens.open()
        sign_in(page, run)
        screens.close()  # a stop waits for the connections of a window, as above
        assert run.stop() < 8


def look_around(page: Page, run: Started) -> None:
    """Do in the demo application what there is to do: claims, refresh, userinfo, sign out."""
    sign_in(page, run)
    rows = page.get_by_role("row")
    expect(
        rows.filter(has_text="preferred").or_(rows.filter(has_text="alice@example.com")).first
    ).to_be_visible()
    token = page.locator("#id-token").inner_text().strip()
    claims = jwt.decode(token, jwk.KeySet.import_key_set(keys_of(run)), algorithms=["ES256"]).claims  # type: ignore[arg-type]
    assert (claims["iss"], claims["name"]) == (run.told("Issuer"), "Alice Example")

    refresh_token = page.locator("#refresh-token").inner_text()
    page.get_by_role("button", name="Refresh tokens").click()
    expect(page.get_by_role("status")).to_contain_text("generation 2 replaces 1")
    assert page.locator("#refresh-token").inner_text() != refresh_token

    page.get_by_role("button", name="Call userinfo").click()
    expect(page.locator("#userinfo")).to_contain_text("alice@example.com")

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status")).to_contain_text("You are signed out, here and at the provider.")
    page.get_by_role("link", name="Sign in with Gatehouse").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Demo application")


@pytest.fixture(scope="module")
def started_before(tmp_path_factory):
    """Data of an installation that was started once: creating its tables is most of a first start."""
    var = tmp_path_factory.mktemp("first") / "var"
    var.mkdir(mode=0o700)
    server.copy_migrated(var / "gatehouse.sqlite3")
    with started(var, free_port(), free_port()) as run:
        run.stop()
    return var


@pytest.fixture
def var(started_before, tmp_path):
    return shutil.copytree(started_before, tmp_path / "var")


class TestCommand:
    """What needs no browser."""

    def test_decision_R1_keeps_its_secrets_to_its_owner(self, started_before, var):
        with started(var, free_port(), free_port()) as run:
            assert str(var / "admin-password") in run.told("Administrator")
            assert run.told("Data") == str(var / "gatehouse.sqlite3")
            for name in ("admin-password", "secret-key", "encryption-key", "demo.json"):
                assert stat.S_IMODE((started_before / name).stat().st_mode) == 0o600
            signed = httpx.post(
                f"{run.told('Issuer')}/api/admin/sign-in",
                json={"username": "admin", "password": (var / "admin-password").read_text().strip()},
            )
            assert signed.status_code == 200

    @pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
    def test_a_closed_terminal_stops_all_of_it_too(self, var, with_signal):
        with started(var, free_port(), free_port()) as run:
            everyone = family(run.process.pid)
            assert len(everyone) >= 4
            with httpx.Client() as kept_open:
                kept_open.get(run.told("Open"))
                kept_open.get(f"{run.told('Issuer')}/sign-in")
                assert run.stop(with_signal) < 8

        assert all_gone(everyone)

    def test_an_impatient_person_may_press_again(self, var):
        with started(var, free_port(), free_port()) as run:
            everyone = family(run.process.pid)
            for _ in range(3):
                run.process.send_signal(signal.SIGINT)
                time.sleep(0.05)
            assert run.process.wait(20) == 0

        assert all_gone(everyone)
        assert "Traceback" not in (var.parent / "var.log").read_text()

    def test_a_start_can_be_stopped_before_it_is_done(self, tmp_path):
        var = tmp_path / "var"
        with started(var, free_port(), free_port(), until="") as run:
            while not (var / "gatehouse.sqlite3").exists():
                time.sleep(0.02)
            assert run.stop() < 8
            # Libraries may still be imported. Then the signal ends the process at once.
            assert run.process.returncode in {0, -signal.SIGINT}

        assert "Traceback" not in (tmp_path / "var.log").read_text()
        with started(var, free_port(), free_port()) as run:
            assert "Gatehouse is running." in run.said

    def test_a_signal_in_a_finalizer_stops_it_and_prints_nothing_else(self, tmp_path):
        program = tmp_path / "start.py"
        program.write_text(_SIGNALLED_IN_A_FINALIZER)
        environment = own_environment(tmp_path / "var", free_port(), free_port())
        environment["PYTHONPATH"] = str(settings.BASE_DIR)

        ended = subprocess.run(
            [sys.executable, program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

        assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, "Stopping.", "")

    def test_the_demo_application_signs_in_at_the_demo_tenant(self, tmp_path, screens):
        var, ports = tmp_path / "var", (free_port(), free_port())
        var.mkdir(mode=0o700)
        server.copy_migrated(var / "gatehouse.sqlite3")
        told = []
        for _ in range(2):
            with started(var, *ports, "--demo-tenant") as run:
                assert run.told("Issuer") == f"http://localhost:{ports[0]}/t/demo"
                sign_in(screens.open(), run, "Emma Nakamura")
                screens.close()
                told.append((run.told("Sign in as"), run.told("Password")))

        assert told[0] == told[1]
        assert (var / "demo-tenant.json").stat().st_mode & 0o777 == 0o600

    def test_the_demo_can_be_left_out(self, var):
        demo_port = free_port()

        with started(var, free_port(), demo_port, "--without-demo") as run:
            assert "Sign in as" not in run.said
            assert httpx.get(f"{run.told('Issuer')}/sign-in").status_code == 200
            with socket.socket() as probe:
                assert probe.connect_ex(("127.0.0.1", demo_port)) != 0

    @pytest.mark.parametrize("taken", ["PORT", "DEMO_PORT"])
    def test_a_port_that_is_taken_is_told_by_number(self, tmp_path, taken):
        ports = {"PORT": free_port(), "DEMO_PORT": free_port()}

        with (
            socket.create_server(("127.0.0.1", ports[taken])),
            started(tmp_path / "var", ports["PORT"], ports["DEMO_PORT"]) as run,
        ):
            assert run.process.wait(30) != 0

        assert f"port {ports[taken]} on 127.0.0.1 cannot be used" in run.said
        assert "Traceback" not in run.said
        assert (tmp_path / "var" / "gatehouse.sqlite3").stat().st_size == 0

    def test_all_of_it_stops_when_one_part_ends_by_itself(self, var):
        with started(var, free_port(), free_port()) as run:
            everyone = family(run.process.pid)
            children = [pid for pid in everyone if os.getpgid(pid) == pid]
            os.kill(children[0], signal.SIGKILL)
            assert run.process.wait(40) != 0

        assert all_gone(everyone)

    def test_decision_R2_a_production_start_without_secrets_says_which(self, tmp_path):
        with started(
            tmp_path / "var", free_port(), free_port(), DEBUG="false", BASE_URL="https://id.example.com"
        ) as run:
            assert run.process.wait(30) != 0

        assert "SECRET_KEY" in run.said
        assert "is required in production" in run.said
