"""The check of the installed packages, and a report of versions."""

import platform
import re
from collections.abc import Iterator
from importlib import metadata
from typing import Final

import django
from django.conf import settings
from django.core.checks import CheckMessage, Info, Warning  # noqa: A004 - Django's name
from django.db import connection

from identity.core.doctor_checks import doctor_check, join_names
from management.upgrades import presence

_PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


@doctor_check
def packages() -> Iterator[CheckMessage]:
    """Check that the installed packages have the versions of the lock file."""
    lock = (settings.BASE_DIR / "requirements-production.lock").read_text()
    others = [
        f"{name} {found} instead of {pinned}"
        for name, pinned in _PINNED.findall(lock)
        if (found := _installed(name)) not in {pinned, None}
    ]
    if others:
        yield Warning(
            f"installed packages differ from requirements-production.lock: {join_names(others)}",
            hint="run python -m pip install --require-hashes -r requirements-production.lock, then restart",
            id="versions.W002",
        )


@doctor_check
def versions() -> Iterator[CheckMessage]:
    """Report the versions of Gatehouse, Python, Django and the database."""
    yield Info(
        f"Gatehouse {presence.release()}, Python {platform.python_version()}, Django {django.__version__}, "
        f"{connection.display_name} {'.'.join(map(str, connection.get_database_version()))}",
        id="versions.I001",
    )


def _installed(name: str) -> str | None:
    # The lock also names packages for other platforms.
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
