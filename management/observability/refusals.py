"""Audit entries for 403 responses to known callers: about one entry per caller, minute and worker.

The first refusal is recorded at once. Further refusals within a minute are counted, and recorded as one entry
after that minute.
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
_FLUSH_INTERVAL: Final = 10.0  # seconds
_MAX_CALLERS: Final = 10_000
_MAX_REQUESTS: Final = 10  # named in one entry
_FORBIDDEN: Final = 403
_logger: Final = logging.getLogger(__name__)

Caller = tuple[str, int | None, str | None]


@dataclass(slots=True)
class _Window:
    """The minute after the first refusal of a caller, with the number of further refusals by route."""

    started: float
    origin: Origin
    refused: Counter[str] = field(default_factory=Counter)


_windows: dict[Caller, _Window] = {}
_lock: Final = threading.Lock()


class RefusalMiddleware:
    """Records 403 responses to known callers. As the last middleware, it knows the caller and the tenant."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == _FORBIDDEN:
            _record(request)
        return response


def _record(request: HttpRequest) -> None:
    origin = context.current()
    if origin.administrator_id is None and origin.application_id is None:
        return
    route = request.resolver_match.route if request.resolver_match else request.path_info
    name = f"{request.method} /{route.lstrip('/')}"[:200]
    caller = (origin.tenant_id, origin.administrator_id, origin.application_id)
    now = time.monotonic()
    with _lock:
        window = _windows.get(caller)
        if window is not None and now - window.started < _WINDOW:
            window.refused[name if len(window.refused) < _MAX_REQUESTS else "other"] += 1
            return
        if window is None and len(_windows) >= _MAX_CALLERS:
            del _windows[next(iter(_windows))]
        _windows[caller] = _Window(now, origin)
    if window is not None:
        _write(window.origin, window.refused)
    _write(origin, Counter({name: 1}))


def flush(*, older_than: float = _WINDOW) -> None:
    """Record the counted refusals of windows that started at least ``older_than`` seconds ago."""
    now = time.monotonic()
    with _lock:
        expired = [caller for caller, window in _windows.items() if now - window.started >= older_than]
        windows = [_windows.pop(caller) for caller in expired]
    for window in windows:
        _write(window.origin, window.refused)


def start() -> None:
    """Start the thread that writes counted refusals every few seconds."""
    threading.Thread(target=_flush_forever, name="refusals", daemon=True).start()


def stop() -> None:
    """Record all counted refusals, before the process ends."""
    flush(older_than=0)
    connections.close_all()


def _flush_forever() -> None:
    pause = threading.Event()
    while True:
        pause.wait(_FLUSH_INTERVAL)
        flush()
        # While idle, this thread must not hold a connection that requests need.
        connections.close_all()


def _write(origin: Origin, refused: "Counter[str]") -> None:
    if not refused:
        return
    facts = {"result": "failed", "error": "forbidden", "count": refused.total(), "requests": dict(refused)}
    try:
        with context.using(origin):
            log.record(Event.ACCESS_REFUSE, **facts)  # type: ignore[arg-type]  # facts name no column
    except DatabaseError:
        _logger.warning("refused requests were not recorded: the database is unavailable")
