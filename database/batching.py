"""Statements of several requests, executed in one round trip and one transaction.

``Work`` is a generator. It yields a ``Call`` for each statement that may be executed together with statements
of other requests, and gets the ``Outcome`` of the call. It does everything else itself, at once.
"""

from collections.abc import Callable, Generator, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from django.core.exceptions import SynchronousOnlyOperation
from django.db import DEFAULT_DB_ALIAS, connections

# Whether work is done in an event loop, which must not wait.
IN_LOOP: Final = ContextVar("IN_LOOP", default=False)

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rows that a statement returned, and how many it returned or changed."""

    rows: list[tuple[Any, ...]]
    count: int


@dataclass(frozen=True, slots=True)
class Call:
    """A statement with its parameters. ``execute`` executes it by itself.

    Calls can be executed together only if none of them waits for a lock that another request holds:
    otherwise two transactions, each with several calls, could wait for each other.
    """

    sql: str
    parameters: Sequence[Any]
    execute: Callable[[], Outcome]


Work = Generator[Call, Outcome, R]


Outcomes = Sequence[Outcome | Exception]  # of calls, or the error of a call
# Begins to execute calls. Calls the function with their outcomes later, or at once if they cannot be sent.
Execute = Callable[[Sequence[Call], Callable[[Outcomes], None]], None]


class RolledBack(Exception):
    """A call failed, so none of the calls that were executed together with it has changed anything."""


def refuse_in_loop() -> None:
    """Raise an error in an event loop, so that a thread does the work instead.

    Call this before waiting for anything but the calls of work, such as Redis. A statement that is no call
    raises the same error.

    Raises:
        SynchronousOnlyOperation: the work is done in an event loop.

    """
    if IN_LOOP.get():
        raise SynchronousOnlyOperation("this work has to wait")


def run(work: Work[R]) -> R:
    """Run one piece of work by itself, and return its result.

    Raises:
        Exception: what the work raised. Work can handle the error of a call.

    """
    try:
        call = next(work)
        while True:
            try:
                outcome = call.execute()
            except Exception as error:  # noqa: BLE001 - the work gets it
                call = work.throw(error)
            else:
                call = work.send(outcome)
    except StopIteration as end:
        result: R = end.value
        return result
    finally:
        work.close()  # at once, so that its context variables are reset in this thread


class Task(Generic[R]):
    """One of several pieces of work, with context variables of its own."""

    def __init__(self, work: Work[R]) -> None:
        self._work: Final = work
        self._context: Final = copy_context()
        self._result: R
        self._error: Exception | None = None
        self.call: Call

    def execute(self) -> Outcome | Exception:
        """Execute the call by itself, and return its outcome or its error."""
        try:
            return self._context.run(self.call.execute)
        except Exception as error:  # noqa: BLE001 - the work gets it
            return error

    def advance(self, outcome: Outcome | Exception | None) -> bool:
        """Continue until the next call. Return false if the work is done. ``outcome`` is None at the start.

        Work whose call had an error can handle it.
        """
        step: Callable[[Any], Call] = self._work.throw if isinstance(outcome, Exception) else self._work.send
        try:
            self.call = self._context.run(step, outcome)
        except StopIteration as end:
            self._result = end.value
            return False
        except Exception as error:  # noqa: BLE001 - ``get_result`` raises it
            self._error = error
            return False
        return True

    @property
    def needs_thread(self) -> bool:
        """Whether the work has failed because it was done in an event loop and had to wait."""
        return isinstance(self._error, SynchronousOnlyOperation)

    def get_result(self) -> R:
        """Return the result of the work.

        Raises:
            RolledBack: a call of this or of another work failed.
            Exception: what the work raised.

        """
        if self._error is not None:
            raise self._error
        return self._result


def run_batch(works: Sequence[Work[R]]) -> list[Task[R]]:
    """Run several pieces of work: the first calls of all of them, then the second ones, and so on.

    What one piece of work raises does not concern the others. If calls were executed in one transaction and
    one of them fails, none has changed anything. Then each work gets ``RolledBack``, or the error itself if a
    statement waited too long or the connection broke.
    """
    tasks = [Task(work) for work in works]
    waiting = [task for task in tasks if task.advance(None)]
    while waiting:
        waiting = _advance(waiting, _execute(waiting))
    return tasks


def start_batch(
    works: Sequence[Work[R]], execute: Execute, finish: Callable[[Sequence[Task[R]]], None]
) -> None:
    """Run what ``run_batch`` runs, but without waiting: ``finish`` gets the tasks when all are done."""
    tasks = [Task(work) for work in works]
    _proceed(tasks, execute, finish, [task for task in tasks if task.advance(None)])


def _proceed(
    tasks: Sequence[Task[R]],
    execute: Execute,
    finish: Callable[[Sequence[Task[R]]], None],
    waiting: Sequence[Task[R]],
) -> None:
    if waiting:
        calls = [task.call for task in waiting]
        execute(calls, lambda outcomes: _proceed(tasks, execute, finish, _advance(waiting, outcomes)))
    else:
        finish(tasks)


def _advance(tasks: Sequence[Task[R]], outcomes: Outcomes) -> list[Task[R]]:
    """Continue each task with the outcome of its call, and return those that have another call."""
    return [task for task, outcome in zip(tasks, outcomes, strict=True) if task.advance(outcome)]


def _execute(tasks: Sequence[Task[Any]]) -> Outcomes:
    """Execute the calls of tasks, and return the outcome or the error of each."""
    database: Any = connections[DEFAULT_DB_ALIAS]
    if len(tasks) > 1 and hasattr(database, "execute_batch"):
        try:
            executed: list[Outcome | Exception] | None = database.execute_batch([task.call for task in tasks])
        except Exception as error:  # noqa: BLE001 - each work gets it
            return [error] * len(tasks)
        if executed is not None:
            return executed
    return [task.execute() for task in tasks]
