"""R5: Redis dies, freezes and tells lies under load; nobody is refused, and it is used again."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from tests.support import redis_server
from tests.support.installation import check_nothing_is_lost, check_one_branch
from tests.support.redis_server import RedisServer


class Liar:
    """Stands before a Redis and, while it ``lies``, changes what it answers."""

    def __init__(self, port: int) -> None:
        self._port, self.lies = port, False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                for one, other, is_answer in ((near, far, False), (far, near, True)):
                    threading.Thread(target=self._pass, args=(one, other, is_answer), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, is_answer: bool) -> None:
        with suppress(OSError), one, other:
            while data := one.recv(65_536):
                other.sendall(b"*2\r\n:7\r\n$3\r\nyes\r\n" if self.lies and is_answer else data)


def hurt(how: str, redis: RedisServer, liar: Liar) -> None:
    if how == "lies":
        liar.lies = True
    else:
        {"dies": redis.kill, "freezes": redis.freeze}[how]()


def heal(how: str, redis: RedisServer, liar: Liar) -> None:
    liar.lies = False
    if how != "lies":
        {"dies": redis.start, "freezes": redis.thaw}[how]()


@pytest.mark.parametrize("how", ["dies", "freezes", "lies"])
def test_fault_R5_redis_fails_under_load(installation, measured, how):
    with redis_server.running() as redis:
        liar = Liar(redis.port)
        installation.serve(CACHE_URL=liar.url if how == "lies" else redis.url)
        seen = installation.witness()

        with seen.going(seen.refreshing, seen.signing_in, seen.asking_for_tokens, each=2):
            hurt(how, redis, liar)
            seen.goes_on(100)
            time.sleep(6)  # longer than the pause after which it is asked again
            seen.goes_on(40)
            heal(how, redis, liar)
            time.sleep(6)
            seen.goes_on(40)
        liar.close()

    measured(how=how, answers=seen.summary(), slowest=round(seen.slowest(), 2))
    assert seen.wrong() == []
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)
