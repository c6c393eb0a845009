"""A variable of the environment."""

import pytest


@pytest.fixture
def variable(monkeypatch):
    """Set the variable that the readers of a test read."""
    return lambda value: monkeypatch.setenv("SOME_VARIABLE", value)
