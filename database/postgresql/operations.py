"""Django's operations of PostgreSQL, with the limit on the parameters of a statement."""

from collections.abc import Sequence
from typing import Any, Final

from django.db.backends.postgresql import operations

# The protocol counts parameters in 16 bits, so 65,535 are the most. An insert has one for each field of an
# object, but ``bulk_update`` sends up to twice as many as it counts.
MAX_BATCH_PARAMETERS: Final = 30_000


class DatabaseOperations(operations.DatabaseOperations):
    """Django's operations, which delete and insert very many rows in batches.

    Django assumes that statements have no limit. That is so only without ``server_side_binding``.
    """

    def bulk_batch_size(self, fields: Sequence[Any], objs: Sequence[Any]) -> int:
        """Return how many of these objects a statement may have."""
        if not fields:
            return len(objs)
        return max(MAX_BATCH_PARAMETERS // len(fields), 1)
