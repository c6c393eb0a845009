"""Writes the bill of materials of a release, CycloneDX 1.6, from the lock of production.

The same lock and the same version give the same bytes, on every machine. The date is that of
SOURCE_DATE_EPOCH, else none is said.
"""

import hashlib
import json
import os
import re
import sys
import time
import uuid
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements-production.lock"
FILE: Final = ROOT / "docs" / "sbom.cdx.json"

_PACKAGE: Final = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.*?))?(?: \\)?$")
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def document(version: str, lock: str) -> dict[str, Any]:
    """Return the bill of materials of a release with this lock."""
    digest = hashlib.sha256(f"{version}\n{lock}".encode()).hexdigest()
    metadata: dict[str, Any] = {
        "component": {
            "type": "application",
            "bom-ref": "gatehouse",
            "name": "gatehouse",
            "version": version,
            "licenses": [{"license": {"id": "Apache-2.0"}}],
        }
    }
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        metadata["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))
    found = components(lock)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": metadata,
        "components": found,
        "dependencies": [{"ref": "gatehouse", "dependsOn": [component["bom-ref"] for component in found]}],
    }


def components(lock: str) -> list[dict[str, Any]]:
    """Return a component for each package of a lock, with the hashes of its files."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if package := _PACKAGE.match(line):
            name, version, marker = package.groups()
            found.append(_component(name, version, marker))
        elif hashed := _HASH.search(line):
            [distribution] = found[-1]["externalReferences"]
            distribution["hashes"].append({"alg": "SHA-256", "content": hashed[1]})
    return found


def _component(name: str, version: str, marker: str | None) -> dict[str, Any]:
    purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "externalReferences": [
            {"type": "distribution", "url": f"https://pypi.org/simple/{name}/", "hashes": []}
        ],
    }
    if marker:
        component["properties"] = [{"name": "python:marker", "value": marker}]
    return component


def write(version: str) -> None:
    """Write the bill of materials of a release beside the documentation."""
    FILE.write_text(json.dumps(document(version, LOCK.read_text()), indent=1) + "\n")


if __name__ == "__main__":
    write(*sys.argv[1:])
