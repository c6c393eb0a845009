"""Which functions of the product are called, and in which order: in this process and this thread."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def recorded(*functions: Callable[..., Any]) -> Iterator[list[str]]:
    """Record the names of these functions in the order of their calls."""
    names = {function.__code__: function.__name__ for function in functions}
    calls: list[str] = []

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in names:
            calls.append(names[frame.f_code])

    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(None)
