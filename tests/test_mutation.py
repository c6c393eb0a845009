"""The program of mutation tests: it changes functions, and tests with and without a server notice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.support.threads import THOROUGH

TESTS = ("tests/oidc/applications", "tests/oidc/test_redirect_uris.py")


@pytest.mark.skipif(not THOROUGH, reason="a run takes a minute; GATEHOUSE_THOROUGH=1 has it")
def test_a_run_changes_functions_and_runs_tests_over_http(tmp_path: Path):
    results, reached = tmp_path / "results", tmp_path / "reached"
    results.touch()
    plugin = ("-p", "tests.mutation.plugin", "-p", "no:cacheprovider", "-q")
    options = ("--seed=1", "--seconds=5", "--limit=5", "--parameters=3", "--weakening")
    environment = {name: os.environ[name] for name in ("PATH", "HOME")}
    files = (f"--results={results}", f"--reached={reached}", "--group=redirect URIs")

    subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, *options, *files, *TESTS],
        cwd=settings.BASE_DIR,
        env=environment,
        check=True,
        capture_output=True,
    )

    made_of = [line.split("\t")[4] for line in results.read_text().splitlines()]
    assert "killed" in made_of
    assert "invalid" not in made_of
    assert "is_not_registered_with_a_bad_one" in reached.read_text()
