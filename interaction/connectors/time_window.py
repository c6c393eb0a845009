"""Windows of time, which let caches forget their values."""

import time


def get_time_window(seconds: int) -> int:
    """Return a number that changes after this number of seconds."""
    return int(time.monotonic() // seconds)
