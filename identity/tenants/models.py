"""The tenant."""

from django.db import models

from database import ids
from identity.core import tenancy
from identity.core.models import Versioned


def _new_id() -> str:
    return str(ids.new())


class Tenant(Versioned):
    """An identity provider of its own: users, applications, keys, issuer."""

    id = models.CharField(primary_key=True, max_length=36, default=_new_id, editable=False)
    slug = models.CharField(max_length=63, unique=True)
    name = models.CharField(max_length=256)

    objects = models.Manager["Tenant"]()

    def __str__(self) -> str:
        return self.name

    def activated(self) -> tenancy.ActiveTenant:
        """Return the value that ``tenancy.using`` takes."""
        return tenancy.ActiveTenant(self.id, self.slug)


class RetiredTenant(models.Model):
    """Id and slug of a deleted tenant, which are never used again."""

    id = models.CharField(primary_key=True, max_length=36, editable=False)
    slug = models.CharField(max_length=63, unique=True)

    def __str__(self) -> str:
        return self.slug
