"""Keeping refresh families expired when a lifetime is raised (decision Q15)."""

from uuid import UUID

from django.db.models.functions import Now

from oidc.applications import lifetimes
from oidc.grants.models import RefreshFamily


def expire(application_id: UUID | None) -> None:
    """Expire the families of an application, or of the tenant if None, that have exceeded their lifetimes.

    Otherwise a longer lifetime would revive these families.
    """
    families = RefreshFamily.objects.filter(~lifetimes.are_kept(), ended_at=None, expires_at__gt=Now())
    if application_id is not None:
        families = families.filter(application=application_id)
    families.update(expires_at=Now())
