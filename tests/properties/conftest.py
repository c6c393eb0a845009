"""What the state machines share."""

from collections.abc import Iterator

import pytest

from tests.support import second, server
from tests.support.cast import World
from tests.support.in_process import InProcessWorld


@pytest.fixture
def here(acme: World) -> InProcessWorld:
    """The tenant of the test, served by this process."""
    return InProcessWorld.of(acme)


@pytest.fixture
def workers(acme: World) -> Iterator[list[World]]:
    """Two servers of the same installation, which know nothing of each other."""
    ports = [str(second.free_port()) for _ in range(2)]
    with (
        server.process(PORT=ports[0], WEB_CONCURRENCY="1"),
        server.process(PORT=ports[1], WEB_CONCURRENCY="1"),
    ):
        yield [acme.at(f"http://127.0.0.1:{port}") for port in ports]
