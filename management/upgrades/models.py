"""The nodes that serve with this database."""

from typing import Final

from django.db import models

from database.clock import DatabaseNow, seconds_ahead

# Six heartbeats, so a node that misses some still counts as serving.
_PRESENT_SECONDS: Final = 180
_STALE_SECONDS: Final = 86_400


class NodeQuerySet(models.QuerySet["Node"]):
    """Queries for nodes by when they were last seen."""

    def present(self) -> "NodeQuerySet":
        """Return the nodes that were seen in the last three minutes."""
        return self.filter(seen_at__gt=seconds_ahead(-_PRESENT_SECONDS))

    def stale(self) -> "NodeQuerySet":
        """Return the nodes that were not seen for a day."""
        return self.filter(seen_at__lt=seconds_ahead(-_STALE_SECONDS))


class Node(models.Model):
    """A server, which updates this row every 30 seconds while it serves."""

    id = models.CharField(primary_key=True, max_length=300)  # host and port
    release = models.CharField(max_length=64)
    knows = models.JSONField()  # the names of its release's migrations, for example users.0001_initial
    seen_at = models.DateTimeField(db_default=DatabaseNow())

    objects = NodeQuerySet.as_manager()

    class Meta:
        db_table = "upgrades_node"

    def __str__(self) -> str:
        return f"{self.id} of release {self.release}"
