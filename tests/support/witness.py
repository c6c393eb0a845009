"""Clients that send requests while something breaks, and record the answers."""

import itertools
import json
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, NamedTuple

import httpx

from tests.support import cast
from tests.support.customers import Customers
from tests.support.forms import Form, _Reader
from tests.support.independent import bearer

OK, UNAVAILABLE, CUT, ENDED = "ok", "unavailable", "cut", "ended"
_OAUTH = ("/oidc/token", "/oidc/userinfo", "/oidc/revoke")
_PAUSE_SECONDS = 0.03
_LATE_SECONDS = 1


class Answer(NamedTuple):
    """A request and its outcome: one of the words above, or a description of the failure."""

    program: str
    began: float
    ended: float
    outcome: str


class Refused(Exception):
    """A request did not get what it asked for."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass
class Family:
    """A refresh family, as far as its client was told."""

    token: str
    is_ended: bool = False  # it was told invalid_grant

    @property
    def id(self) -> str:
        return self.token.split(".")[0]

    @property
    def generation(self) -> int:
        return int(self.token.split(".")[1])


@dataclass
class Witness:
    """Programs at one address or several, each in a thread of its own."""

    addresses: list[str]
    shop: Customers
    printer: tuple[str, str] = ("", "")
    trust: ssl.SSLContext | bool = False
    answers: list[Answer] = field(default_factory=list)
    families: list[Family] = field(default_factory=list)
    consented: int = 0
    tokens: list[str] = field(default_factory=list)
    pause: float = _PAUSE_SECONDS  # seconds after each turn of a program
    # By program: seconds from the start of a request of a thread to the start of its next one.
    intervals: dict[str, float] = field(default_factory=dict)
    _over: Event = field(default_factory=Event)

    @contextmanager
    def going(self, *programs: Callable[["Sender"], None], each: int = 1) -> Iterator["Witness"]:
        """Run each program in so many threads while the block runs."""
        self._over = Event()
        threads = [
            Thread(target=self._run, args=(program, self.addresses[number % len(self.addresses)]))
            for program in programs
            for number in range(each)
        ]
        for thread in threads:
            thread.start()
        try:
            self.goes_on(len(threads))
            yield self
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def goes_on(self, requests: int = 20, seconds: float = 60) -> None:
        """Wait until so many more requests were answered as they should be."""
        wanted = self.count(OK) + requests
        deadline = time.monotonic() + seconds
        while self.count(OK) < wanted:
            assert time.monotonic() < deadline, f"nothing goes on: {self.summary()}"
            time.sleep(0.05)

    def count(self, outcome: str) -> int:
        return sum(answer.outcome == outcome for answer in list(self.answers))

    def wrong(self, *allowed: str) -> list[Answer]:
        """Return what must not happen. A refresh family may end where an answer was lost; a code may not."""
        fine = {OK, *allowed}
        return [
            each
            for each in self.answers
            if each.outcome not in fine and (each.program, each.outcome) != ("refreshing", ENDED)
        ]

    def recovery(self, moment: float) -> float:
        """Return how many seconds after a moment the last request began that failed; 0 without one."""
        late = [each.began for each in self.answers if each.began > moment and each.outcome != OK]
        return max(late, default=moment) - moment

    def rates(self, since: float, until: float) -> dict[str, float]:
        """Return the requests a second of each program that succeeded between two moments."""
        programs = Counter(
            each.program for each in self.answers if each.outcome == OK and since < each.ended < until
        )
        return {program: number / (until - since) for program, number in programs.items()}

    def longest_silence(self, since: float, *programs: str) -> float:
        """Return the longest time after a moment in which no request of these programs succeeded.

        It is infinite if none has succeeded since.
        """
        ends = sorted(
            each.ended
            for each in self.answers
            if each.outcome == OK and each.ended > since and each.program in programs
        )
        pairs = itertools.pairwise([since, *ends])
        return max((after - before for before, after in pairs), default=float("inf"))

    def slowest(self) -> float:
        return max(each.ended - each.began for each in self.answers)

    def summary(self) -> dict[str, int]:
        return dict(Counter(each.outcome[:60] for each in self.answers))

    # ── Programs ───────────────────────────────────────────────────────────────────────────────────────────

    def refreshing(self, send: "Sender") -> None:
        """Sign in once and refresh in an endless loop. If an answer is lost, refresh again, as clients do."""
        send.http.cookies.clear()  # whose family ended is still signed in
        tokens = self.shop.sign_in(send)
        family = Family(tokens["refresh_token"])
        self.families.append(family)
        while not self._over.is_set():
            try:
                tokens = self.shop.refresh(send, {"refresh_token": family.token})
            except Refused as refused:
                if refused.outcome == ENDED:
                    family.is_ended = True
                    return
                time.sleep(0.2)
                continue
            family.token = tokens["refresh_token"]
            time.sleep(self.pause)

    def signing_in(self, send: "Sender") -> None:
        """Sign in, and ask who that was."""
        tokens = self.shop.sign_in(send)
        self.tokens += [tokens["access_token"], tokens["id_token"]]
        send("GET", "/oidc/userinfo", headers=bearer(tokens["access_token"]))
        send.http.cookies.clear()

    def creating(self, send: "Sender") -> None:
        """Create a user."""
        self.shop.create(send)

    def asking_for_tokens(self, send: "Sender") -> None:
        """Get a token for a machine."""
        send("POST", "/oidc/token", data={"grant_type": "client_credentials"}, auth=self.shop.machine)

    def reading(self, send: "Sender") -> None:
        """Read what needs no write."""
        send("GET", "/.well-known/jwks.json")
        send("GET", "/.well-known/openid-configuration")

    def consenting(self, send: "Sender") -> None:
        """Sign in for an application of others, agree, and get tokens."""
        tokens = self.shop.sign_in(send, self.printer, self._agree)
        assert tokens["access_token"]
        self.consented += 1
        send.http.cookies.clear()

    def _agree(self, send: "Sender", answer: httpx.Response) -> httpx.Response:
        """Allow what a page asks for, if it asks."""
        while "/consent" in answer.headers["Location"]:
            page = send("GET", answer.headers["Location"])
            reader = _Reader()
            reader.feed(page.text)
            form: Form = reader.forms[0]
            answer = send("POST", form.action, data=form.fields | {"choice": "allow"}, status=303)
            answer = send("GET", answer.headers["Location"], status=303)
        return answer

    def _run(self, program: Callable[["Sender"], None], address: str) -> None:
        while not self._over.is_set():
            send = Sender(program.__name__, address, self)
            try:
                while not self._over.is_set():
                    program(send)
                    time.sleep(self.pause)
            except Refused:
                time.sleep(0.2)
            finally:
                send.http.close()


class Sender:
    """What a program sends its requests with."""

    def __init__(self, program: str, address: str, witness: Witness) -> None:
        self.http = httpx.Client(base_url=address, verify=witness.trust, timeout=60)
        self._due = 0.0
        self._program, self._witness = program, witness

    def __call__(self, method: str, path: str, *, status: int = 200, **options: Any) -> httpx.Response:
        self._wait_for_turn()
        began = time.monotonic()
        try:
            answer = self.http.request(method, path, **options)
        except httpx.TransportError:
            self._remember(began, CUT)
            raise Refused(CUT) from None
        outcome = OK if answer.status_code == status else _failure(answer)
        self._remember(began, outcome)
        if outcome != OK:
            raise Refused(outcome)
        return answer

    def _wait_for_turn(self) -> None:
        """Wait until the program's next request is due. A late one is made up for, for a second at most."""
        now = time.monotonic()
        interval = self._witness.intervals.get(self._program, 0)
        self._due = max(self._due + interval, now - _LATE_SECONDS)
        time.sleep(max(0, self._due - now))

    def _remember(self, began: float, outcome: str) -> None:
        self._witness.answers.append(Answer(self._program, began, time.monotonic(), outcome))


