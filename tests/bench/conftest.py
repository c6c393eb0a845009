"""The programs of bench/ are run by path, and find each other beside themselves."""

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from django.conf import settings


@pytest.fixture
def program(monkeypatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import a program of bench/, and forget it and all that came with it."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(settings.BASE_DIR / "bench"))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(settings.BASE_DIR / "bench")):
            del sys.modules[name]
