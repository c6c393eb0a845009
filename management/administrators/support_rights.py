"""What the role support may write. Every role may read, auditors write nothing, administrators everything.

Support helps users to sign in again, but sets no passwords or addresses: these would allow taking over an
account. For the same reason, the email and phone of users that support creates are unverified
(``Administrator.vouches_for_addresses``).
"""

from collections.abc import Collection, Mapping
from typing import Final

# Operations of the operators' site, by the kind of row.
OPERATIONS: Final[Mapping[str, frozenset[str]]] = {
    "user": frozenset({"create", "suspend", "unsuspend", "end-sessions"}),
    "session": frozenset({"end"}),
}
# Methods that write, by the route of the management API.
ROUTES: Final[Mapping[str, frozenset[str]]] = {
    "api:user-list": frozenset({"POST"}),
    "api:user": frozenset({"PATCH"}),
    "api:user-suspend": frozenset({"PATCH"}),
}
# Fields of these routes that support may not send.
FORBIDDEN_FIELDS: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("api:user", "PATCH"): frozenset({"username", "email", "phone", "primary_email", "primary_phone"}),
}


def may_write(route: str, method: str, fields: Collection[str]) -> bool:
    """Tell whether support may send these fields to a route by a method that writes."""
    forbidden = FORBIDDEN_FIELDS.get((route, method), frozenset())
    return method in ROUTES.get(route, frozenset()) and not forbidden & set(fields)
