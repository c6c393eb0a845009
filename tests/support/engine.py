"""Which database engine a run tests on: ``pytest --engine=postgres``; SQLite without it.

Loaded before the settings are, because they need to know.
"""

import os
import sys

import pytest

_ENGINES = ("sqlite", "postgres")

for _argument in sys.argv:
    if _argument.startswith("--engine="):
        os.environ["TEST_ENGINE"] = _argument.partition("=")[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", choices=_ENGINES, default="sqlite", help="the database engine to test on")
