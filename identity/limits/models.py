"""Counters in the database, so that all workers and all nodes count together."""

from django.db import models

from identity.core.models import TenantManager, TenantModel


class Counter(TenantModel):
    """The hits of one key in the current window. Only a keyed hash of the key is stored."""

    kind = models.CharField(max_length=32)
    key_hash = models.CharField(max_length=80)
    # A keyed hash of what locks are found by, such as an identifier: see ``Hit``.
    group_hash = models.CharField(max_length=80, null=True)
    count = models.PositiveIntegerField(default=0)
    ends_at = models.DateTimeField()
    locked_until = models.DateTimeField(null=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "kind", "key_hash"], name="counter_unique"),
        ]
        indexes = [
            models.Index(fields=["ends_at"], name="counter_over"),
            models.Index(
                fields=["tenant", "group_hash"],
                name="counter_of_group",
                condition=models.Q(group_hash__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.count}"
