"""The heartbeat of a node. ``migrate`` reads it to find out what serving nodes still need."""

import importlib.util
import logging
import pkgutil
import socket
import threading
import tomllib
from functools import cache
from typing import Final

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections
from django.db.migrations.loader import MigrationLoader

from database.clock import DatabaseNow
from management.upgrades.models import Node

_INTERVAL_SECONDS: Final = 30
_logger: Final = logging.getLogger(__name__)


def release() -> str:
    """Return the version of this code."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def announce() -> None:
    """Record that this node serves. All workers of a node write the same row."""
    node = Node(id=_name(), release=release(), knows=_migrations(), seen_at=DatabaseNow())
    Node.objects.bulk_create(
        [node],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["release", "knows", "seen_at"],
    )


def leave() -> None:
    """Delete this node's row. If that fails, other nodes delete it after a day."""
    try:
        Node.objects.filter(pk=_name()).delete()
    except DatabaseError:
        _logger.warning("this node could not delete its row: the database is unavailable")
    finally:
        connections.close_all()


def start() -> None:
    """Start the thread that announces this node every 30 seconds."""
    threading.Thread(target=_announce_forever, name="presence", daemon=True).start()


def _announce_forever() -> None:
    pause = threading.Event()
    while True:
        try:
            announce()
            Node.objects.stale().delete()
        except DatabaseError:
            _logger.debug("this node could not announce itself", exc_info=True)
        finally:
            close_old_connections()  # this thread keeps its connection; a pool gets it back
        pause.wait(_INTERVAL_SECONDS)


def _name() -> str:
    return f"{socket.gethostname()}:{settings.PORT}"


@cache
def _migrations() -> list[str]:
    """Return the names of all migrations. They are not imported, which takes a worker 45 ms and 2.5 MiB."""
    return sorted(
        f"{app.label}.{module.name}" for app in apps.get_app_configs() for module in _find_modules(app.label)
    )


def _find_modules(app_label: str) -> list[pkgutil.ModuleInfo]:
    package, _ = MigrationLoader.migrations_module(app_label)
    spec = importlib.util.find_spec(package) if package else None
    folders = spec.submodule_search_locations if spec else None
    # Django ignores packages, and modules whose name begins like this.
    return [
        found
        for found in pkgutil.iter_modules(folders or [])
        if not found.ispkg and found.name[0] not in "_~"
    ]
