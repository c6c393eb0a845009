"""Django's PostgreSQL backend, which checks a connection before each request without a query."""

import select
from typing import Any

from django.db.backends.postgresql import base

from database.postgresql import timestamps
from database.postgresql.cursor import Cursor


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection, with a cheap test of whether the server has closed it."""

    def get_connection_params(self) -> dict[str, Any]:
        """Return the parameters of new connections."""
        params = super().get_connection_params()
        return params | {
            "cursor_factory": Cursor,
            "context": timestamps.with_fast_timestamps(params["context"]),
        }

    def is_usable(self) -> bool:
        """Return whether the connection can be used.

        When the server closes a connection, the idle socket becomes readable. Only then is Django's check
        needed, which sends a query. A connection to a standby is not used again: after a failover, the next
        one may reach the primary.
        """
        if self.connection is None or self.connection.closed:
            return False
        if self.connection.info.parameter_status("in_hot_standby") == "on":
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()
