"""A server in place of Redis that answers every command with the same bytes."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread


@contextmanager
def running(answer: bytes) -> Iterator[str]:
    """Serve, and yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=_accept, args=(listener, answer), daemon=True).start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def _accept(listener: socket.socket, answer: bytes) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            Thread(target=_answer, args=(connection, answer), daemon=True).start()


def _answer(connection: socket.socket, answer: bytes) -> None:
    with connection, suppress(OSError):
        while connection.recv(65_536):
            connection.sendall(answer)
