"""Requests that are sent while something else happens, with the result of each."""

import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, NamedTuple

import httpx

_PAUSE_SECONDS = 0.02  # between two requests of one program: the database has other work


class Sent(NamedTuple):
    """A request and how it ended: with what status it had to have, or what came instead."""

    program: str
    began: float
    seconds: float
    wrong: str | None


class Unexpected(Exception):
    """A request was not answered as it had to be. It is remembered; the program begins again."""


class Sender:
    """What a program sends its requests with."""

    def __init__(self, program: str, load: "Load") -> None:
        # Each request has a connection of its own: nginx, when it is told to reload, closes those that are
        # idle, and a client that is about to use one would have to repeat (RFC 9112 section 9.3.1).
        limits = httpx.Limits(max_keepalive_connections=0)
        self.http = httpx.Client(base_url=load.address, verify=load.trust, timeout=30, limits=limits)
        self._program, self._load = program, load

    def __call__(self, method: str, path: str, *, status: int = 200, **options: Any) -> httpx.Response:
        began = time.monotonic()
        try:
            answer = self.http.request(method, path, **options)
        except httpx.TransportError as error:
            self._remember(began, f"{method} {path}: {error!r}")
            raise Unexpected from error
        if answer.status_code != status:
            self._remember(began, f"{method} {path}: {answer.status_code} {answer.text[:200]}")
            raise Unexpected
        self._remember(began, None)
        time.sleep(_PAUSE_SECONDS)
        return answer

    def _remember(self, began: float, wrong: str | None) -> None:
        self._load.sent.append(Sent(self._program, began, time.monotonic() - began, wrong))


Program = Callable[[Sender], Iterator[None]]


class Load:
    """Programs, each in a thread of its own while ``going()``. A turn of one ends with its ``yield``."""

    def __init__(self, address: str, trust: ssl.SSLContext, *programs: Program) -> None:
        self.address, self.trust, self.programs = address, trust, programs
        self.sent: list[Sent] = []
        self.turns = [0] * len(programs)
        self._over = Event()

    @property
    def wrong(self) -> list[str]:
        return [sent.wrong for sent in self.sent if sent.wrong is not None]

    @contextmanager
    def going(self) -> Iterator["Load"]:
        threads = [Thread(target=self._run, args=(index,)) for index in range(len(self.programs))]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def go_on(self, turns: int = 5) -> None:
        """Wait until every program had so many turns more."""
        wanted = [done + turns for done in self.turns]
        deadline = time.monotonic() + 180
        while any(done < enough for done, enough in zip(self.turns, wanted, strict=True)):
            assert time.monotonic() < deadline, f"nothing goes on: {self.wrong[:5]}"
            time.sleep(0.05)

    def between(self, began: float, ended: float) -> list[Sent]:
        """Return the requests that were open at some time between the two."""
        return [sent for sent in self.sent if sent.began < ended and sent.began + sent.seconds > began]

    def _run(self, index: int) -> None:
        program = self.programs[index]
        while not self._over.is_set():
            send = Sender(program.__name__, self)
            try:
                for _ in program(send):
                    self.turns[index] += 1
                    if self._over.is_set():
                        break
            except Unexpected:
                time.sleep(_PAUSE_SECONDS)
            finally:
                send.http.close()
