"""R1, R2: a worker is killed in the middle of refreshes, sign-ins, consents and writes."""

import os
import secrets
import signal
import time

from tests.support.installation import check_nothing_is_lost, check_one_branch
from tests.support.witness import CUT, UNAVAILABLE

_KILLS = 20


def test_fault_R1_R2_workers_are_killed_under_load(installation, measured):
    node = installation.serve()
    seen = installation.witness()
    programs = (seen.refreshing, seen.signing_in, seen.consenting, seen.creating, seen.asking_for_tokens)

    with seen.going(*programs, each=2):
        for _ in range(_KILLS):
            os.kill(secrets.choice(node.workers()), signal.SIGKILL)
            time.sleep(0.7)
        ended = time.monotonic()
        seen.goes_on(50)

    measured(kills=_KILLS, answers=seen.summary(), recovery=round(seen.recovery(ended), 2))
    assert seen.wrong(CUT, UNAVAILABLE) == []
    assert seen.count("ok") > 100
    assert seen.recovery(ended) < 5
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)
