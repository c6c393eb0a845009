"""The secrets that made-up users share, kept in development, so that a second run can print them."""

import os
from pathlib import Path

from django.conf import settings

PASSWORD = "password"  # noqa: S105 - a kind of secret


def read(slug: str, kind: str = PASSWORD) -> str | None:
    """Return a secret of a tenant's made-up users; None if it is not kept."""
    path = _path(slug, kind)
    return path.read_text().strip() if settings.DEVELOPMENT and path.exists() else None


def write(slug: str, secret: str, kind: str = PASSWORD) -> None:
    """Keep a secret in a file that only its owner can read. Production keeps none."""
    if not settings.DEVELOPMENT:
        return
    path = _path(slug, kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{secret}\n")


def _path(slug: str, kind: str) -> Path:
    return Path(settings.VAR) / f"demo-{kind}-{slug}"
