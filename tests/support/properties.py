"""How long a property is tried: a few examples in an ordinary run, or for a time that somebody names.

``GATEHOUSE_PROPERTY_SECONDS=1800`` tries each property for half an hour with examples drawn at random.
A thorough run takes 20 seconds for each. An ordinary run draws the same few examples each time.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import Final, cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.support.threads import THOROUGH

SECONDS: Final = float(os.environ.get("GATEHOUSE_PROPERTY_SECONDS", "20" if THOROUGH else "0"))
_EXAMPLES_A_ROUND: Final = 5

Machine = Callable[[], RuleBasedStateMachine]


def rounds(examples: int, steps: int = 50) -> Iterator[settings]:
    """Yield the settings of each round: one round that never changes, or random ones for some seconds.

    For a property that is no state machine, apply the settings to the test's inner function.
    """
    if not SECONDS:
        yield _settings(examples, steps, derandomize=True)
        return
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        yield _settings(_EXAMPLES_A_ROUND, steps, derandomize=False)


def run_machine(machine: Machine, *, examples: int = 6, steps: int = 25) -> None:
    """Run a state machine for one ordinary round, or for as long as was asked for."""
    for of_this_round in rounds(examples, steps):
        _run(machine, of_this_round)


def assert_finds_a_bug(machine: Machine, *, examples: int = 100, steps: int = 25) -> None:
    """Fail unless a state machine notices what a test broke on purpose."""
    tried = _settings(examples, steps, derandomize=True, phases=(Phase.generate,))
    with pytest.raises(AssertionError):
        _run(machine, tried)


def _run(machine: Machine, how: settings) -> None:
    run_state_machine_as_test(cast("type[RuleBasedStateMachine]", machine), settings=how)


def _settings(
    examples: int,
    steps: int,
    *,
    derandomize: bool,
    phases: tuple[Phase, ...] = (Phase.generate, Phase.shrink),
) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=derandomize,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
