"""Django's PostgreSQL backend, which checks connections before each request without a query."""

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
        return params | {"cursor_factory": Cursor, "context": timestamps.quicker(params["context"])}

    def is_usable(self) -> bool:
        """Tell whether the connection can be used.

        When a server closes a connection, the idle socket becomes readable. Only then is a query sent,
        which Django always sends.
        """
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN)
        return not waiting.poll(0) or super().is_usable()
