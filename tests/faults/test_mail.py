"""R9: the mail server takes connections and says nothing; sign-ins and tokens go on."""

import secrets
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.support import cast, codes
from tests.support.independent import bearer
from tests.support.installation import Installation, check_nothing_is_lost, check_one_branch

_SENDS = 24


def test_fault_R9_the_mail_server_hangs(installation, measured):
    with socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        installation.serve(OUTBOUND_PRIVATE_HOSTS="127.0.0.1")
        seen = installation.witness()
        use_mail_server(installation, seen.shop.administrator, silent.getsockname()[1])
        people = [reachable(installation, seen.shop.administrator) for _ in range(_SENDS)]

        with seen.going(seen.refreshing, seen.signing_in, seen.asking_for_tokens, each=2):
            began = time.monotonic()
            with ThreadPoolExecutor(8) as pool:
                sends = list(pool.map(lambda to: send_a_code(installation.address, to), people))
            seen.goes_on(100)
            ended = time.monotonic()

    during = [each.ended - each.began for each in seen.answers if began < each.began < ended]
    measured(
        sends=_SENDS,
        slowest_send=round(max(seconds for _, seconds in sends), 2),
        slowest_beside=round(max(during), 2),
        answers=seen.summary(),
    )
    assert {status for status, _ in sends} == {200}
    assert max(seconds for _, seconds in sends) < 5
    assert seen.wrong() == []
    assert max(during) < 5
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)


def use_mail_server(installation: Installation, administrator: str, port: int) -> None:
    config = {"host": "127.0.0.1", "port": port, "security": "none", "from_email": "id@example.com"}
    body = {"connector_id": "smtp", "type": "Email", "config": config, "enabled": True}
    answer = httpx.post(
        f"{installation.address}/api/v1/connectors", json=body, headers=bearer(administrator), timeout=30
    )
    assert answer.status_code == 200, answer.text


def reachable(installation: Installation, administrator: str) -> str:
    """Make somebody with an email address, and return it."""
    name = secrets.token_hex(8)
    body = {"username": name, "email": f"{name}@example.com", "password": cast.PASSWORD}
    answer = httpx.post(
        f"{installation.address}/api/v1/users", json=body, headers=bearer(administrator), timeout=30
    )
    assert answer.status_code == 200, answer.text
    return body["email"]


def send_a_code(address: str, to: str) -> tuple[int, float]:
    """Ask for a code to sign in, and return the status and the seconds it took."""
    began = time.monotonic()
    with httpx.Client(base_url=address, timeout=30) as http:
        answer = http.post(codes.SEND, json=codes.about(to))
    return answer.status_code, time.monotonic() - began
