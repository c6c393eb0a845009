"""What a user may read of the own account's log: nothing of earlier owners, and nobody else's address."""

from datetime import UTC, datetime
from typing import Any, Final

from django.db.models import DateTimeField, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from audit.events import Event
from audit.models import Entry
from identity.users.models import User
from oidc.grants import revocations

# The other entries of a user have an application only if it made the change, by the management API.
_AT_APPLICATIONS: Final = frozenset({"Application", "Consent", "Register", "SignIn", "Token"})
_CALLERS: Final = frozenset({"administrator_id", "caller_id"})
_OF_OTHERS: Final = _CALLERS | {"made_by"}
_BEGINNING: Final = Value(datetime(1970, 1, 1, tzinfo=UTC), output_field=DateTimeField())


def find(user: User) -> QuerySet[Entry]:
    """Return the entries of a user since the account got its owner, the newest first."""
    entries = Entry.objects.filter(
        tenant_id=user.tenant_id, user_id=str(user.pk), created_at__gte=get_beginning(user)
    )
    # Users remove no members. A user who proved a phone has such an entry for another account that lost it.
    return entries.exclude(key=Event.ORGANIZATION_MEMBER_DELETE).order_by("-created_at", "-id")


def get_beginning(user: User) -> Coalesce:
    """Return the expression for the time since which the account has its owner, as far as the log says."""
    changes = Entry.objects.filter(
        tenant_id=user.tenant_id, user_id=str(user.pk), key=Event.USER_OWNER_CHANGE
    )
    return Coalesce(Subquery(changes.order_by("-created_at").values("created_at")[:1]), _BEGINNING)


def is_own_act(entry: Entry) -> bool:
    """Return whether the user did what an entry of the account says.

    Others are administrators, applications with the management API, and the person who proved to own an
    address of the user.
    """
    payload = entry.payload
    if payload.keys() & _CALLERS or payload.get("reason") == revocations.BY_ADMINISTRATOR:
        return False
    return entry.key != Event.IDENTIFIER_REMOVE and (not entry.application_id or _is_at_application(entry))


def describe(entry: Entry) -> dict[str, Any]:
    """Return the columns of an entry for its user, without the ids, address and browser of others."""
    is_own = is_own_act(entry)
    return {
        "key": entry.key,
        "application_id": entry.application_id if _is_at_application(entry) else None,
        "details": {name: value for name, value in entry.payload.items() if name not in _OF_OTHERS},
        "ip": entry.ip if is_own else "",
        "user_agent": entry.user_agent if is_own else "",
    }


def _is_at_application(entry: Entry) -> bool:
    return entry.key.partition(".")[0] in _AT_APPLICATIONS
