"""``manage.py doctor``: its findings here, and as a process of its own."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from io import StringIO

from django.conf import settings as configured
from django.core.management import call_command

LEVELS = {"E": "error", "W": "warning", "I": "info"}
Findings = dict[str, dict[str, str]]


def examined(*arguments: str) -> Findings:
    """The findings by their ids."""
    out = StringIO()
    with suppress(SystemExit):
        call_command("doctor", "--json", *arguments, stdout=out)
    return {finding["id"]: finding for finding in json.loads(out.getvalue())["findings"]}


def message(findings: Findings, id: str) -> str:  # noqa: A002 - what it is
    """The message of a finding, and nothing if there is none."""
    return findings.get(id, {}).get("message", "")


def doctor(environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in another environment."""
    return subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json", *arguments],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"} | environment,
        cwd=configured.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
