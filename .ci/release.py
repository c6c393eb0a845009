"""Makes a release: ``make release VERSION=1.2.0``.

It checks first, and then creates one commit and its tag. It pushes nothing. docs/upgrades.md explains the
rows of docs/releases.tsv.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import sbom

ROOT: Final = Path(__file__).resolve().parent.parent
PROJECT: Final = ROOT / "pyproject.toml"
CHANGELOG: Final = ROOT / "CHANGELOG.md"
RELEASES: Final = ROOT / "docs" / "releases.tsv"

_VERSION: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_UNRELEASED: Final = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_PROJECT_VERSION: Final = re.compile(r'^version = "[^"]*"$', re.MULTILINE)


def main(version: str) -> int:
    """Release the checked-out code, and return the exit code."""
    if problems := wrong(version):
        print("\n".join(f"Refused: {problem}" for problem in problems), file=sys.stderr)
        return 1
    changed = rows(version)
    PROJECT.write_text(_PROJECT_VERSION.sub(f'version = "{version}"', PROJECT.read_text(), count=1))
    heading = f"## [Unreleased]\n\n## [{version}] - {time.strftime('%Y-%m-%d', time.gmtime())}\n"
    CHANGELOG.write_text(CHANGELOG.read_text().replace("## [Unreleased]\n", heading, 1))
    with RELEASES.open("a") as table:
        table.writelines("\t".join(row) + "\n" for row in changed)
    sbom.write(version)
    git("add", str(sbom.FILE))
    git("commit", "--quiet", "--all", "--message", f"release: {version}")
    git("tag", "--annotate", f"v{version}", "--message", f"Gatehouse {version}")
    print(f"{version} is tagged, with {len(changed)} apps whose migrations are new. To bring it out:")
    print(f"  git push origin HEAD v{version}")
    print("docs/releasing.md has what to sign and to check first.")
    return 0


def wrong(version: str) -> list[str]:
    """Return the reasons against a release."""
    if not _VERSION.fullmatch(version):
        return [f"a version looks like 1.2.0, not {version!r}"]
    found = []
    if before := [row[0] for row in table()]:
        newest = max(before, key=order)
        if order(version) <= order(newest):
            found.append(f"{newest} is out already")
    if git("status", "--porcelain"):
        found.append("there are changes that are not committed")
    if git("tag", "--list", f"v{version}"):
        found.append(f"the tag v{version} is there already")
    unreleased = _UNRELEASED.search(CHANGELOG.read_text())
    if unreleased is None or not unreleased[1].strip():
        found.append("CHANGELOG.md has nothing below [Unreleased]")
    if not _PROJECT_VERSION.search(PROJECT.read_text()):
        found.append("pyproject.toml has no version")
    return found


def rows(version: str) -> list[tuple[str, str, str]]:
    """Return the last migration of each app whose migrations changed since the previous release."""
    known = {app: migration for _, app, migration in table()}
    return [(version, app, name) for app, name in sorted(last_migrations().items()) if known.get(app) != name]


def table() -> list[list[str]]:
    """Return the rows of the previous releases."""
    return [line.split("\t") for line in RELEASES.read_text().splitlines()[1:]]


def last_migrations() -> dict[str, str]:
    """Return the last migration of each app of this project."""
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings_test"
    import django  # noqa: PLC0415 - a refusal does not need it

    django.setup()
    from django.apps import apps  # noqa: PLC0415 - apps exist from here on
    from django.db.migrations.loader import MigrationLoader  # noqa: PLC0415

    ours = {app.label for app in apps.get_app_configs() if (ROOT / app.name.replace(".", "/")).is_dir()}
    return dict(sorted(name for name in MigrationLoader(None).disk_migrations if name[0] in ours))


def order(version: str) -> tuple[int, ...]:
    """Return the sort key of a version."""
    return tuple(map(int, version.split(".")))


def git(*arguments: str) -> str:
    """Run git in the checkout, and return its output.

    Raises:
        subprocess.CalledProcessError: git failed, and printed why.

    """
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [""]))
