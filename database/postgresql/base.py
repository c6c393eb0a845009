"""Django's PostgreSQL, whose connections are looked at before each request without asking the server."""

import select
from typing import Any

from django.db.backends.postgresql import base

from database.postgresql import timestamps
from database.postgresql.cursor import Cursor


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of Django's that says at no cost whether the server ended it."""

    def get_connection_params(self) -> dict[str, Any]:
        """Return what to connect with."""
        params = super().get_connection_params()
        return params | {"cursor_factory": Cursor, "context": timestamps.quicker(params["context"])}

    def is_usable(self) -> bool:
        """Tell whether statements can be sent.

        A server that goes away says so, or its kernel does: then there is something to read on a
        connection on which nothing was asked. Only then is the server asked, as Django always does.
        """
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN)
        return not waiting.poll(0) or super().is_usable()
