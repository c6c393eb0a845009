"""How many connections a worker of the server opens at most, besides one for each of its threads."""

from typing import Final

OF_LOOP: Final = 2  # so that one batch is served while another one waits for its commit
_FOR_MESSAGES: Final = 1
_TO_ANNOUNCE: Final = 1  # that the worker runs
_KEPT: Final = OF_LOOP + _FOR_MESSAGES + _TO_ANNOUNCE
_BRIEF: Final = 3  # to send messages in a second thread, to record refusals, and to count formats of hashes
BESIDES_THREADS: Final = _KEPT + _BRIEF
