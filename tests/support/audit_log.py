"""What the audit log holds of a tenant."""

from audit.models import Entry

SIGN_IN = "/api/interaction/sign-in"


def entries(world, key=None):
    """The entries of a tenant, oldest first."""
    found = Entry.objects.filter(tenant_id=world.tenant.pk).order_by("created_at", "id")
    return list(found.filter(key=key) if key else found)


def last(world, key):
    return entries(world, key)[-1]
