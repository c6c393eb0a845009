"""Requests in which a step waits until something else has happened."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from types import ModuleType
from typing import Any

import httpx
import pytest
from django.db import connections


@dataclass
class Stalled:
    """A step of a request that ends when it is told to."""

    begun: Event = field(default_factory=Event)
    go: Event = field(default_factory=Event)

    @classmethod
    def at(cls, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> "Stalled":
        stalled, step = cls(), getattr(module, name)

        def slow(*args: Any, **options: Any) -> Any:
            result = step(*args, **options)
            stalled.begun.set()
            assert stalled.go.wait(20)
            return result

        monkeypatch.setattr(module, name, slow)
        return stalled


def interrupted(
    stalled: Stalled, send: Callable[[], httpx.Response], interrupt: Callable[[], object]
) -> httpx.Response:
    """Return the response to a request during whose slow step something else happens."""

    def land() -> httpx.Response:
        try:
            return send()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        landing = pool.submit(land)
        try:
            assert stalled.begun.wait(20), landing.result(1).text
            interrupt()
        finally:
            stalled.go.set()
        return landing.result()
