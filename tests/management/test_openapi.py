"""The API's document: whole, valid, true."""

import os
import re
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.support import callers, stage

THOROUGH = bool(os.environ.get("GATEHOUSE_THOROUGH"))
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
FAR_AWAY = 2**40  # an id that no made-up path hits by chance


def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def bodies(operation: dict[str, Any]) -> list[dict[str, Any]]:
    described = [operation.get("requestBody", {}), *operation["responses"].values()]
    return [body for part in described for body in part.get("content", {}).values()]


class TestDocument:
    def test_is_valid_openapi_31(self, document):
        assert document["openapi"].startswith("3.1")
        assert [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []

    def test_is_made_without_a_warning(self, tmp_path):
        file = tmp_path / "openapi.yaml"

        call_command("spectacular", validate=True, fail_on_warn=True, file=str(file))

        assert "openapi: 3.1" in file.read_text()

    def test_describes_every_endpoint_and_no_other(self, document):
        rows = (settings.BASE_DIR / "docs/endpoints.tsv").read_text().splitlines()[1:]
        # People see pages in a browser, supervisors ask a server about itself; the rest is for programs.
        others = ("\tpages:", "\toperations:", "\t/admin")
        served = {tuple(row.split("\t")[:2]) for row in rows if not any(other in row for other in others)}

        described = {tuple(name.split(" ")) for name, _ in operations(document)}

        def spelled(endpoints: Any) -> set[tuple[str, str]]:
            return {(method, re.sub(r"\{\w+\}|:\w+", ":", path)) for method, path in endpoints}

        assert spelled(described) == spelled(served)

    def test_gives_every_operation_a_name_a_line_a_tag_and_its_security(self, document):
        found = operations(document)
        chapters = {tag["name"] for tag in document["tags"]}

        assert len({operation["operationId"] for _, operation in found}) == len(found)
        assert [name for name, operation in found if not operation.get("summary")] == []
        assert [name for name, operation in found if not set(operation["tags"]) <= chapters] == []
        assert [name for name, operation in found if "security" not in operation] == []

    def test_has_an_example_in_every_body_and_each_fits_its_schema(self, document):
        wrong = [
            f"{name}: {error.message}"
            for name, operation in operations(document)
            for body in bodies(operation)
            if body["schema"] != {"type": "string"}
            for error in Draft202012Validator(
                body["schema"] | {"components": document["components"]}
            ).iter_errors(body["example"])
        ]

        assert wrong == []

    @pytest.mark.parametrize(
        ("field", "empty_fits"), [("phone", True), ("email", True), ("password", False), ("role", False)]
    )
    def test_lets_through_the_empty_texts_that_are_taken(self, document, field, empty_fits):
        sent = document["components"]["schemas"]["PatchedAdministratorWriteRequest"]["properties"]

        assert Draft202012Validator(sent[field]).is_valid("") == empty_fits

    @pytest.mark.parametrize("path", ["/api/openapi.json", "/api/docs"])
    def test_is_kept_by_who_has_it_and_is_the_same_in_every_tenant(self, acme, address, path):
        first = httpx.get(f"{address}{path}")

        again = acme.get(path, headers={"If-None-Match": first.headers["ETag"]})

        assert first.status_code == 200
        assert "max-age" in first.headers["Cache-Control"]
        assert again.status_code == 304
        # It would replace that of the page, which then has neither style nor script.
        assert "Content-Security-Policy" not in again.headers
        assert httpx.post(f"{address}{path}").json()["code"] == 405


class TestReference:
    def test_shows_every_operation_and_asks_for_nothing_that_the_policy_forbids(self, address, document):
        page = httpx.get(f"{address}/api/docs")

        assert [
            name for name, operation in operations(document) if operation["operationId"] not in page.text
        ] == []
        assert re.findall(r"<style| style=| on\w+=", page.text) == []
        assert re.findall(r"<script[^>]*>(?=.)", page.text) == re.findall(
            r'<script src="/static/gatehouse/reference\.\w+\.js" defer>', page.text
        )
        assert re.findall(r'(?:src|href)="(?:https?:)?//[^"]+"', page.text) == []
        assert "unsafe" not in page.headers["Content-Security-Policy"]


class TestBehaviour:
    """schemathesis, with every check it has: see schemathesis.toml for what it is told."""

    @pytest.mark.skipif(
        not THOROUGH and connection.vendor != "sqlite", reason="the short round is the same on every engine"
    )
    def test_is_as_the_document_says(self, database):
        with stage.alone() as (address, environment):
            api = callers.Api(address, *superuser(environment))
            known = callers.assemble(api)
            keep_grants(environment)
            # Whom the document's own examples speak of: their credentials open the two sign-ins.
            for kind in ("users", "administrators"):
                api("POST", f"/{kind}", username="ada", password="correct horse battery staple")
            kept, deleted = (callers.spares(api, known.organization_id) for _ in range(2))

            # Links choose their ids themselves, so that part knows no rows made before.
            phases = "examples,coverage,fuzzing" if THOROUGH else "examples"
            alone = rehearse(address, configured(kept=kept, deleted=deleted), known, phases)
            linked = rehearse(address, CONFIGURATION, known, "stateful") if THOROUGH else None

            answers = [
                httpx.get(f"{address}{route}", headers={"Authorization": f"Bearer {token}"})
                for route, token in (
                    ("/api/admin/me", known.administrator),
                    ("/api/v1/users", known.machine),
                    (f"/api/v1/m2m/organizations/{known.organization_id}/members", known.organization),
                    ("/api/session/context", known.user),
                )
            ]
            lost = [f"{answer.url.path}: {answer.text}" for answer in answers if answer.is_error]
        assert alone.returncode == 0, alone.stdout[-20_000:] + alone.stderr
        assert linked is None or linked.returncode == 0, linked.stdout[-20_000:] + linked.stderr
        assert lost == [], "a caller did not live through it, and what came after proves nothing"


def superuser(environment: dict[str, str]) -> tuple[str, str]:
    """Make an administrator whose id no made-up path hits by chance."""
    username, password = "rehearsal", secrets.token_urlsafe(12)
    stage.manage(
        environment,
        "shell",
        "--command",
        "from management.administrators import models, services;"
        f"made = services.create(username={username!r}, password={password!r}, is_superuser=True);"
        f"models.Administrator.objects.filter(pk=made.pk).update(id={FAR_AWAY})",
    )
    return username, password


def keep_grants(environment: dict[str, str]) -> None:
    """Let sessions and refresh families outlive each lifetime that a made-up body sets.

    What has expired stays expired, and the user's token with it: bodies set lifetimes of a second.
    """
    stage.manage(
        environment,
        "shell",
        "--command",
        "from django.utils import timezone\n"
        "from identity.core import tenancy\n"
        "from identity.sessions.models import Session\n"
        "from oidc.grants.models import RefreshFamily\n"
        "later = timezone.now() + timezone.timedelta(days=1)\n"
        "with tenancy.using(tenancy.EVERYWHERE):\n"
        "    assert Session.objects.update(last_used_at=later, updated_at=later)\n"
        "    assert RefreshFamily.objects.update(created_at=later, rotated_at=later)\n",
    )


Paths = dict[str, dict[str, str]]


def configured(*, kept: Paths, deleted: Paths) -> Path:
    """Add to the written configuration which rows are for reading and changing, and which for deleting."""
    written = CONFIGURATION.read_text()
    for path, ids in deleted.items():
        written += told(f'include-name = "DELETE /api/v1/{path}"', ids)
    for path, ids in kept.items():
        written += told(
            f"include-path-regex = '^{re.escape(f'/api/v1/{path}')}'\nexclude-method = 'DELETE'", ids
        )
    file = Path(settings.VAR) / "schemathesis.toml"
    file.write_text(written)
    return file


def told(which: str, ids: dict[str, str]) -> str:
    values = ", ".join(f'"path.{name}" = "{pk}"' for name, pk in ids.items())
    return f"\n[[operations]]\n{which}\nparameters = {{ {values} }}\n"


def rehearse(
    address: str, configuration: Path, known: callers.Callers, phases: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration), "run"),
            *(f"{address}/api/openapi.json", "--url", address, "--checks", "all", "--no-color"),
            *(
                "--phases",
                phases,
                "--seed",
                "1",
                "--max-examples",
                "100" if THOROUGH else "1",
                "--warnings",
                "off",
            ),
        ],
        env=os.environ | known.environment(),
        cwd=settings.VAR,
        capture_output=True,
        text=True,
        check=False,
    )
