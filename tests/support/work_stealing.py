"""Lists of files that several processes of one run share: each file runs in the process that takes it first.

``tests/run`` starts three processes, each with a list of its own. A process that has no files left runs those
of another list until no list has a file that nobody has taken. It begins with what takes minutes in a
thorough run, and goes on from the end of the list. ``TEST_TAKEN`` names the folder in which they note what is
taken.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

# Folders whose files share what takes long to set up, or what they found.
_TOGETHER: Final = ("tests/conformance/", "tests/docs/", "tests/faults/", "tests/interop/")
# What keeps the other processes waiting for minutes if it is begun last.
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


class Notes:
    """What the processes of a run have noted about one list of files."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name

    def begin(self) -> bool:
        """Note that a process begins. Return whether it is the first."""
        return self._note("begun")

    def take(self, files: str) -> bool:
        """Take a file or a folder. Return False if another process has taken it."""
        return self._note(_taking(files))

    def is_taken(self, files: str) -> bool:
        return self._path(_taking(files)).exists()

    def end(self) -> None:
        """Note that all files are taken, so that no other process starts with the list."""
        self._note("taken")

    def _note(self, what: str) -> bool:
        try:
            self._path(what).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _path(self, what: str) -> Path:
        return self._folder / f"{self._name} {what}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files that another process has taken. Shards are made of all files, so they need them."""
    notes = _notes_of(config)
    if notes is None or config.getoption("shard") or not collection_path.is_relative_to(config.rootpath):
        return None
    file = collection_path.relative_to(config.rootpath).as_posix()
    return True if notes.is_taken(_with_its_folder(file)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests of the files that this process takes. Without a folder for notes, pytest runs all."""
    notes = _notes_of(session.config)
    if notes is None or session.testsfailed or session.config.option.collectonly:
        return None
    todo = take(session.items, notes)
    item = next(todo, None)
    while item is not None:
        following = next(todo, None)  # pytest keeps the fixtures that both need
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    return True


def take(items: Iterable[pytest.Item], notes: Notes) -> Iterator[pytest.Item]:
    """Yield the tests of files that no other process has taken. The first process begins at the beginning."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(_with_its_folder(item.nodeid.partition("::")[0]), []).append(item)
    order = list(tests)
    if not notes.begin():
        order.reverse()
        order.sort(key=lambda files: files not in _LONG)
    for files in order:
        if notes.take(files):
            yield from tests[files]
    notes.end()


def _notes_of(config: pytest.Config) -> Notes | None:
    folder = os.environ.get("TEST_TAKEN")
    apart = "-apart" if config.getoption("apart") else ""
    return Notes(Path(folder), f"{config.getoption('engine')}{apart}") if folder else None


def _with_its_folder(file: str) -> str:
    """Return a file, or its folder if that stays together."""
    return next((folder for folder in _TOGETHER if file.startswith(folder)), file)


def _taking(files: str) -> str:
    return f"has {files.replace('/', ' ')}"
