"""What each role may do, as one table. Everybody may read; administrators may do everything else, too.

Support helps people to sign in again. It changes nothing that proves who somebody is: who could set a
password or an address could take an account over. For that reason the email and the phone of users that
support creates are unproven (``Administrator.vouches_for_addresses``).
"""

from collections.abc import Collection, Mapping
from typing import Final

# Operations of the operators' site, by the kind of row.
SUPPORT_OPERATIONS: Final[Mapping[str, frozenset[str]]] = {
    "user": frozenset({"create", "suspend", "unsuspend", "end-sessions"}),
    "session": frozenset({"end"}),
}
# Methods that write, by the route of the management API.
SUPPORT_ROUTES: Final[Mapping[str, frozenset[str]]] = {
    "api:user-list": frozenset({"POST"}),
    "api:user": frozenset({"PATCH"}),
    "api:user-suspend": frozenset({"PATCH"}),
}
# Fields of these routes that stay closed to support.
SUPPORT_KEEPS_OUT: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("api:user", "PATCH"): frozenset({"username", "email", "phone", "primary_email", "primary_phone"}),
}


def is_open_to_support(route: str, method: str, fields: Collection[str]) -> bool:
    """Tell whether support may send these fields to a route by a method that writes."""
    kept_out = SUPPORT_KEEPS_OUT.get((route, method), frozenset())
    return method in SUPPORT_ROUTES.get(route, frozenset()) and not kept_out & set(fields)