def _failure(answer: httpx.Response) -> str:
    """Say what an answer is that was not hoped for."""
    if answer.status_code == 503 and answer.headers.get("Retry-After", "").isdecimal():
        if answer.request.url.path.endswith(_OAUTH) and not _says(answer, "temporarily_unavailable"):
            return f"503 without temporarily_unavailable: {answer.text[:200]}"
        return UNAVAILABLE
    if answer.status_code == 400 and _says(answer, "invalid_grant"):
        return ENDED
    what = f"{answer.request.method} {answer.request.url.path}"
    return f"{what}: {answer.status_code} {answer.text[:200]}"


def _says(answer: httpx.Response, error: str) -> bool:
    try:
        return bool(answer.json().get("error") == error)
    except (json.JSONDecodeError, AttributeError):
        return False


def arrive(address: str, shop: Customers, trust: ssl.SSLContext | bool = False, **where: Any) -> Witness:
    """Make the people that sign in and an application of others."""
    with httpx.Client(base_url=address, verify=trust, timeout=30) as http:
        headers = bearer(shop.administrator)
        for person in shop.people:
            body = {"username": person, "password": cast.PASSWORD}
            assert http.post("/api/v1/users", json=body, headers=headers).status_code == 200
        metadata = {"redirect_uris": [cast.CALLBACK]}
        printer = {"name": "Printer", "type": "Traditional", "is_third_party": True}
        answer = http.post(
            "/api/v1/applications", json=printer | {"oidc_client_metadata": metadata}, headers=headers
        )
        assert answer.status_code == 200, answer.text
        made = answer.json()["result"]
    return Witness(where.pop("addresses", [address]), shop, (made["client_id"], made["client_secret"]), trust)
