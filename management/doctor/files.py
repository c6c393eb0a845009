"""Checks of the permissions of files that hold secrets or data."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name
from django.utils.translation import gettext

from identity.core.doctor_checks import doctor_check, join_names, shown_on_dashboard

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


@shown_on_dashboard()
@doctor_check
def files() -> Iterator[CheckMessage]:
    """Check that only the owner can access secrets and data."""
    open_to_others = [str(path) for path in _private() if path.exists() and _mode(path) & _OTHERS]
    if open_to_others:
        yield Error(
            gettext("users other than the owner can read or write %(paths)s")
            % {"paths": join_names(open_to_others)},
            hint=gettext(
                "run chmod 0600 on each; if other people use this machine, replace the secrets in these files"
            ),
            id="files.E001",
        )
    if settings.VAR.exists() and _mode(settings.VAR) & _OTHERS_WRITE:
        yield Error(
            gettext("users other than the owner can write to VAR_DIR, %(path)s") % {"path": settings.VAR},
            hint=gettext("run chmod 0700 %(path)s") % {"path": settings.VAR},
            id="files.E002",
        )
    elif settings.VAR.exists() and _mode(settings.VAR) & _OTHERS and not settings.DEVELOPMENT:
        yield Warning(
            gettext("users other than the owner can list VAR_DIR, %(path)s") % {"path": settings.VAR},
            hint=gettext("run chmod 0700 %(path)s") % {"path": settings.VAR},
            id="files.W003",
        )


def _private() -> Iterator[Path]:
    yield settings.VAR / "secret-key"
    yield settings.VAR / "encryption-key"
    yield settings.ADMIN_PASSWORD_FILE
    database = settings.DATABASES["default"]
    if "sqlite" in str(database["ENGINE"]):
        for suffix in ("", "-wal", "-shm"):
            yield Path(f"{database['NAME']}{suffix}")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
