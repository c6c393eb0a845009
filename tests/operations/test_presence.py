"""Nodes say that they are there, so that nothing is taken away from under them."""

import socket

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from database.clock import seconds_ahead
from management.upgrades import presence, serving
from management.upgrades.models import Node
from tests.support import second
from tests.support.threads import wait_until


def seen() -> dict[str, serving.Serving]:
    return {node.name: node for node in serving.find_nodes(connection, [])}


def test_a_node_is_there_while_it_serves_and_gone_once_it_was_stopped(address):
    here = socket.gethostname()
    assert wait_until(lambda: f"{here}:{settings.PORT}" in seen())

    with second.running() as other:
        name = f"{here}:{other.rpartition(':')[2]}"
        assert wait_until(lambda: name in seen())
        assert seen()[name].release == presence.release()
        assert 0 <= seen()[name].seconds < 60

    assert name not in seen()
    assert f"{here}:{settings.PORT}" in seen()


def test_a_node_that_fell_silent_is_not_counted_and_forgotten_after_a_day(address):
    silent = {"there": 170, "away": 190, "long gone": 90_000}
    for name, seconds in silent.items():
        Node.objects.create(pk=name, release="0", knows=[])
        Node.objects.filter(pk=name).update(seen_at=seconds_ahead(-seconds))

    assert set(silent) & set(seen()) == {"there"}
    assert set(silent) & set(Node.objects.stale().values_list("pk", flat=True)) == {"long gone"}
    Node.objects.filter(pk__in=silent).delete()


def test_a_node_knows_the_migrations_that_django_finds(database):
    found = MigrationLoader(None).disk_migrations

    assert presence._migrations() == sorted(".".join(name) for name in found)
