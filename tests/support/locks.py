"""Locks of sign-ins, as after too many failures. One failure must have been counted before."""

from datetime import timedelta

from django.utils import timezone

from identity.limits.models import Counter


def lock_newest(world):
    """Lock the user or administrator of the newest failure in a tenant."""
    now = timezone.now()
    with world.active():
        newest = Counter.objects.filter(kind__in=["pair", "administrator"]).order_by("-updated_at", "-pk")[:1]
        locked = Counter.objects.filter(pk__in=list(newest.values_list("pk", flat=True)))
        until, ends = now + timedelta(minutes=5), now + timedelta(minutes=20)
        assert locked.update(locked_until=until, ends_at=ends) == 1


def lock_all(world, kind="pair"):
    """Lock all users in a tenant with a failure, for the pair of address and identifier or another kind."""
    now = timezone.now()
    until, ends = now + timedelta(minutes=5), now + timedelta(minutes=20)
    with world.active():
        Counter.objects.filter(kind=kind).update(locked_until=until, ends_at=ends)
