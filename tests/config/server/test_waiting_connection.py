"""A connection in a flood whose client does not read the refusals."""

import asyncio
from types import SimpleNamespace

from config.server.waiting_connection import WaitingConnection


class Successor:
    """The connection that takes the place of the first one."""

    is_paused = False

    def connection_made(self, transport):
        pass

    def pause_writing(self):
        self.is_paused = True


class FullTransport:
    """A transport whose buffer is full with each write."""

    def __init__(self, protocol):
        self.protocols = [protocol]

    def get_extra_info(self, name):
        return name

    def set_protocol(self, protocol):
        self.protocols.append(protocol)

    def write(self, data):
        self.protocols[-1].pause_writing()


def new_worker(loop, keepalive=0.01):
    return SimpleNamespace(
        add=lambda _: None,
        remove=lambda _: None,
        cfg=SimpleNamespace(keepalive=keepalive),
        keeps_connections=lambda: True,
        loop=loop,
        new_connection=Successor,
        nr=0,
        overload=SimpleNamespace(refuse=lambda data: data),
    )


def test_a_client_that_reads_no_refusals_gets_one_successor():
    async def flood():
        waiting = WaitingConnection(new_worker(asyncio.get_running_loop()))
        transport = FullTransport(waiting)
        waiting.connection_made(transport)
        waiting.data_received(b"a request")
        await asyncio.sleep(0.1)  # longer than an idle connection is kept
        return transport.protocols[1:]

    [successor] = asyncio.run(flood())

    assert successor.is_paused


def test_without_a_time_for_idle_connections_the_first_request_is_waited_for():
    async def connect():
        waiting = WaitingConnection(new_worker(asyncio.get_running_loop(), keepalive=0))
        transport = FullTransport(waiting)
        waiting.connection_made(transport)
        await asyncio.sleep(0.05)
        return transport.protocols

    assert len(asyncio.run(connect())) == 1
