"""Tenants."""

import re
from typing import Final

from django.db import models

from database import ids
from identity.core import tenancy
from identity.core.models import Versioned

SLUG: Final = re.compile(r"[a-z0-9-]{1,63}")


def _new_id() -> str:
    return str(ids.new())


class Tenant(Versioned):
    """An identity provider with its own users, applications, keys and issuer."""

    id = models.CharField(primary_key=True, max_length=36, default=_new_id, editable=False)
    slug = models.CharField(max_length=63, unique=True)
    name = models.CharField(max_length=256)
    # Copies of the tenant's settings of OpenID Connect, for the queries of sessions. Lifetimes are in
    # seconds; null: as the installation.
    session_idle_seconds = models.PositiveIntegerField(null=True, editable=False)
    session_absolute_seconds = models.PositiveIntegerField(null=True, editable=False)
    keep_signed_in = models.BooleanField(default=False, db_default=False, editable=False)

    # The highest level of sign-ins that the factors of the sign-in experience reach; 1: it has no factors.
    highest_level = models.PositiveSmallIntegerField(default=1, db_default=1, editable=False)

    objects = models.Manager["Tenant"]()

    def __str__(self) -> str:
        return self.name

    def to_active(self) -> tenancy.ActiveTenant:
        """Return the argument for ``tenancy.using``."""
        return tenancy.ActiveTenant(self.id, self.slug)


class RetiredTenant(models.Model):
    """The id and slug of a deleted tenant, which no other tenant may get."""

    id = models.CharField(primary_key=True, max_length=36, editable=False)
    slug = models.CharField(max_length=63, unique=True)

    def __str__(self) -> str:
        return self.slug
