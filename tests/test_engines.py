"""Each test runs on some engine: a file that is left to one engine is not skipped there."""

import re
from unittest import mock

import pytest
from django.conf import settings

from tests.support import engine
from tests.support.engine import APART, ONCE

_TESTS = settings.BASE_DIR / "tests"
# How a whole file says which engine it does not run on.
_SKIPS = {
    "postgres": re.compile(r'environ.get\("TEST_ENGINE"\) == "postgres"'),
    "sqlite": re.compile(
        r'^pytestmark = pytest.mark.skipif\(\s+connection.vendor != "postgresql"', re.MULTILINE
    ),
}


@pytest.mark.parametrize("engine", ONCE)
def test_no_file_is_left_to_an_engine_that_skips_it(engine):
    left = [path for name in ONCE[engine] for path in _TESTS.glob(f"{name}*") for path in _files(path)]

    assert left
    assert [path.name for path in left if _SKIPS[engine].search(path.read_text())] == []


@pytest.mark.parametrize("engine", ONCE)
def test_every_name_is_one_of_a_file(engine):
    assert [name for name in ONCE[engine] if not any(_TESTS.glob(f"{name}*"))] == []


@pytest.mark.parametrize("mine", ONCE)
def test_the_files_of_the_other_engine_are_not_imported_unless_all_run_on_both(monkeypatch, mine):
    (other,) = set(ONCE) - {mine}
    config = mock.Mock(rootpath=settings.BASE_DIR)
    config.getoption = {"engine": mine, "apart": False}.get

    def ignored(name):
        return engine.pytest_ignore_collect(_TESTS / name, config)

    monkeypatch.delenv("GATEHOUSE_BOTH_ENGINES", raising=False)
    monkeypatch.setenv("TEST_SIDE_BY_SIDE", "1")
    assert [name for name in ONCE[other] if not ignored(f"{name}test_x.py")] == []
    mine_beside = [name for name in ONCE[mine] if not name.startswith(APART[mine])]
    assert [name for name in mine_beside if ignored(f"{name}test_x.py") is not None] == []

    monkeypatch.setenv("GATEHOUSE_BOTH_ENGINES", "1")
    assert not any(ignored(name) for name in ONCE[other] if not name.startswith(APART[mine]))


@pytest.mark.parametrize("mine", APART)
def test_each_file_of_an_engine_runs_apart_or_beside_the_other_engine(monkeypatch, mine):
    monkeypatch.setenv("TEST_SIDE_BY_SIDE", "1")
    (other,) = set(APART) - {mine}

    def collected(*, apart):
        config = mock.Mock(rootpath=settings.BASE_DIR)
        config.getoption = {"engine": mine, "apart": apart}.get
        return {path for path in _collected(_TESTS, config) if path.suffix == ".py"}

    apart, beside = collected(apart=True), collected(apart=False)

    assert not apart & beside
    of_the_other = {path for name in ONCE[other] for at in _TESTS.glob(f"{name}*") for path in _files(at)}
    assert apart | beside == set(_TESTS.rglob("test_*.py")) - of_the_other
    found = "\n".join(map(str, apart))
    assert [name for name in APART[mine] if f"{_TESTS}/{name}" not in found] == []


def _collected(folder, config):
    """The files below a folder that no hook ignores, found as pytest finds them: folder by folder."""
    for path in folder.iterdir():
        if engine.pytest_ignore_collect(path, config) is None:
            if path.is_dir():
                yield from _collected(path, config)
            elif path.name.startswith("test_"):
                yield path


def _files(path):
    return path.rglob("test_*.py") if path.is_dir() else [path]
