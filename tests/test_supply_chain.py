"""What a release is made of, and whether a known weakness is in it."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.conf import settings

CI = settings.BASE_DIR / ".ci"
LOCK = settings.BASE_DIR / "requirements-production.lock"


def locked() -> dict[str, str]:
    """What production installs, by name."""
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", LOCK.read_text(), re.MULTILINE))


def sbom(folder: Path, version: str = "7.1.0", **environment: str) -> bytes:
    """The bill of materials that a copy of the script writes in a folder."""
    for name in (".ci", "docs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / ".ci/sbom.py").write_bytes((CI / "sbom.py").read_bytes())
    (folder / LOCK.name).write_bytes(LOCK.read_bytes())
    command = [sys.executable, str(folder / ".ci/sbom.py"), version]
    subprocess.run(command, check=True, env=os.environ | environment)
    return (folder / "docs/sbom.cdx.json").read_bytes()


class TestBillOfMaterials:
    def test_names_every_package_of_production_with_its_hashes(self, tmp_path):
        bill = json.loads(sbom(tmp_path))

        assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
        assert bill["metadata"]["component"]["version"] == "7.1.0"
        assert {one["name"]: one["version"] for one in bill["components"]} == locked()
        for one in bill["components"]:
            [distribution] = one["externalReferences"]
            assert distribution["hashes"], one["name"]
            assert one["purl"] == one["bom-ref"]

    def test_is_the_same_wherever_it_is_made(self, tmp_path):
        again = sbom(tmp_path / "there", SOURCE_DATE_EPOCH="1")

        first, second = sbom(tmp_path / "here", SOURCE_DATE_EPOCH="1"), json.loads(again)

        assert first == again
        assert second["metadata"]["timestamp"] == "1970-01-01T00:00:01Z"
        assert json.loads(sbom(tmp_path / "other", "7.2.0"))["serialNumber"] != second["serialNumber"]


def report(*packages: Mapping[str, object]) -> str:
    return json.dumps({"dependencies": list(packages), "fixes": []})


FINE = {"name": "django", "version": "5.2", "vulns": []}
WEAK = {"name": "weak", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}
SKIPPED = {"name": "django", "skip_reason": "Dependency not found on PyPI"}


class TestAudit:
    @pytest.mark.parametrize(
        ("said", "required", "code", "shown"),
        [
            (report(FINE), "", 0, "No weakness is known of 1 packages"),
            (report(FINE, WEAK), "", 1, "weak 1: PYSEC-1, fixed in 2"),
            (report(SKIPPED), "", 0, "Not audited"),
            (report(SKIPPED), "1", 1, "Not audited"),
            (report(FINE, SKIPPED), "1", 1, "1 of 2 packages"),
            ("no answer", "", 0, "Not audited"),
        ],
    )
    def test_case_K14_fails_on_a_weakness_and_says_when_it_knows_nothing(
        self, tmp_path, said, required, code, shown
    ):
        program = tmp_path / "pip-audit"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\n")
        program.chmod(0o755)

        done = subprocess.run(
            [sys.executable, CI / "audit_dependencies.py", program],
            check=False,
            capture_output=True,
            text=True,
            env=os.environ | {"GATEHOUSE_REQUIRE_AUDIT": required},
        )

        assert (done.returncode, shown in done.stdout) == (code, True), done.stdout


def test_every_dependency_has_a_lock_with_hashes():
    for lock in settings.BASE_DIR.glob("requirements*.lock"):
        for package in re.split(r"^(?=[A-Za-z])", lock.read_text(), flags=re.MULTILINE)[1:]:
            assert "--hash=sha256:" in package, f"{lock.name}: {package}"


def test_ordinary_development_needs_no_fuzzer():
    groups = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["dependency-groups"]

    assert any(one.startswith("atheris") for one in groups["security"])
    assert "atheris" not in (settings.BASE_DIR / "requirements-dev.lock").read_text()
