"""What an answer with a public document is: as that of Django, also if the read fails or the server stops."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.support import second, server
from tests.support.kept import KNOWN, Kept, warm

JWKS = "/.well-known/jwks.json"
DISCOVERY = "/.well-known/openid-configuration"


class TestAnswers:
    def test_have_ids_and_dates_of_their_own(self, acme):
        with Kept(acme.address) as connection:
            answers = [connection.get(JWKS) for _ in range(10)]
            time.sleep(2)
            answers.append(connection.get(JWKS))

        assert len({answer.headers["x-request-id"] for answer in answers}) == len(answers)
        for answer in (answers[0], answers[-1]):
            assert answer.headers["date"].endswith(" GMT")
        now = parsedate_to_datetime(answers[-1].headers["date"]).timestamp()
        assert abs(now - time.time()) < 3
        assert 1 <= now - parsedate_to_datetime(answers[0].headers["date"]).timestamp() <= 4

    @pytest.mark.parametrize("path", [JWKS, DISCOVERY])
    def test_without_body_or_with_304(self, acme, path):
        with Kept(acme.address) as connection:
            whole = warm(connection, path)
            for _ in range(KNOWN):
                connection.send(connection.head(path, method="HEAD"))
                head = connection.read(has_body=False)
                assert head.headers["content-length"] == str(len(whole.body))
                unchanged = connection.get(path, f"If-None-Match: {whole.headers['etag']}")
                assert (unchanged.status, unchanged.headers["etag"]) == (304, whole.headers["etag"])
                assert connection.get(path, 'If-None-Match: "x"').body == whole.body

    @given(
        line=st.tuples(
            st.sampled_from(["GET", "GET", "HEAD", "POST", "OPTIONS"]),
            st.sampled_from(
                [JWKS, DISCOVERY, f"/oidc{DISCOVERY}", f"{JWKS}?", f"{JWKS}/", "/.well-known/nothing"]
            ),
            st.sampled_from(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0"]),
        ),
        headers=st.lists(
            st.sampled_from(
                [
                    *("If-None-Match: *", 'If-None-Match: "x"', "If-None-Match: {etag}", "if_match: x"),
                    *("If-None-Match: W/{etag}", "If-None-Match:", "If-Match: {etag}", "Upgrade: h2c"),
                    *("Content-Length: 0", "Connection: close", "Connection: keep-alive", "Range: bytes=0-1"),
                    *("Cookie: a=b", "Origin: null", "Accept: text/html", "X-Forwarded-Host: evil.example"),
                    *("X-Forwarded-Proto: https", "If-Modified-Since: Sat, 29 Oct 2094 19:43:31 GMT"),
                    *("Expect: 100-continue", "Authorization: Bearer x", "Accept-Language: de"),
                ]
            ),
            max_size=4,
        ),
    )
    @hypothesis_settings(
        max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_are_those_of_django(self, address, django_server, line, headers):
        etag = httpx.get(f"{address}{JWKS}").headers["ETag"]
        sent = [header.format(etag=etag) for header in headers]
        ours, theirs = (answers_of(place, line, sent) for place in (address, django_server))
        assert ours
        assert ours == theirs


def answers_of(address: str, line: tuple[str, str, str], headers: list[str]) -> list[object]:
    """Return the answers to the same request, sent up to three times on one connection.

    There are fewer if the server closes the connection after an answer. An answer does not contain its date
    and request id.
    """
    method, path, version = line
    answers: list[object] = []
    with Kept(address) as connection:
        for _ in range(KNOWN):
            try:
                connection.send(connection.head(path, *headers, method=method, version=version))
                answer = connection.read(has_body=method != "HEAD")
            except ConnectionError:
                break
            named = [item for item in answer.headers.items() if item[0] not in {"date", "x-request-id"}]
            is_page = "text/html" in answer.headers.get("content-type", "")
            answers.append((answer.status, named, b"" if is_page else answer.body))
            if answer.headers.get("connection") == "close":  # an error about a HEAD request has a body
                break
    return answers


class ControlledReads:
    """A server whose reads of documents do what a test tells them."""

    def __init__(self, file: Path, address: str) -> None:
        self._file = file
        self.address = address

    def tell(self, what: str) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(what)
        new.replace(self._file)  # so that no read finds an empty file


@contextmanager
def controlled_reads(folder: Path) -> Iterator[tuple[ControlledReads, "subprocess.Popen[bytes]"]]:
    file, port = folder / "told", second.free_port()
    file.write_text("")
    address = f"http://127.0.0.1:{port}"
    environment = {
        "PORT": str(port),
        "BASE_URL": address,
        "WEB_CONCURRENCY": "1",
        "TEST_APPLICATION": "tests.support.document_reads:application",
        "TEST_DOCUMENT_READS_FILE": str(file),
    }
    with server.process(settings.BASE_DIR, **environment) as master:
        yield ControlledReads(file, address), master


@pytest.fixture(scope="module")
def controlled(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlledReads]:
    with controlled_reads(tmp_path_factory.mktemp("controlled")) as (made, _):
        yield made


@pytest.fixture
def made(controlled: ControlledReads) -> Iterator[ControlledReads]:
    """The server of these tests, whose reads nobody controls before and after a test."""
    yield controlled
    controlled.tell("")


class TestFailures:
    """If a read fails, each request that shares it gets the response of Django's handler."""

    @pytest.mark.parametrize(
        ("failure", "status", "error"),
        [("fail", 503, b"temporarily_unavailable"), ("break", 500, b"server_error")],
    )
    def test_decision_H3_case_K11_of_a_read(self, made, failure, status, error):
        with ExitStack() as stack:
            connections = [stack.enter_context(Kept(made.address)) for _ in range(5)]
            for connection in connections:
                warm(connection)
            made.tell("wait")
            for connection in connections:
                connection.send(connection.head(JWKS) * 2)
                time.sleep(0.05)
                connection.send(connection.head(DISCOVERY))
            made.tell(failure)
            answers = [connection.read() for connection in connections for _ in range(3)]
            made.tell("")
            afterwards = [connection.get(JWKS).status for connection in connections]

        for answer in answers:
            assert answer.status == status
            assert error in answer.body
            assert b"10.1.2.3" not in answer.body
            assert ("retry-after" in answer.headers) is (status == 503)
        assert len({answer.headers["x-request-id"] for answer in answers}) == 15
        assert afterwards == [200] * 5

    def test_of_one_document_hold_up_no_other_request(self, made):
        with Kept(made.address) as waiting, Kept(made.address) as other:
            warm(waiting)
            made.tell("wait")
            waiting.send(waiting.head(JWKS))
            time.sleep(0.1)

            assert other.get("/readyz").status == 200
            made.tell("")
            assert waiting.read().status == 200

    def test_what_arrives_during_a_read_is_answered_after_it(self, made):
        with Kept(made.address) as connection:
            document = connection.head(JWKS)
            for behind in (connection.head("/readyz"), document, document[:9], document + document[:9]):
                warm(connection)
                made.tell("wait")
                for part in (document, behind):
                    connection.send(part)
                    time.sleep(0.1)
                made.tell("")
                connection.send(b"" if behind.endswith(b"\r\n\r\n") else document[9:])
                answers = [connection.read() for _ in range((document + behind).count(b"GET "))]

                assert [b'"keys"' in answer.body for answer in answers] == [
                    True,
                    *(b"readyz" not in behind for _ in answers[1:]),
                ]
                assert {answer.status for answer in answers} == {200}

    def test_clients_that_left_are_forgotten(self, made):
        made.tell("wait")
        for _ in range(20):
            with Kept(made.address) as connection:
                connection.send(connection.head(JWKS))
        made.tell("")
        with Kept(made.address) as connection:
            assert warm(connection).status == 200


