"""The lines of the changed files that each test reaches, so that a change is tried with few tests."""

import gc
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import coverage
import pytest

from database.statements import Statement
from tests.mutation.mutants import ROOT, Mutant

_FEW = 2  # tests, when the line may have been reached by others too if it had not run already


@dataclass
class Reached:
    """The tests that pass without a change: the CPU seconds of each, and those that reach each line."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Reached":
        stored = json.loads(path.read_text())
        lines = {file: {int(line): tests for line, tests in rows} for file, rows in stored["lines"].items()}
        return cls(stored["seconds"], lines)

    def write(self, path: Path) -> None:
        lines = {file: list(rows.items()) for file, rows in self.lines.items()}
        path.write_text(json.dumps({"seconds": self.seconds, "lines": lines}))

    def get_tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that can notice a change: one of each test function first, and the fastest first.

        Some lines run once in a process. Of a line that few tests reach, all tests of the file can notice a
        change.
        """
        lines = self.lines.get(mutant.path, {})
        tests = self._sort(test for line in mutant.lines for test in lines.get(line, ()))
        if len(tests) > _FEW:
            return tests
        others = self._sort(test for names in lines.values() for test in names)
        return list(dict.fromkeys([*tests, *others]))

    def _sort(self, tests: Iterable[str]) -> list[str]:
        fastest_first = sorted({test for test in tests if test in self.seconds}, key=self.seconds.__getitem__)
        functions: Counter[str] = Counter()
        turns = {}
        for test in fastest_first:
            function = test.partition("[")[0]
            turns[test] = functions[function]
            functions[function] += 1
        return sorted(fastest_first, key=turns.__getitem__)


class Recorder:
    """A plugin that measures which test reaches which line, in all threads of the process."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = tuple(files)
        self.reached = Reached()
        self._started = 0.0
        self._statements = [found for found in gc.get_objects() if isinstance(found, Statement)]
        paths = [str(ROOT / path) for path in self.files]
        self._measured = coverage.Coverage(data_file=None, config_file=False, include=paths)

    def record(self, run: Callable[[], object]) -> Reached:
        """Run the tests, and return what they reached."""
        self._measured.start()
        try:
            run()
        finally:
            self._measured.stop()
        data = self._measured.get_data()
        for path in self.files:
            self.reached.lines[path] = {
                line: [test for test in tests if test]
                for line, tests in data.contexts_by_lineno(str(ROOT / path)).items()
            }
        return self.reached

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        for statement in self._statements:
            statement._local = threading.local()  # so that this test compiles it, and reaches its lines
        self._measured.switch_context(nodeid)
        self._started = time.process_time()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.reached.seconds[report.nodeid] = time.process_time() - self._started
