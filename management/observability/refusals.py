"""What known callers were refused (403), in the audit log: at most one entry a caller, minute and worker.

The first refusal is written at once. Those that follow within the minute are counted, and written as one
entry when the minute is over.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from django.db import DatabaseError, connections
from django.http import HttpRequest, HttpResponse

from audit import context, log
from audit.context import Origin
from audit.events import Event

_WINDOW: Final = 60.0  # seconds
_BEAT: Final = 10.0  # seconds
_MOST_CALLERS: Final = 10_000
_MOST_REQUESTS: Final = 10  # that one entry names
_FORBIDDEN: Final = 403
_logger: Final = logging.getLogger(__name__)

Caller = tuple[str, int | None, str | None]


@dataclass(slots=True)
class _Window:
    """A minute of one caller: when it began, and what was refused after its first refusal."""

    began: float
    origin: Origin
    refused: Counter[str] = field(default_factory=Counter)


_windows: dict[Caller, _Window] = {}
_lock: Final = threading.Lock()


class RefusalMiddleware:
    """Notes each answer that refuses a known caller. It comes last: caller and tenant are known here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request."""
        response = self.get_response(request)
        if response.status_code == _FORBIDDEN:
            _note(request)
        return response


def _note(request: HttpRequest) -> None:
    origin = context.current()
    if origin.administrator_id is None and origin.application_id is None:
        return
    route = request.resolver_match.route if request.resolver_match else request.path_info
    what = f"{request.method} /{route.lstrip('/')}"[:200]
    caller = (origin.tenant_id, origin.administrator_id, origin.application_id)
    now = time.monotonic()
    with _lock:
        window = _windows.get(caller)
        if window is not None and now - window.began < _WINDOW:
            window.refused[what if len(window.refused) < _MOST_REQUESTS else "other"] += 1
            return
        if window is None and len(_windows) >= _MOST_CALLERS:
            del _windows[next(iter(_windows))]
        _windows[caller] = _Window(now, origin)
    if window is not None:
        _write(window.origin, window.refused)
    _write(origin, Counter({what: 1}))


def flush(*, older_than: float = _WINDOW) -> None:
    """Write down what was counted in minutes that are over, and forget those minutes."""
    now = time.monotonic()
    with _lock:
        over = [caller for caller, window in _windows.items() if now - window.began >= older_than]
        windows = [_windows.pop(caller) for caller in over]
    for window in windows:
        _write(window.origin, window.refused)


def start() -> None:
    """Write down what was counted, now and then, in a thread of the process that calls this."""
    threading.Thread(target=_go_on, name="refusals", daemon=True).start()


def stop() -> None:
    """Write down all that was counted: the process ends."""
    flush(older_than=0)
    connections.close_all()


def _go_on() -> None:
    silence = threading.Event()
    while True:
        silence.wait(_BEAT)
        flush()
        # Idle, it holds none of the connections that requests need.
        connections.close_all()


def _write(origin: Origin, refused: "Counter[str]") -> None:
    if not refused:
        return
    facts = {"result": "failed", "error": "forbidden", "count": refused.total(), "requests": dict(refused)}
    try:
        with context.at(origin):
            log.record(Event.ACCESS_REFUSE, **facts)  # type: ignore[arg-type]  # facts name no column
    except DatabaseError:
        _logger.warning("refused requests could not be written down: the database is away")
