"""Reads what has arrived of a body from gunicorn's receiver. Only this module uses its private members."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Final

from gunicorn.asgi.protocol import BodyReceiver

from config.server.wsgi_requests import Message

MOST_WAITING: Final = 65_536  # bytes of a body that no thread has read yet
_JOINED: Final = 1_024  # bytes up to which parts are joined, because each object takes memory, too


@contextmanager
def in_use(receiver: BodyReceiver) -> Iterator[None]:
    """Remove the receiver's reference to its connection at the end.

    The environment of the request refers to the receiver of a body that was still arriving, and Django's
    request is part of cycles, so the connection would be kept until garbage is collected.
    """
    try:
        yield
    finally:
        receiver.protocol = None


def take_arrived(receiver: BodyReceiver) -> BytesIO | None:
    """Return a small body that has arrived completely, or None. Most bodies have, and so need no timer."""
    if not is_complete(receiver) or receiver.buffered > MOST_WAITING or receiver._disconnected:  # noqa: SLF001
        return None
    parts = []
    while receiver.buffered:
        parts.append(receiver._pop_chunk()["body"])  # noqa: SLF001
    return BytesIO(b"".join(parts))


async def receive(receiver: BodyReceiver) -> Message:
    """Return all that has arrived of a body as one message, because a client can send many small chunks."""
    message: Message = await receiver.receive()
    parts = [message.get("body", b"")]
    while receiver.buffered and message["type"] == "http.request":
        message = await receiver.receive()
        parts.append(message["body"])
    return message | {"body": b"".join(parts)} if len(parts) > 1 else message


def is_complete(receiver: BodyReceiver) -> bool:
    """Return whether the whole body has arrived."""
    return bool(receiver._complete)  # noqa: SLF001


def join_last(receiver: BodyReceiver, chunk: bytes) -> bytes:
    """Return a chunk that has just arrived, joined with the receiver's last chunk if both are small.

    The last chunk is then removed from the receiver.
    """
    waiting = receiver._chunks  # noqa: SLF001
    if not waiting or len(waiting[-1]) + len(chunk) > _JOINED:
        return chunk
    last: bytes = waiting.pop()
    receiver._buffered -= len(last)  # noqa: SLF001
    return last + chunk
