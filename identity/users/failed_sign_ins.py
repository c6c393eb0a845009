"""The panel of the operators' site with the latest failed sign-ins of a user."""

from audit.administrative import ADMINISTRATIVE
from audit.models import Entry
from identity.core import tenancy
from identity.operator_kit.panels import Panel, build_panel, link
from identity.operator_kit.timestamps import format_utc
from identity.users import typed
from identity.users.models import User


def build_user_panel(user: User) -> Panel:
    identifiers = filter(None, (user.username, user.email, user.phone))
    keys = [key for identifier in identifiers for key in typed.keys_of(identifier)]
    # The log of the default tenant also has the entries of administrators, who may have the same identifier.
    of_users = Entry.objects.filter(tenant_id=tenancy.active_id()).exclude(key__in=ADMINISTRATIVE)
    failed = of_users.filter(identifier_key__in=keys, payload__result="failed").order_by("-created_at", "-id")
    return build_panel(
        "Failed attempts",
        ("When (UTC)", "Event", "Reason", "Address"),
        failed if keys else [],
        lambda entry: (
            link(entry, format_utc(entry.created_at)),
            entry.key,
            entry.payload.get("error", "-"),
            entry.ip,
        ),
        empty="The log has no failed attempts.",
    )
