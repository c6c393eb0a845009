"""Malformed and ambiguous requests, byte for byte: each is refused, and nothing after it is served."""

import pytest

from tests.support.kept import Kept, warm

JWKS = "/.well-known/jwks.json"
# Served in the loop, in a batch, and by Django in a thread.
ROUTES = [("GET", JWKS), ("POST", "/oidc/token"), ("POST", "/sign-in")]
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
TOO_LARGE = [
    b"".join(b"A%d: %s\r\n" % (number, b"x" * 8_000) for number in range(9)),
    b"".join(b"A%d: x\r\n" % number for number in range(65)),
    b"A: %s\r\n" % (b"x" * 41_000),
    b"%s: x\r\n" % (b"a" * 41_000),
]
LENGTHS = [b"+5", b"-5", b"5_0", b"0x5", b"5 5", b"5,5", b"5, 5", b"5.0", b"", b"\xb2", b"9" * 5_000]
CODINGS = {
    b"gzip": 400,
    b"identity": 400,
    b"chunked, gzip": 400,
    b"chunked, chunked": 400,
    b"chunked, identity": 400,
    b"something": 501,
    b"": 501,
    b"xchunked": 501,
    b"chunked;a=b": 501,
    b'"chunked"': 501,
    b"gzip, chunked": 501,
    b"identity, chunked": 501,
    b"gzip\r\nTransfer-Encoding: chunked": 501,
    b"chunked\r\nTransfer-Encoding: chunked": 400,
    b"chunked\r\nTransfer-Encoding: identity": 400,
}
HOSTS = [b"a b", b"a/b", b"a,b c", b"user@a", b"a:b", b"a:1:2", b"[::1", b"::1", b"a\xe4", b"a#b", b"a?b"]
HEADERS = [
    *((head, 431) for head in TOO_LARGE),
    *((b"Content-Length: %s\r\n" % length, 400) for length in LENGTHS),
    *((b"Transfer-Encoding: %s\r\n" % coding, status) for coding, status in CODINGS.items()),
    (b"Content-Length: 1\r\nContent-Length: 1\r\n", 400),
    (b"Content-Length: 1\r\nContent-Length: 2\r\n", 400),
    (b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400),
    (b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", 400),
    (b"Transfer-Encoding : chunked\r\n", 400),
    (b"Content-Length : 5\r\n", 400),
    (b"Content-Length\t: 5\r\n", 400),
    (b" Content-Length: 5\r\n", 400),
    (b"Content_Length\x00: 5\r\n", 400),
    (b": a\r\n", 400),
    (b"A\r\n", 400),
    (b"A(b): c\r\n", 400),
    (b"\xe4: a\r\n", 400),
    (b"Host: x\r\n", 400),
    (b"host: y\r\n", 400),
    (b"Content-Type: text/plain\r\nContent-Type: application/json\r\n", 400),
    (b"A: b\r\n folded\r\n", 400),
    (b"A: b\r\n\tContent-Length: 5\r\n", 400),
    (b"A: b\nC: d\r\n", 400),
    (b"A: b\rC: d\r\n", 400),
    (b"A: b\r\r\n", 400),
    *((b"A: b%cc\r\n" % control, 400) for control in (0, 1, 7, 8, 11, 12, 27, 31, 127)),
]
# Heads without the empty line at their end, each with places for the method and the path.
LINES = [
    (b"%s %s#fragment HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s %s?a=b#fragment HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s http://x%s#fragment HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s %s HTTP/1.1\r\n", 400),
    (b"%s http://x%s HTTP/1.1\r\n", 400),
    *((b"%%s %%s HTTP/1.1\r\nHost: %s\r\n" % host, 400) for host in HOSTS),
    (b"%s %s HTTP/1.0\r\nHost: a b\r\n", 400),
    (b"%s %s HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n", 400),
    (b"%s %s HTTP/1.0\r\nHost: x\r\nHost: x\r\n", 400),
    (b"%s %s HTTP/1.1\nHost: x\r\n", 400),
    (b"%s %s HTTP/1.1\r\nHost: x\n", 400),
    (b"%s %s HTTP/1.1\rHost: x\r\n", 400),
    (b"%s\t%s HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s  %s HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s %s  HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s %s\x00 HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s %s\xe4 HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s %s HTTP/1.1 \r\nHost: x\r\n", 400),
    (b"%s %s HTTP/1.2\r\nHost: x\r\n", 400),
    (b"%s %s HTTP/2.0\r\nHost: x\r\n", 400),
    (b"%s %s http/1.1\r\nHost: x\r\n", 400),
    (b"%s %s\r\nHost: x\r\n", 400),
    (b"\r\n\r\n%s %s HTTP/1.1\r\nHost: x\r\n", 400),
    (b" %s %s HTTP/1.1\r\nHost: x\r\n", 400),
    (b"x%s %s HTTP/1.1\r\nHost: x\r\n", 400),
    (b"%s " + b"/a" * 4_100 + b"%s HTTP/1.1\r\nHost: x\r\n", 414),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n%.0s%.0s", 400),
]
CASES = [*((b"%s %s HTTP/1.1\r\nHost: x\r\n" + head, status) for head, status in HEADERS), *LINES]
CHUNKS = [
    b"+5\r\nhello\r\n0\r\n\r\n",
    b"0x5\r\nhello\r\n0\r\n\r\n",
    b" 5\r\nhello\r\n0\r\n\r\n",
    b"5 \r\nhello\r\n0\r\n\r\n",
    b"5_0\r\nhello\r\n0\r\n\r\n",
    b"\r\nhello\r\n0\r\n\r\n",
    b"-1\r\nhello\r\n0\r\n\r\n",
    b"5\nhello\r\n0\r\n\r\n",
    b"5\r\nhello0\r\n\r\n",
    b"5\r\nhello\n0\r\n\r\n",
    b"5\r\nhello\r0\r\n\r\n",
    b"5;a\rb\r\nhello\r\n0\r\n\r\n",
    b"5;a\nb\r\nhello\r\n0\r\n\r\n",
    b"5;a=\x00\r\nhello\r\n0\r\n\r\n",
    b"0\r\nContent-Length: 5\r\n\r\n",
    b"0\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"0\r\nHost: y\r\n\r\n",
    b"0\r\nAuthorization: Basic eDp5\r\n\r\n",
    b"0\r\nA: b\nC: d\r\n\r\n",
    b"0\r\n" + b"A: b\r\n" * 65 + b"\r\n",
]


def read_all(connection: Kept) -> bytes:
    """What comes until the server closes its side, while ours stays open."""
    return b"".join(iter(lambda: connection.socket.recv(65_536), b""))


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=["loop", "batch", "thread"])
@pytest.mark.parametrize(("head", "status"), CASES, ids=range(len(CASES)))
def test_a_malformed_head_is_refused_and_ends_the_connection(acme, method, path, head, status):
    with Kept(acme.address) as connection:
        request = head % (method.encode(), (connection.prefix + path).encode()) + b"\r\n"
        connection.send(request, connection.head(JWKS))

        answer = read_all(connection)

    assert answer.startswith((b"HTTP/1.1 %d " % status, b"HTTP/1.0 %d " % status))
    assert answer.count(b"HTTP/1.") == 1
    assert b"\r\nConnection: close\r\n" in answer


