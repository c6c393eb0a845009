"""The address that ``manage.py run`` serves in development, for commands in another terminal."""

import os
from pathlib import Path

from django.conf import settings


def note() -> None:
    """Keep the address that is served."""
    if settings.DEVELOPMENT:
        _get_path().write_text(settings.BASE_URL)


def get() -> str:
    """Return the address that ``manage.py run`` served last, or BASE_URL in production or if one is set."""
    path = _get_path()
    if not settings.DEVELOPMENT or {"BASE_URL", "PORT"} & os.environ.keys() or not path.exists():
        return str(settings.BASE_URL)
    return path.read_text()


def _get_path() -> Path:
    return Path(settings.VAR) / "address"