class TestStop:
    """SIGTERM during a read: the request is answered, and its connection is closed."""

    @pytest.mark.parametrize("is_known", [False, True])
    def test_during_a_read(self, address, tmp_path, is_known):
        with controlled_reads(tmp_path) as (made, master), Kept(made.address) as connection:
            if is_known:
                warm(connection)
            made.tell("wait")
            connection.send(connection.head(JWKS))
            time.sleep(0.3)
            master.terminate()
            time.sleep(0.5)
            made.tell("")
            answer = connection.read()

            assert (answer.status, answer.headers["connection"]) == (200, "close")
            assert connection.is_closed()
            assert master.wait(10) == 0


def test_each_answer_is_counted(address):
    secret = "a-token-of-the-metrics-for-this-test"
    with second.running(METRICS_TOKEN=secret) as served:
        with Kept(served) as connection:
            warm(connection)
            before = counted(served, secret)
            for _ in range(10):
                connection.get(JWKS)
                connection.send(connection.head(JWKS, method="HEAD"))
                connection.read(has_body=False)

        after = counted(served, secret)

    assert [new - old for old, new in zip(before, after, strict=True)] == [10, 10]


def counted(served: str, secret: str) -> list[float]:
    figures = httpx.get(f"{served}/metrics", headers={"Authorization": f"Bearer {secret}"}).text
    lines = [
        f'requests_total{{method="{method}",route="oidc:jwks",status="200"}} ' for method in ("GET", "HEAD")
    ]
    return [float(figures.partition(line)[2].partition("\n")[0] or 0) for line in lines]
