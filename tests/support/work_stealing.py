"""Work stealing: a process that has run its own files runs those of another process.

If PostgreSQL answers, ``tests/run`` starts three processes, each with lists of its own. A process claims each
file before it runs it. When its own lists have no file left, it claims files of the others: first those that
take minutes in a thorough run, then from the end of the list. ``TEST_CLAIMS`` names the folder in which the
processes record their claims.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

# Folders whose files share results, or servers that take long to start.
_TOGETHER: Final = ("tests/conformance/", "tests/docs/", "tests/faults/", "tests/interop/")
# The other processes would wait for minutes for a file of these that starts last.
_LONG: Final = (
    "tests/faults/",
    "tests/identity/test_ownership_races.py",
    "tests/interop/",
    "tests/management/test_bad_input.py",
    "tests/management/test_openapi.py",
    "tests/oidc/test_races.py",
    "tests/oidc/test_rotation_under_load.py",
    "tests/security/attacks/test_consent_races.py",
)


class Claims:
    """The files of one list that the processes of a run have claimed."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name

    def begin(self) -> bool:
        """Record that a process begins with the list. Return whether it is the first."""
        return self._record("begun")

    def claim(self, files: str) -> bool:
        """Claim a file or a folder. Return False if another process has claimed it."""
        return self._record(_claim_of(files))

    def is_claimed(self, files: str) -> bool:
        return self._path(_claim_of(files)).exists()

    def end(self) -> None:
        """Record that all files are claimed, so that no other process starts with the list."""
        self._record("claimed")

    def _record(self, what: str) -> bool:
        try:
            self._path(what).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _path(self, what: str) -> Path:
        return self._folder / f"{self._name} {what}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files that another process has claimed. Shards divide all files, so they need each."""
    claims = _get_claims(config)
    if claims is None or config.getoption("shard") or not collection_path.is_relative_to(config.rootpath):
        return None
    file = collection_path.relative_to(config.rootpath).as_posix()
    return True if claims.is_claimed(_with_its_folder(file)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests of the files that this process claims. Without a folder for claims, pytest runs all."""
    claims = _get_claims(session.config)
    if claims is None or session.testsfailed or session.config.option.collectonly:
        return None
    claimed = take(session.items, claims)
    item = next(claimed, None)
    while item is not None:
        following = next(claimed, None)  # pytest keeps the fixtures that both need
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    return True


def take(items: Iterable[pytest.Item], claims: Claims) -> Iterator[pytest.Item]:
    """Yield the tests of the files that this process claims.

    The first process claims from the start of the list, others the long files first and then from the end.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(_with_its_folder(item.nodeid.partition("::")[0]), []).append(item)
    order = list(tests)
    if not claims.begin():
        order.reverse()
        order.sort(key=lambda files: files not in _LONG)
    for files in order:
        if claims.claim(files):
            yield from tests[files]
    claims.end()


def _get_claims(config: pytest.Config) -> Claims | None:
    folder = os.environ.get("TEST_CLAIMS")
    apart = "-apart" if config.getoption("apart") else ""
    return Claims(Path(folder), f"{config.getoption('engine')}{apart}") if folder else None


def _with_its_folder(file: str) -> str:
    """Return a file, or its folder if that stays together."""
    return next((folder for folder in _TOGETHER if file.startswith(folder)), file)


def _claim_of(files: str) -> str:
    return f"has {files.replace('/', ' ')}"
