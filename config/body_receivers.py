"""What has arrived of a body, in gunicorn's receiver, whose private members only this module reads."""

from io import BytesIO
from typing import Final

from gunicorn.asgi.protocol import BodyReceiver

from config.wsgi_requests import Message

MOST_WAITING: Final = 65_536  # bytes of a body that no thread has read yet
_JOINED: Final = 1_024  # bytes up to which parts are joined, because each object takes memory, too


def take_arrived(receiver: BodyReceiver) -> BytesIO | None:
    """Return a small body that has arrived completely, as most have, without a timer; otherwise None."""
    if not is_complete(receiver) or receiver.buffered > MOST_WAITING or receiver._disconnected:  # noqa: SLF001
        return None
    parts = []
    while receiver.buffered:
        parts.append(receiver._pop_chunk()["body"])  # noqa: SLF001
    return BytesIO(b"".join(parts))


async def receive(receiver: BodyReceiver) -> Message:
    """Return all of a body that has arrived, because a client can send it in many small chunks."""
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
    """Return a chunk that has arrived, joined with the one that the receiver has last if both are small."""
    waiting = receiver._chunks  # noqa: SLF001
    if not waiting or len(waiting[-1]) + len(chunk) > _JOINED:
        return chunk
    last: bytes = waiting.pop()
    receiver._buffered -= len(last)  # noqa: SLF001
    return last + chunk
