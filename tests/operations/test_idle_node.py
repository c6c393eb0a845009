"""What a node does that nobody asks for anything."""

import contextlib
import threading
import time

import pytest
from django.db import connection, connections
from django.db.backends.signals import connection_created

from interaction.verification import outgoing
from management.upgrades import presence
from tests.support.threads import THOROUGH

LOOKS = 5


@pytest.fixture
def opened(database):
    """The names of the threads that opened a connection, once for each connection."""
    names = []

    def note(**_):
        names.append(threading.current_thread().name)

    connection_created.connect(note)
    yield names
    connection_created.disconnect(note)


def wait_for(looks):
    began = time.monotonic()
    while len(looks) < LOOKS:
        assert time.monotonic() < began + 20
        time.sleep(0.02)


def test_looks_for_messages_over_one_connection(opened, monkeypatch):
    looks, senders = [], outgoing._Senders(2)
    send_due = outgoing.send_due

    def look():
        looks.append(threading.current_thread().name)
        return send_due()

    monkeypatch.setattr(outgoing, "send_due", look)
    monkeypatch.setattr(outgoing, "_POLL_SECONDS", 0.05)

    senders.start()
    try:
        wait_for(looks)
    finally:
        senders.stop()

    assert opened.count("sender-0") == 1
    # The other thread looks when it starts, and when a message is enqueued or the server stops.
    assert looks.count("sender-1") <= 2
    assert not any(thread.is_alive() for thread in senders._threads)


class Ended(Exception):
    """Raised to leave the endless loop of the thread."""


def announce_until_ended():
    try:
        with contextlib.suppress(Ended):
            presence._announce_forever()
    finally:
        connections.close_all()


def test_announces_itself_over_one_connection(opened, monkeypatch):
    looks, announce = [], presence.announce

    def look():
        looks.append(threading.current_thread().name)
        if len(looks) > LOOKS:
            raise Ended
        announce()

    monkeypatch.setattr(presence, "announce", look)
    monkeypatch.setattr(presence, "_INTERVAL_SECONDS", 0.05)

    thread = threading.Thread(target=announce_until_ended, name="presence", daemon=True)
    thread.start()
    thread.join(20)  # without the patches it would never end

    assert not thread.is_alive()
    assert opened.count("presence") == 1


def count_sessions():
    """How many sessions the database has had since it was created."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sessions FROM pg_stat_database WHERE datname = current_database()")
        return cursor.fetchone()[0]


@pytest.mark.skipif(not THOROUGH, reason="takes 50 seconds: only with GATEHOUSE_THOROUGH=1")
@pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL counts sessions")
def test_opens_no_connection(address):
    """It looks for messages every 20 seconds and announces itself every 30."""
    count_sessions()
    time.sleep(5)  # its threads have connected, and the statistics say so
    before = count_sessions()

    time.sleep(45)

    assert count_sessions() == before
