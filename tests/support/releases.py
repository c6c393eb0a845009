"""Which releases are out, and the code of one."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from tests.support.packages import lacking

TABLE = settings.BASE_DIR / "docs" / "releases.tsv"
# What the Dockerfile copies.
_CODE = (
    "manage.py", "pyproject.toml", "requirements-production.lock",
    "config", "database", "audit", "identity", "oidc", "management", "interaction", "templates",
)  # fmt: skip


class Row(NamedTuple):
    """An app whose migrations changed with a release, and the last of them."""

    version: str
    app: str
    migration: str


def table() -> list[Row]:
    heading, *rows = TABLE.read_text().splitlines()
    assert heading == "release\tapp\tmigration"
    return [Row(*row.split("\t")) for row in rows]


def last_release() -> str | None:
    """The version of the last release; none before the first."""
    rows = table()
    return rows[-1].version if rows else None


def code_of(version: str, folder: Path) -> Path:
    """The code of a release, as it was. Tags may be lacking: the commit is the one that added its rows."""
    if not (settings.BASE_DIR / ".git").exists() or _git("rev-parse", "--is-shallow-repository") == "true":
        lacking(f"history of this repository, where release {version} is", "git fetch --unshallow")
    added = f"-G^{re.escape(version)}\t"
    commit = _git("log", "--reverse", "--format=%H", added, "--", "docs/releases.tsv").partition("\n")[0]
    if not commit:
        lacking(f"commit in this history that added the rows of release {version}", "git fetch")
    folder.mkdir()
    there = _git("ls-tree", "--name-only", commit, "--", *_CODE).split()  # older releases lack some
    archive = subprocess.Popen(
        ["git", "archive", commit, *there],  # noqa: S607 - whichever git there is
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
    )
    with archive:
        subprocess.run(["tar", "-x"], cwd=folder, stdin=archive.stdout, check=True)  # noqa: S607 - as above
    assert archive.returncode == 0
    return folder


def code_of_now(folder: Path) -> Path:
    """A copy of what is checked out, with what is not committed."""
    folder.mkdir()
    for name in _CODE:
        source = settings.BASE_DIR / name
        if source.is_dir():
            shutil.copytree(source, folder / name)  # with the compiled modules: Python checks their age
        else:
            shutil.copy(source, folder)
    return folder


def _git(*arguments: str) -> str:
    ended = subprocess.run(
        ["git", *arguments],  # noqa: S607 - whichever git there is
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stdout.strip()
