"""How long a client may send nothing: 15 seconds in production, and 2 at the server of these tests."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.support import second
from tests.support.cast import World
from tests.support.kept import Kept, warm


@pytest.fixture(scope="module")
def served(address: str) -> Iterator[str]:
    with second.running(GUNICORN_CMD_ARGS="--keep-alive 2") as started:
        yield started


@pytest.fixture
def here(acme: World, served: str) -> str:
    return acme.at(served).address


def test_production_waits_15_seconds() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", "--print-config"],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert re.search(r"^keepalive += 15$", printed, re.MULTILINE), printed


def test_a_connection_without_a_further_request_is_closed(here: str) -> None:
    with Kept(here) as connection:
        warm(connection)
        time.sleep(1.2)
        warm(connection)
        started = time.monotonic()

        assert connection.is_closed()
        assert 1.8 < time.monotonic() - started < 4


def test_so_is_one_whose_head_does_not_come_to_an_end(here: str) -> None:
    with Kept(here) as connection:
        started = time.monotonic()
        connection.send(b"GET / HT")

        assert connection.is_closed()
        assert 1.8 < time.monotonic() - started < 4
