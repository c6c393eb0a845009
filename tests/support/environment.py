"""Environments of a server: readers of variables, and starts as a process of its own."""

import base64
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings as configured
from django.core.exceptions import ImproperlyConfigured

KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
OTHER_KEY = base64.urlsafe_b64encode(bytes(range(100, 132))).decode()


def broken_rule(reader: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return the rule with which a reader refuses SOME_VARIABLE, and nothing if it does not."""
    try:
        reader("SOME_VARIABLE", *arguments, **options)
    except ImproperlyConfigured as refusal:
        name, _, rule = str(refusal).partition(": ")
        return rule if name == "SOME_VARIABLE" else ""
    return ""


def production(tmp_path: Path, **changes: str | None) -> dict[str, str]:
    """The environment of a good production start, and changes to it; None takes a variable out."""
    environment: dict[str, str | None] = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONDONTWRITEBYTECODE": "1",
        "VAR_DIR": str(tmp_path),
        "BASE_URL": "https://id.example.com",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "ENCRYPTION_KEYS": KEY,
    }
    return {name: value for name, value in (environment | changes).items() if value is not None}


def start(environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of manage.py, ``check`` if none is named."""
    return subprocess.run(
        [sys.executable, "manage.py", *(arguments or ("check",))],
        cwd=configured.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
