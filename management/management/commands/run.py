"""``manage.py run``: everything for a first look, in one go and in the foreground."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from management.seeding import bootstrap, demo
from management.seeding.demo import Demo

_PATIENCE: Final = 30  # seconds until a process must answer
_GRACE: Final = 35  # seconds in which a process may finish what it is doing
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DEMO: Final = settings.BASE_DIR / "docs" / "examples" / "relying_party"

_told: Final = threading.Event()


class Command(BaseCommand):
    """Migrates, makes what is missing, and serves Gatehouse beside a demo application."""

    help = "Migrate, make what is missing, and serve Gatehouse beside a demo application."

    def add_arguments(self, parser: CommandParser) -> None:
        """Let the demo be left out."""
        parser.add_argument("--without-demo", action="store_true", help="serve Gatehouse alone")

    def handle(self, *_: Any, without_demo: bool = False, **__: Any) -> None:
        """Serve until Ctrl-C, or until one of the two ends."""
        # The demo makes an account whose password is printed: nothing for production.
        without_demo = without_demo or not settings.DEVELOPMENT
        for number in _SIGNALS:
            signal.signal(number, _interrupt)
        processes: list[subprocess.Popen[bytes]] = []
        try:
            self._serve(processes, with_demo=not without_demo)
        except KeyboardInterrupt:
            self.stdout.write("\nStopping.")
        finally:
            _stop(processes)

    def _serve(self, processes: list[subprocess.Popen[bytes]], *, with_demo: bool) -> None:
        demo_port = settings.DEMO_PORT
        for port in (settings.PORT, demo_port) if with_demo else (settings.PORT,):
            _check_free(port)
        self._prepare()
        _end_if_told()
        shown = demo.prepare(f"http://localhost:{demo_port}") if with_demo else None
        processes.append(_gatehouse())
        if shown is not None:
            processes.append(_relying_party(shown, demo_port))
        _wait_for(processes[0], f"http://127.0.0.1:{settings.PORT}/.well-known/openid-configuration")
        if shown is not None:
            _wait_for(processes[1], f"http://127.0.0.1:{demo_port}/")
        self._say(shown)
        _wait_for_the_first_end(processes)

    def _prepare(self) -> None:
        # Nothing else serves: this is the only node.
        call_command("migrate", verbosity=0, interactive=False, yes=True)
        call_command("collectstatic", verbosity=0, interactive=False)
        bootstrap.prepare()

    def _say(self, shown: Demo | None) -> None:
        lines = ["", "Gatehouse is running.", ""]
        if shown is not None:
            lines += [
                f"  Open           {shown.base_url}",
                f"  Sign in as     {shown.username}",
                f"  Password       {shown.password}",
                "",
            ]
        lines += [
            f"  Issuer         {settings.BASE_URL}",
            f"  Discovery      {settings.BASE_URL}/.well-known/openid-configuration",
            f"  Administrator  {settings.ADMIN_USERNAME}, {_where_the_password_is()}",
            f"  Data           {_where_the_data_is()}",
            "  Stop           Ctrl-C (the data stays)",
            "",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()


def _interrupt(*_: object) -> None:
    """Stop, whichever signal came; one is enough: what comes while stopping is not heard."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    _told.set()
    raise KeyboardInterrupt


def _end_if_told() -> None:
    """Stop after all, where Python lost the exception: it drops what a finalizer or a callback raises."""
    if _told.is_set():
        raise KeyboardInterrupt


def _where_the_password_is() -> str:
    if settings.ADMIN_PASSWORD:
        return "with the password of ADMIN_PASSWORD"
    path = settings.ADMIN_PASSWORD_FILE
    return f"password in {path}" if path.exists() else "with the password set earlier"


def _where_the_data_is() -> str:
    database = settings.DATABASES["default"]
    if connection.vendor == "sqlite":
        return str(database["NAME"])
    return f"PostgreSQL database {database['NAME']} on {database['HOST'] or 'the local socket'}"


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.HOST, port))
        except OSError as error:
            raise CommandError(
                f"port {port} on {settings.HOST} cannot be used ({error.strerror}): stop what listens there, "
                "or choose others with PORT and DEMO_PORT"
            ) from None


def _gatehouse() -> subprocess.Popen[bytes]:
    return _start([sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn"], {})


def _relying_party(shown: Demo, port: int) -> subprocess.Popen[bytes]:
    return _start(
        [
            *(sys.executable, "-m", "gunicorn", "--chdir", str(_DEMO), "--bind", f"127.0.0.1:{port}"),
            *("--workers", "1", "--threads", "4", "--log-level", "warning", "--no-control-socket", "app:app"),
        ],
        {
            "DEMO_ISSUER": settings.BASE_URL,
            "DEMO_CLIENT_ID": shown.client_id,
            "DEMO_CLIENT_SECRET": shown.client_secret,
            "DEMO_BASE_URL": shown.base_url,
        },
    )


def _start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C reaches this process alone, which then stops the others in order.
    return subprocess.Popen(  # noqa: S603 - our own programs, no shell
        command, env=os.environ | environment, cwd=settings.BASE_DIR, start_new_session=True
    )


def _wait_for(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        _end_if_told()
        if process.poll() is not None:
            raise CommandError(f"a process ended before it answered at {url}: see what it said above")
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise CommandError(f"nothing answered at {url} within {_PATIENCE} seconds")


def _wait_for_the_first_end(processes: list[subprocess.Popen[bytes]]) -> None:
    while all(process.poll() is None for process in processes):
        _end_if_told()
        time.sleep(0.5)
    raise CommandError("a process ended by itself: see what it said above")


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
