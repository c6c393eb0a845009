"""A node says that it is there: by this ``migrate`` knows what it must not take away yet."""

import logging
import socket
import threading
import tomllib
from functools import cache
from typing import Final

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.migrations.loader import MigrationLoader

from database.clock import DatabaseNow
from management.upgrades.models import Node

_BEAT_SECONDS: Final = 30
_logger: Final = logging.getLogger(__name__)


def release() -> str:
    """Return the version of this code."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def announce() -> None:
    """Say that this node is there; the workers of a node say it of the same row."""
    node = Node(id=_name(), release=release(), knows=_migrations(), seen_at=DatabaseNow())
    Node.objects.bulk_create(
        [node],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["release", "knows", "seen_at"],
    )


def leave() -> None:
    """Say that this node serves no more. One that cannot is forgotten after a while."""
    try:
        Node.objects.filter(pk=_name()).delete()
    except DatabaseError:
        _logger.warning("this node could not say that it ends: the database is away")
    finally:
        connections.close_all()


def start() -> None:
    """Say it now and every half minute, in a thread of the process that calls this."""
    threading.Thread(target=_go_on, name="presence", daemon=True).start()


def _go_on() -> None:
    silence = threading.Event()
    while True:
        try:
            announce()
            Node.objects.forgotten().delete()
        except DatabaseError:
            _logger.debug("this node could not say that it is there", exc_info=True)
        finally:
            # Idle, it holds none of the connections that requests need.
            connections.close_all()
        silence.wait(_BEAT_SECONDS)


def _name() -> str:
    return f"{socket.gethostname()}:{settings.PORT}"


@cache
def _migrations() -> list[str]:
    return sorted(".".join(name) for name in MigrationLoader(None).disk_migrations)
