"""Fuzzes one target for a time, guided by the lines that inputs reach.

    .venv-security/bin/python -m tests.fuzz.run redirect_uris --seconds 300

What it keeps lies in var/fuzz. An input that breaks a target is printed and kept there: it belongs into
tests/fuzz/corpora, whose inputs the ordinary tests replay.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import atheris

os.environ |= {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "DEBUG": "true",
    "VAR_DIR": tempfile.mkdtemp(prefix="gatehouse-fuzz-"),
}

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "var" / "fuzz"


def main() -> None:
    """Fuzz until the time has passed or something breaks."""
    asked = argparse.ArgumentParser()
    asked.add_argument("target")
    asked.add_argument("--seconds", type=int, default=60)
    arguments = asked.parse_args()
    with atheris.instrument_imports(include=["identity", "management", "oidc", "urllib", "json", "base64"]):
        import django  # noqa: PLC0415 - what is imported here is watched

        django.setup()
        from tests.fuzz.targets import TARGETS  # noqa: PLC0415 - it needs the settings

    kept = KEPT / arguments.target
    kept.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={arguments.seconds}",
        "-max_len=4096",
        "-timeout=10",
        "-rss_limit_mb=2048",
        f"-artifact_prefix={KEPT}/{arguments.target}-",
    ]
    seeds = ROOT / "tests" / "fuzz" / "corpora" / arguments.target
    atheris.Setup([sys.argv[0], *options, str(kept), str(seeds)], TARGETS[arguments.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
