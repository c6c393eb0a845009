"""The processes of a run claim files of one list, and together they run each file once."""

import shutil
import subprocess
from collections import Counter
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from tests.support import work_stealing
from tests.support.work_stealing import Claims, take

FILES = ["tests/a/test_a.py", "tests/faults/test_b.py", "tests/faults/test_c.py", "tests/d/test_d.py"]


def items_of(*files: str) -> list[Any]:
    return [SimpleNamespace(nodeid=f"{file}::test_{number}") for file in files for number in range(2)]


def ids(items: Any) -> list[str]:
    return [item.nodeid for item in items]


@given(order=st.lists(st.integers(0, 2), max_size=30))
def test_each_test_runs_in_one_process_in_any_order(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("taken")
    processes = [take(items_of(*FILES), Claims(folder, "sqlite")) for _ in range(3)]

    ran = [item for turn in order if (item := next(processes[turn], None))]
    ran += [item for process in processes for item in process]

    assert sorted(ids(ran)) == sorted(ids(items_of(*FILES)))


def test_a_second_process_begins_with_long_files_and_at_the_end_and_a_folder_stays_together(tmp_path):
    files = [*FILES, "tests/e/test_e.py"]
    first, second = (take(items_of(*files), Claims(tmp_path, "sqlite")) for _ in range(2))

    started = next(first).nodeid

    assert started == f"{FILES[0]}::test_0"
    assert ids(second) == ids(items_of(FILES[1], FILES[2], "tests/e/test_e.py", FILES[3]))
    assert ids(first) == [f"{FILES[0]}::test_1"]


def test_every_long_file_is_there():
    assert [name for name in work_stealing._LONG if not (settings.BASE_DIR / name).exists()] == []


def test_lists_are_claimed_apart_and_one_without_a_file_left_is_recorded(tmp_path):
    list(take(items_of(*FILES), Claims(tmp_path, "sqlite")))

    assert ids(take(items_of(*FILES), Claims(tmp_path, "postgres-apart"))) == ids(items_of(*FILES))
    assert {path.name for path in tmp_path.iterdir() if path.name.endswith(" claimed")} == {
        "sqlite claimed",
        "postgres-apart claimed",
    }


def config_of(root, **options) -> Any:
    return mock.Mock(rootpath=root, getoption=({"engine": "sqlite", "apart": False} | options).get)


@pytest.fixture
def claimed(tmp_path, monkeypatch):
    """The folder of the claims, where another process has claimed a file and a folder."""
    monkeypatch.setenv("TEST_CLAIMS", str(tmp_path))
    other = Claims(tmp_path, "sqlite")
    assert other.begin()
    assert other.claim("tests/a/test_a.py")
    assert other.claim("tests/faults/")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "options", "ignored"),
    [
        ("tests/a/test_a.py", {}, True),
        ("tests/faults/test_b.py", {}, True),
        ("tests/d/test_d.py", {}, None),
        ("tests/a/test_a.py", {"apart": True}, None),
        ("tests/a/test_a.py", {"shard": (1, 3)}, None),
    ],
)
def test_what_another_process_has_claimed_is_not_imported(claimed, file, options, ignored):
    config = config_of(claimed, **options)

    assert work_stealing.pytest_ignore_collect(claimed / file, config) is ignored


def test_the_loop_runs_what_is_left_and_says_which_test_comes_next(claimed):
    session = mock.Mock(
        items=items_of(*FILES, "tests/e/test_e.py"), testsfailed=0, shouldfail=False, shouldstop=False
    )
    session.config = config_of(claimed)
    session.config.option.collectonly = False
    ran = []
    for item in session.items:
        item.config = mock.Mock()
        item.config.hook.pytest_runtest_protocol = lambda item, nextitem: ran.append((item, nextitem))

    assert work_stealing.pytest_runtestloop(session) is True

    tests = [item for item, _ in ran]
    assert ids(tests) == ids(items_of("tests/e/test_e.py", "tests/d/test_d.py"))
    assert [following for _, following in ran] == [*tests[1:], None]


@pytest.mark.parametrize("stop", ["shouldfail", "shouldstop"])
def test_the_loop_ends_where_pytest_says_so(claimed, stop):
    items = items_of("tests/d/test_d.py")
    session = mock.Mock(items=items, testsfailed=0, shouldfail=False, shouldstop=False)
    session.config = config_of(claimed)
    session.config.option.collectonly = False
    session.Failed, session.Interrupted = ValueError, KeyError
    for item in items:
        item.config = mock.Mock()
        item.config.hook.pytest_runtest_protocol = lambda **_: setattr(session, stop, "enough")

    with pytest.raises(ValueError if stop == "shouldfail" else KeyError):
        work_stealing.pytest_runtestloop(session)


@pytest.mark.parametrize(("failed", "only_collects"), [(1, False), (0, True)])
def test_pytest_itself_tells_of_errors_and_lists_tests(claimed, failed, only_collects):
    session = mock.Mock(items=[], testsfailed=failed)
    session.config = config_of(claimed)
    session.config.option.collectonly = only_collects

    assert work_stealing.pytest_runtestloop(session) is None


def test_without_a_folder_for_claims_pytest_runs_all(monkeypatch):
    monkeypatch.delenv("TEST_CLAIMS", raising=False)

    assert work_stealing.pytest_runtestloop(mock.Mock()) is None
    assert work_stealing.pytest_ignore_collect(mock.Mock(), mock.Mock()) is None


def test_each_process_of_tests_run_helps_with_every_list(tmp_path):
    """Nothing is claimed here, because a program that records its arguments replaces Python."""
    python, script = tmp_path / ".venv/bin/python", tmp_path / "tests/run"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\n[ "$2" != pytest ] || echo "$@" >>arguments\n')
    python.chmod(0o755)
    script.parent.mkdir()
    shutil.copy(settings.BASE_DIR / "tests/run", script)

    subprocess.run(["/bin/sh", script], check=False, capture_output=True)

    lists = [
        f"-m pytest --engine={engine}{apart}"
        for engine in ("sqlite", "postgres")
        for apart in ("", " --apart")
    ]
    assert Counter((tmp_path / "arguments").read_text().splitlines()) == dict.fromkeys(lists, 3)
