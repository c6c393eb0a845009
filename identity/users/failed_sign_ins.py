"""The panel of the operators' site with the latest failed sign-ins of a user."""

from audit.administrative import ADMINISTRATIVE
from audit.models import Entry
from identity.core import tenancy
from identity.operator_kit.operations import SHOWN, Panel
from identity.operator_kit.pages import beside, link
from identity.operator_kit.timestamps import text
from identity.users import typed
from identity.users.models import User


@beside(User)
def _of_user(user: User) -> list[Panel]:
    identifiers = filter(None, (user.username, user.email, user.phone))
    keys = [key for identifier in identifiers for key in typed.keys_of(identifier)]
    # The log of the default tenant also has the entries of administrators, who may have the same identifier.
    of_users = Entry.objects.filter(tenant_id=tenancy.active_id()).exclude(key__in=ADMINISTRATIVE)
    failed = of_users.filter(identifier_key__in=keys, payload__result="failed").order_by("-created_at", "-id")
    found = list(failed[: SHOWN + 1]) if keys else []
    rows = [
        (link(entry, text(entry.created_at)), entry.key, entry.payload.get("error", "-"), entry.ip)
        for entry in found[:SHOWN]
    ]
    columns = ("When (UTC)", "Event", "Reason", "Address")
    return [
        Panel("Failed attempts", columns, rows, "The log has no failed attempts.", cut=len(found) > SHOWN)
    ]
