"""The hashing queue: how few hashes run at a time, how many wait, and what is refused."""

import concurrent.futures.thread
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock, Thread

import httpx
import pytest
from django.conf import settings as configured
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from identity.users import passwords
from tests.support import second
from tests.support.cast import PASSWORD
from tests.support.threads import wait_until

SIGN_IN = "/api/interaction/sign-in"


class Queue:
    """Places that are kept busy until they are let go."""

    def __init__(self, *, running, waiting):
        self.places = passwords.HashingQueue(running=running, waiting=waiting)
        self.go, self.lock = Event(), Lock()
        self.running = self.most = 0
        self.pool = ThreadPoolExecutor(32)

    def work(self):
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        assert self.go.wait(30)
        with self.lock:
            self.running -= 1
        return "done"

    def ask(self):
        return self.pool.submit(self.places.run, self.work)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.go.set()
        self.pool.shutdown()


def is_busy(future):
    return isinstance(future.exception(timeout=30), passwords.Busy)


class TestPlaces:
    @pytest.mark.parametrize(("running", "waiting"), [(1, 0), (1, 3), (2, 3), (4, 0)])
    def test_so_many_run_so_many_wait_and_the_next_is_refused_at_once(self, running, waiting):
        with Queue(running=running, waiting=waiting) as queue:
            accepted = [queue.ask() for _ in range(running + waiting)]
            while queue.running < running or queue.places._places._value:
                pass  # until every one of them has its place

            refused = [queue.ask() for _ in range(5)]

            assert all(is_busy(future) for future in refused)
            assert not any(future.done() for future in accepted)
            queue.go.set()
            assert [future.result(timeout=30) for future in accepted] == ["done"] * (running + waiting)
            assert queue.most == running

    def test_places_are_free_again_afterwards(self):
        with Queue(running=1, waiting=1) as queue:
            queue.go.set()

            for _ in range(10):
                assert queue.ask().result(timeout=30) == "done"

    def test_a_failure_gives_its_place_back(self):
        places = passwords.HashingQueue(running=1, waiting=0)

        for _ in range(5):
            with pytest.raises(ZeroDivisionError):
                places.run(lambda: 1 // 0)

        assert places.run(lambda: "still here") == "still here"

    def test_a_hash_that_does_not_begin_in_time_is_refused_and_never_begins(self, monkeypatch):
        monkeypatch.setattr(passwords, "_WAIT_SECONDS", 0.05)
        with Queue(running=1, waiting=1) as queue:
            first = queue.ask()
            wait_until(lambda: queue.running == 1)

            for _ in range(3):  # each releases its place
                with pytest.raises(passwords.Busy):
                    queue.places.run(queue.work)
            queue.go.set()

            assert first.result(timeout=30) == "done"  # it had begun
            assert queue.places.run(lambda: queue.most) == 1

    def test_busy_is_503_and_says_when_to_come_back(self):
        refusal = passwords.Busy()

        assert (refusal.status, refusal.reason) == (503, "overloaded")
        assert int(refusal.headers["Retry-After"]) > 0

    def test_a_sign_in_without_a_place_costs_no_statement(self, acme, crowded):
        sent = {"identifier": "somebody", "password": PASSWORD}
        path = f"/t/{acme.tenant.slug}{SIGN_IN}"
        Client().post(path, sent, content_type="application/json")  # the tenant is remembered

        with CaptureQueriesContext(connection) as statements:
            answer = Client().post(path, sent, content_type="application/json")

        assert len(statements) == 0
        assert answer.status_code == 503
        assert int(answer["Retry-After"]) > 0

    def test_case_L09_they_are_fewer_than_the_threads_of_a_worker(self):
        places = configured.HASHING_CONCURRENCY + configured.HASHING_QUEUE

        assert places < configured.THREADS


@pytest.fixture(scope="module")
def narrow(address):
    """A server whose only worker has two places."""
    with second.running(THREADS="8", HASHING_CONCURRENCY="1", HASHING_QUEUE="1") as narrow:
        yield narrow


def test_fault_R13_503_while_the_process_ends(database, monkeypatch):
    """The main thread of a worker has ended, and Python starts no thread any more: requests still finish."""
    monkeypatch.setattr(concurrent.futures.thread, "_shutdown", True)
    client, body = Client(raise_request_exception=False), {"identifier": "x", "password": PASSWORD}

    answer = client.post(SIGN_IN, body, content_type="application/json")

    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0


class TestFlood:
    """Many sign-ins at one worker that has two places, over HTTP."""

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            (SIGN_IN, {"identifier": "nobody", "password": "wrong password"}),
            ("/api/admin/sign-in", {"username": "nobody", "password": "wrong password"}),
        ],
        ids=["people", "administrators"],
    )
    def test_case_L09_some_are_refused_with_503_and_the_others_are_served(self, narrow, path, body):
        with ThreadPoolExecutor(16) as pool:
            answers = list(
                pool.map(lambda _: httpx.post(f"{narrow}{path}", json=body, timeout=60), range(48))
            )

        assert {answer.status_code for answer in answers} == {401, 503}
        for answer in answers:
            assert answer.json()["code"] == answer.status_code
            assert answer.json()["result"] == ""
            if answer.status_code == 503:
                assert int(answer.headers["Retry-After"]) > 0

    def test_case_L09_the_page_says_it_to_people(self, narrow):
        page = httpx.get(f"{narrow}/sign-in")
        form = dict(re.findall(r'name="(csrfmiddlewaretoken)" value="([^"]+)"', page.text))
        form |= {"identifier": "nobody", "password": "wrong password"}

        def post(_):
            return httpx.post(f"{narrow}/sign-in", data=form, cookies=dict(page.cookies), timeout=60)

        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(post, range(48)))

        busy = [answer for answer in answers if answer.status_code == 503]
        assert busy
        assert int(busy[0].headers["Retry-After"]) > 0
        assert "Wait a few seconds" in busy[0].text

    def test_case_L09_does_not_starve_the_token_endpoint(self, narrow, acme):
        machine = acme.application("MachineToMachine")
        token_endpoint = f"{narrow}/t/{acme.tenant.slug}/oidc/token"
        form = {"grant_type": "client_credentials"}
        over = Event()
        seen: set[int] = set()

        def flood():
            with httpx.Client(timeout=60) as http:
                while not over.is_set():
                    body = {"identifier": "nobody", "password": "wrong password"}
                    seen.add(http.post(f"{narrow}{SIGN_IN}", json=body).status_code)

        crowd = [Thread(target=flood) for _ in range(12)]
        for one in crowd:
            one.start()
        try:
            answers = [
                httpx.post(token_endpoint, data=form, auth=machine.basic, timeout=60) for _ in range(20)
            ]
        finally:
            over.set()
            for one in crowd:
                one.join()

        assert {answer.status_code for answer in answers} == {200}
        assert 503 in seen

    def test_it_is_over_when_the_flood_is(self, narrow, acme):
        user = acme.user()

        answer = httpx.post(
            f"{narrow}/t/{acme.tenant.slug}{SIGN_IN}",
            json={"identifier": user.username, "password": PASSWORD},
        )

        assert answer.status_code == 200
