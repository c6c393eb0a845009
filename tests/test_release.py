"""``make release``, in a clone: one commit and one tag, or a refusal that changes nothing."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from tests.support import releases

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or not (settings.BASE_DIR / ".git").exists(),
    reason="releases are made from a repository",
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What is checked out, committed, in a repository of its own without releases."""
    folder = releases.code_of_now(tmp_path / "clone")
    for name in (".ci", "docs"):
        shutil.copytree(settings.BASE_DIR / name, folder / name)
    shutil.copy(settings.BASE_DIR / "CHANGELOG.md", folder)
    shutil.copy(settings.BASE_DIR / ".gitignore", folder)
    (folder / "docs/releases.tsv").write_text("release\tapp\tmigration\n")
    unreleased(folder, "Something.")
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "Releaser")
    git(folder, "config", "user.email", "releaser@rp.example")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "work")


def release(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ".ci/release.py", version]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


def unreleased(folder: Path, news: str) -> None:
    changelog = folder / "CHANGELOG.md"
    text = changelog.read_text()
    changelog.write_text(text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n### Added\n\n- {news}\n", 1))


def empty_changelog(folder: Path) -> None:
    (folder / "CHANGELOG.md").write_text("## [Unreleased]\n\n## [7.0.0]\n\n- Old.\n")
    commit(folder)


def rows(folder: Path) -> list[list[str]]:
    return [line.split("\t") for line in (folder / "docs/releases.tsv").read_text().splitlines()[1:]]


def test_a_release_is_a_commit_with_a_tag_that_names_the_last_migration_of_each_app(clone):
    made = release(clone, "7.1.0")

    assert made.returncode == 0, made.stderr
    assert git(clone, "rev-parse", "v7.1.0^{commit}") == git(clone, "rev-parse", "HEAD")
    assert git(clone, "status", "--porcelain") == ""
    assert 'version = "7.1.0"' in (clone / "pyproject.toml").read_text()
    changelog = (clone / "CHANGELOG.md").read_text()
    assert re.search(
        r"^## \[Unreleased\]\n\n## \[7\.1\.0\] - \d{4}-\d\d-\d\d\n\n### Added", changelog, re.MULTILINE
    )
    for version, app, migration in rows(clone):
        newest = max(Path(apps.get_app_config(app).path, "migrations").glob("0*.py"))
        assert (version, migration) == ("7.1.0", newest.stem)
    assert {"users", "audit", "grants", "keys"} <= {app for _, app, _ in rows(clone)}
    bill = json.loads(git(clone, "show", "v7.1.0:docs/sbom.cdx.json"))
    assert bill["metadata"]["component"]["version"] == "7.1.0"
    assert {"Django", "django"} & {component["name"] for component in bill["components"]}


def test_the_next_release_has_a_row_for_each_app_that_changed_since(clone):
    release(clone, "7.1.0")
    before = rows(clone)
    migration = "class Migration(migrations.Migration):\n    kind = 'expand'\n"
    (clone / "audit/migrations/0900_more.py").write_text(
        f"from django.db import migrations\n{migration}"
        f"    dependencies = [('audit', '{dict(row[1:] for row in before)['audit']}')]\n"
    )
    unreleased(clone, "More.")
    commit(clone)

    made = release(clone, "7.10.0")

    assert made.returncode == 0, made.stderr
    assert rows(clone) == [*before, ["7.10.0", "audit", "0900_more"]]
    unreleased(clone, "Even more.")
    commit(clone)
    assert "7.10.0 is out already" in release(clone, "7.9.0").stderr


@pytest.mark.parametrize(
    ("version", "spoil", "said"),
    [
        ("v7.1.0", lambda _: None, "looks like 1.2.0"),
        ("7.1", lambda _: None, "looks like 1.2.0"),
        ("7.1.0", lambda clone: (clone / "manage.py").write_text(""), "not committed"),
        ("7.1.0", lambda clone: git(clone, "tag", "v7.1.0"), "the tag v7.1.0 is there"),
        (
            "7.1.0",
            empty_changelog,
            "nothing below [Unreleased]",
        ),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_changed(clone, version, spoil, said):
    spoil(clone)
    before = git(clone, "rev-parse", "HEAD"), git(clone, "status", "--porcelain"), git(clone, "tag", "--list")

    refused = release(clone, version)

    assert refused.returncode == 1
    assert said in refused.stderr
    after = git(clone, "rev-parse", "HEAD"), git(clone, "status", "--porcelain"), git(clone, "tag", "--list")
    assert after == before
