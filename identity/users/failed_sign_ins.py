"""What failed lately with the identifiers of a user: a panel of the operators' site."""

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
    keys = [key for one in (user.username, user.email, user.phone) if one for key in typed.keys_of(one)]
    # An administrator may be called the same, whose entries lie in the log of the default tenant.
    of_users = Entry.objects.filter(tenant_id=tenancy.active_id()).exclude(key__in=ADMINISTRATIVE)
    of_them = of_users.filter(identifier_key__in=keys)
    failed = of_them.filter(payload__result="failed").order_by("-created_at", "-id")
    found = list(failed[: SHOWN + 1]) if keys else []
    rows = [
        (link(entry, text(entry.created_at)), entry.key, entry.payload.get("error", "-"), entry.ip)
        for entry in found[:SHOWN]
    ]
    heads = ("When (UTC)", "Event", "Reason", "Address")
    return [Panel("Failed attempts", heads, rows, "None is in the log.", cut=len(found) > SHOWN)]
