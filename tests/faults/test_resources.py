"""R13: a node runs out of open files, and gets them back."""

import resource
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
from django.conf import settings

from tests.support.installation import check_nothing_is_lost, check_one_branch
from tests.support.witness import CUT, UNAVAILABLE

_FILES = 96


def wait_until_full(worker: int) -> None:
    """Wait until a process has about as many open files as it may have."""
    deadline = time.monotonic() + 30
    while (opened := len(list(Path(f"/proc/{worker}/fd").iterdir()))) < _FILES - 2:
        assert time.monotonic() < deadline, f"only {opened} files are open"
        time.sleep(0.01)


def test_fault_R13_a_node_runs_out_of_files(installation, measured):
    node = installation.serve(WEB_CONCURRENCY="1")
    seen = installation.witness()
    (worker,) = node.workers()
    resource.prlimit(worker, resource.RLIMIT_NOFILE, (_FILES, _FILES))

    with seen.going(seen.refreshing, seen.signing_in, seen.creating, each=4):
        with ExitStack() as held:
            for _ in range(2 * _FILES):
                with suppress(OSError):
                    held.enter_context(socket.create_connection(("127.0.0.1", int(node.environment["PORT"]))))
            wait_until_full(worker)
            time.sleep(5)
        free = time.monotonic()
        seen.goes_on(60)

    measured(answers=seen.summary(), recovery=round(seen.recovery(free), 2))
    assert seen.wrong(CUT, UNAVAILABLE) == [], (settings.VAR / "server.log").read_text()
    assert seen.recovery(free) < 5
    assert httpx.get(f"{node.address}/readyz").status_code == 200
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)
