"""Signing keys of a tenant whose tests rotate more often than a tenant may."""

from oidc.keys.models import SigningKey
from tests.support.cast import World


def delete_previous(world: World, *, but: int = 0) -> None:
    """Delete the previous keys of a tenant, except the oldest ``but``. An algorithm has 20 at most."""
    with world.active():
        previous = SigningKey.objects.filter(status=SigningKey.Status.PREVIOUS).order_by("retired_at")
        SigningKey.objects.filter(pk__in=[key.pk for key in previous[but:]]).delete()
