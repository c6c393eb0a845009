"""``manage.py run``: start Gatehouse and a demo application in the foreground."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from identity.core import served_address
from management.seeding import bootstrap, demo
from management.seeding.demo import Demo

_START_SECONDS: Final = 30  # the time in which a process must respond
_STOP_SECONDS: Final = 35  # the time that a process has to finish its requests
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DEMO: Final = settings.BASE_DIR / "docs" / "examples" / "relying_party"

_signals: Final[list[int]] = []  # that have arrived


class Command(BaseCommand):
    """Prepares the database, and serves Gatehouse and a demo application."""

    help = (
        "Migrate the database, create the first administrator, and serve Gatehouse and a demo application "
        "until Ctrl-C. Production has no demo application."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--without-demo", action="store_true", help="serve Gatehouse only")
        parser.add_argument(
            "--demo-tenant",
            action="store_true",
            help="fill the tenant demo with made-up data, and let the demo application sign in there",
        )

    def handle(self, *_: Any, without_demo: bool = False, demo_tenant: bool = False, **__: Any) -> None:
        """Serve until Ctrl-C, or until one of the processes ends."""
        # The demo prints the password of an account that it creates, so production has no demo.
        without_demo = without_demo or not settings.DEVELOPMENT
        for number in _SIGNALS:
            signal.signal(number, _note_signal)
        processes: list[subprocess.Popen[bytes]] = []
        try:
            self._serve(processes, with_demo=not without_demo, prepare_demo=_choose_demo(demo_tenant))
        except KeyboardInterrupt:
            self.stdout.write("\nStopping.")
        finally:
            _stop(processes)

    def _serve(
        self,
        processes: list[subprocess.Popen[bytes]],
        *,
        with_demo: bool,
        prepare_demo: Callable[[str], Demo],
    ) -> None:
        demo_port = settings.DEMO_PORT
        for port in (settings.PORT, demo_port) if with_demo else (settings.PORT,):
            _check_free(port)
        with connection.execute_wrapper(_execute):
            self._prepare()
            application = prepare_demo(f"http://localhost:{demo_port}") if with_demo else None
        _check_interrupted()
        processes.append(_start_gatehouse())
        if application is not None:
            processes.append(_start_relying_party(application, demo_port))
        _wait_for(processes[0], f"http://127.0.0.1:{settings.PORT}/.well-known/openid-configuration")
        if application is not None:
            _wait_for(processes[1], f"http://127.0.0.1:{demo_port}/")
        self._print_addresses(application)
        _wait_for_first_exit(processes)

    def _prepare(self) -> None:
        # This is the only node, so contract migrations are safe.
        call_command("migrate", verbosity=0, interactive=False, yes=True)
        call_command("collectstatic", verbosity=0, interactive=False)
        bootstrap.prepare()
        served_address.note()

    def _print_addresses(self, application: Demo | None) -> None:
        lines = ["", "Gatehouse is running.", ""]
        if application is not None:
            lines += [
                f"  Open           {application.base_url}",
                f"  Sign in as     {application.username}",
                f"  Password       {application.password}",
                *_describe_key(application.authenticator_key),
                "",
            ]
        issuer = (application and application.issuer) or settings.BASE_URL
        lines += [
            f"  Issuer         {issuer}",
            f"  Discovery      {issuer}/.well-known/openid-configuration",
            f"  Console        {settings.BASE_URL}/admin/",
            f"  Administrator  {settings.ADMIN_USERNAME}, {_password_location()}",
            f"  Data           {_data_location()}",
            *_further_steps(issuer),
            "  Stop           Ctrl-C (the data stays)",
            "",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()


def _choose_demo(of_tenant: bool) -> Callable[[str], Demo]:  # noqa: FBT001 - a command's option
    return demo.prepare_tenant if of_tenant else demo.prepare


def _describe_key(key: str) -> list[str]:
    return [f"  Other users    the same password; for a code, add the key {key} to an app"] if key else []


def _further_steps(issuer: str) -> list[str]:
    """Return lines about where codes are, and what to do in another terminal."""
    if not settings.DEVELOPMENT:
        return []
    outbox = f"  Codes          files in {settings.OUTBOX_DIR}, until you enable a connector"
    more = [] if issuer != settings.BASE_URL else ["  More data      make demo (instead of make run)"]
    return [outbox, *more, f"  For the docs   export ISSUER={issuer}"]


def _note_signal(number: int, _: object) -> None:
    """Note a signal for ``_check_interrupted``.

    An exception could be raised anywhere. Python prints and drops those that are raised in finalizers.
    """
    _signals.append(number)


def _check_interrupted() -> None:
    """Raise `KeyboardInterrupt` after a signal."""
    if _signals:
        raise KeyboardInterrupt


def _execute(execute: Callable[..., Any], *statement: Any) -> Any:
    """Execute a statement, unless a signal has arrived. The first start takes thousands of statements."""
    _check_interrupted()
    return execute(*statement)


def _password_location() -> str:
    if settings.ADMIN_PASSWORD:
        return "with the password of ADMIN_PASSWORD"
    path = settings.ADMIN_PASSWORD_FILE
    return f"password in {path}" if path.exists() else "with the password set earlier"


def _data_location() -> str:
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
                f"port {port} on {settings.HOST} cannot be used ({error.strerror}): stop the program that "
                "listens there, or set PORT and DEMO_PORT to other ports"
            ) from None


def _start_gatehouse() -> subprocess.Popen[bytes]:
    return _start([sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn"], {})


def _start_relying_party(application: Demo, port: int) -> subprocess.Popen[bytes]:
    return _start(
        [
            *(sys.executable, "-m", "gunicorn", "--chdir", str(_DEMO), "--bind", f"127.0.0.1:{port}"),
            *("--workers", "1", "--threads", "4", "--log-level", "warning", "--no-control-socket", "app:app"),
        ],
        {
            "DEMO_ISSUER": application.issuer or settings.BASE_URL,
            "DEMO_CLIENT_ID": application.client_id,
            "DEMO_CLIENT_SECRET": application.client_secret,
            "DEMO_BASE_URL": application.base_url,
        },
    )


def _start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    # A separate session: Ctrl-C reaches only this process, which then stops the others in order.
    return subprocess.Popen(  # noqa: S603 - our own programs, no shell
        command, env=os.environ | environment, cwd=settings.BASE_DIR, start_new_session=True
    )


def _wait_for(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        _check_interrupted()
        if process.poll() is not None:
            raise CommandError(f"a process ended before it responded at {url}: see its output above")
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise CommandError(f"{url} did not respond within {_START_SECONDS} seconds: see the output above")


def _wait_for_first_exit(processes: list[subprocess.Popen[bytes]]) -> None:
    while all(process.poll() is None for process in processes):
        _check_interrupted()
        time.sleep(0.1)  # a signal does not end it
    raise CommandError("a process ended unexpectedly: see its output above")


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
