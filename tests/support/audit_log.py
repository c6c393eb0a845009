"""The audit entries of a tenant."""

from audit.models import Entry

SIGN_IN = "/api/interaction/sign-in"


def entries(world, key=None):
    """Return the entries of a tenant, with a key if one is given, the oldest first."""
    found = Entry.objects.filter(tenant_id=world.tenant.pk).order_by("created_at", "id")
    return list(found.filter(key=key) if key else found)


def last(world, key):
    return entries(world, key)[-1]
