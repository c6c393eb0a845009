"""The password of made-up users, kept in development, so that a second run can print it."""

import os
from pathlib import Path

from django.conf import settings


def read(slug: str) -> str | None:
    """Return the password of a tenant's made-up users; None if it is not kept."""
    path = _path(slug)
    return path.read_text().strip() if settings.DEVELOPMENT and path.exists() else None


def write(slug: str, password: str) -> None:
    """Keep the password in a file that only its owner can read. Production keeps none."""
    if not settings.DEVELOPMENT:
        return
    path = _path(slug)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{password}\n")


def _path(slug: str) -> Path:
    return Path(settings.VAR) / f"demo-password-{slug}"