@pytest.mark.parametrize(("head", "status"), [CASES[0], LINES[0], LINES[3]], ids=range(3))
def test_so_is_one_after_other_requests(acme, head, status):
    with Kept(acme.address) as connection:
        warm(connection)
        valid = connection.head(JWKS)
        path = (connection.prefix + JWKS).encode()
        connection.send(valid, head % (b"GET", path) + b"\r\n", valid)

        assert connection.read().status == 200
        assert connection.read().status == status
        assert connection.is_closed()


@pytest.mark.parametrize("path", ["/oidc/token", "/sign-in"], ids=["batch", "thread"])
@pytest.mark.parametrize("body", CHUNKS, ids=range(len(CHUNKS)))
def test_a_malformed_chunk_is_refused_and_ends_the_connection(acme, path, body):
    with Kept(acme.address) as connection:
        head = connection.head(path, "Transfer-Encoding: chunked", FORM.decode().strip(), method="POST")
        connection.send(head, body, connection.head(JWKS))

        answer = read_all(connection)

    assert answer.startswith(b"HTTP/1.1 4")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in answer


@pytest.mark.parametrize(
    "head",
    [
        b"GET http://elsewhere.example%s HTTP/1.1\r\nHost: x\r\n",
        b"GET %s HTTP/1.1\r\nHost:\r\n",
        b"GET %s HTTP/1.1\r\nHost: [::1]:8000\r\n",
        b"GET %s HTTP/1.1\r\nHost: my_service.internal:80\r\n",
        b"GET %s HTTP/1.1\r\nHost: xn--mnchen-3ya.example.\r\n",
        b"GET %s HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nHTTP2-Settings: AAMAAABk\r\n",
        b"GET %s HTTP/1.1\r\nHost: x\r\nHost_: y\r\nContent_Length: 5\r\nTransfer_Encoding: chunked\r\n",
        b"GET %s HTTP/1.1\r\nHost: x\r\nExpect: something\r\nA: \xe4\tb\r\nEmpty:\r\n",
        b"\r\nGET %s HTTP/1.1\r\nHost: x\r\n",
    ],
)
def test_an_unusual_head_is_served_and_the_connection_stays_open(acme, head):
    with Kept(acme.address) as connection:
        path = (connection.prefix + JWKS).encode()
        for _ in range(4):  # the last ones are known to the worker
            connection.send(head % path + b"\r\n")
            assert b'"keys"' in connection.read().body
        assert connection.get("/sign-in").status == 200


def test_host_may_be_missing_in_http_1_0(acme):
    with Kept(acme.address) as connection:
        connection.send(f"GET {connection.prefix}{JWKS} HTTP/1.0\r\n\r\n".encode())

        assert b'"keys"' in read_all(connection)


@pytest.mark.parametrize("path", ["/oidc/token", "/sign-in"], ids=["batch", "thread"])
@pytest.mark.parametrize("coding", ["chunked", "Chunked", " \tCHUNKED\t "])
def test_extensions_and_trailers_of_a_chunked_body_change_nothing(acme, path, coding):
    body = b'3;a="b;c";d\r\na=b\r\n0;e\r\nContent-Type: text/plain\r\nCookie: a=b\r\nX: y\r\n\r\n'
    with Kept(acme.address) as connection:
        head = connection.head(path, f"Transfer-Encoding: {coding}", FORM.decode().strip(), method="POST")
        connection.send(head, body, connection.head(JWKS))
        first, second = connection.read(), connection.read()

        connection.send(head, b"3\r\na=b\r\n0\r\n\r\n")
        assert first.status == connection.read().status
        assert second.status == 200


@pytest.mark.parametrize("path", ["/oidc/token", "/sign-in"], ids=["batch", "thread"])
def test_a_client_that_expects_100_continue_gets_it_once(acme, path):
    with Kept(acme.address) as connection:
        length = "Content-Length: 3"
        form = FORM.decode().strip()
        connection.send(connection.head(path, length, form, "Expect: 100-continue", method="POST"))
        assert connection.read().status == 100
        connection.send(b"a=b", connection.head(JWKS))

        assert connection.read().status in {400, 403}
        assert connection.read().status == 200
