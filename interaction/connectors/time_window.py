"""Windows of time, which let caches of functions forget their values."""

import time


def get_time_window(seconds: int) -> tuple[int, int]:
    """Return a cache key that changes after this number of seconds."""
    return seconds, int(time.monotonic() // seconds)
