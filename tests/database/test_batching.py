"""Work of several requests, done together: order, errors and context variables of each."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import pytest

from database import batching
from database.batching import Call, Outcome, Work

_who: ContextVar[str] = ContextVar("who", default="nobody")


class FakeDatabase:
    """A connection that executes calls together, and notes which."""

    def __init__(self) -> None:
        self.turns: list[list[str]] = []
        self.answer: Callable[[Sequence[Call]], Any] = lambda calls: [
            Outcome([(call.sql,)], 1) for call in calls
        ]

    def execute_batch(self, calls: Sequence[Call]) -> Any:
        self.turns.append([call.sql for call in calls])
        return self.answer(calls)


class Failed(Exception):
    """What a call raises."""


def call(log: list[Any], name: object, error: Exception | None = None) -> Call:
    def execute() -> Outcome:
        log.append((name, _who.get()))
        if error is not None:
            raise error
        return Outcome([(name,)], 1)

    return Call(str(name), (), execute)


def count(log: list[Any], name: str, *, calls: int) -> Work[str]:
    """Work of so many calls, in a context of its own."""
    token = _who.set(name)
    try:
        for number in range(calls):
            outcome = yield call(log, f"{name}{number}")
            assert outcome.rows == [(f"{name}{number}",)]
            assert _who.get() == name
    finally:
        _who.reset(token)
    return f"{name} is done"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that executes calls one after another."""
    monkeypatch.setattr(batching, "connections", {"default": object()})


def test_one_piece_of_work_is_done_at_once():
    log: list[Any] = []

    assert batching.run(count(log, "a", calls=2)) == "a is done"

    assert log == [("a0", "a"), ("a1", "a")]


def test_the_error_of_its_call_is_raised_in_it():
    def careful() -> Work[str]:
        try:
            yield call([], "a", Failed())
        except Failed:
            return "handled"
        return "not raised"

    assert batching.run_batch([careful()])[0].get_result() == "handled"
    assert batching.run(careful()) == "handled"
    with pytest.raises(Failed):
        batching.run(count_failed())


def test_work_that_fails_leaves_its_context_at_once():
    def fail() -> Work[str]:
        token = _who.set("a")
        try:
            yield call([], "a", Failed())
        finally:
            _who.reset(token)
        return "not raised"

    with pytest.raises(Failed) as raised:  # whose traceback keeps the work
        batching.run(fail())

    assert _who.get() == "nobody"
    assert raised.value.__traceback__ is not None


def count_failed() -> Work[str]:
    yield call([], "a", Failed())
    return "not raised"


def test_calls_go_in_turns_each_in_the_context_of_its_work():
    log: list[Any] = []

    tasks = batching.run_batch([count(log, name, calls=n) for name, n in (("a", 2), ("b", 0), ("c", 3))])

    assert [task.get_result() for task in tasks] == ["a is done", "b is done", "c is done"]
    assert log == [("a0", "a"), ("c0", "c"), ("a1", "a"), ("c1", "c"), ("c2", "c")]
    assert _who.get() == "nobody"


def test_what_work_raises_concerns_no_other():
    def fail() -> Work[str]:
        yield call([], "f")
        raise Failed

    tasks = batching.run_batch([fail(), count([], "a", calls=3), count_failed()])

    assert tasks[1].get_result() == "a is done"
    for task in (tasks[0], tasks[2]):
        with pytest.raises(Failed):
            task.get_result()


def test_nothing_to_do():
    assert batching.run_batch([]) == []


class TestAConnectionThatExecutesTogether:
    @pytest.fixture
    def pipelined(self, alone: None, monkeypatch: pytest.MonkeyPatch) -> FakeDatabase:
        made = FakeDatabase()
        monkeypatch.setattr(batching, "connections", {"default": made})
        return made

    def test_gets_the_calls_of_each_turn(self, pipelined):
        log: list[Any] = []

        tasks = batching.run_batch([count(log, "a", calls=2), count(log, "b", calls=1)])

        assert [task.get_result() for task in tasks] == ["a is done", "b is done"]
        assert pipelined.turns == [["a0", "b0"]]
        assert log == [("a1", "a")]  # one call alone is executed as ever

    def test_may_leave_them_to_be_executed_one_after_another(self, pipelined):
        pipelined.answer = lambda _: None
        log: list[Any] = []

        batching.run_batch([count(log, "a", calls=1), count(log, "b", calls=1)])

        assert log == [("a0", "a"), ("b0", "b")]

    def test_gives_each_call_its_own_outcome_or_error(self, pipelined):
        pipelined.answer = lambda calls: [Outcome([(calls[0].sql,)], 1), batching.RolledBack()]

        first, second = batching.run_batch([count([], "a", calls=1), count([], "b", calls=1)])

        assert first.get_result() == "a is done"
        with pytest.raises(batching.RolledBack):
            second.get_result()

    def test_fails_all_of_them(self, pipelined):
        def fail(_: Any) -> Any:
            raise Failed

        pipelined.answer = fail

        for task in batching.run_batch([count([], "a", calls=1), count([], "b", calls=1)]):
            with pytest.raises(Failed):
                task.get_result()
