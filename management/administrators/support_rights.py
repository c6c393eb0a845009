"""What the role support may write. Every role may read, auditors write nothing, administrators everything.

Support helps users to sign in again, but sets no passwords or addresses: these would allow taking over an
account. For the same reason, support does not verify the email and phone of users, and those of users that
support creates are unproven (``Administrator.vouches_for_addresses``). When support unlocks a user, the lock
of second factors stays (``Administrator.ends_second_factor_locks``).
"""

from collections.abc import Collection, Mapping
from typing import Final

# Operations of the operators' site, by the kind of row.
OPERATIONS: Final[Mapping[str, frozenset[str]]] = {
    "user": frozenset(
        {"create", "suspend", "reactivate", "unlock", "data", "end-sessions", "end-tokens", "sign-out"}
    ),
    "session": frozenset({"end"}),
}
# Methods that write, by the route of the management API.
ROUTES: Final[Mapping[str, frozenset[str]]] = {
    "api:user-list": frozenset({"POST"}),
    "api:user": frozenset({"PATCH"}),
    "api:user-suspend": frozenset({"PATCH"}),
    "api:user-session-list": frozenset({"DELETE"}),
    "api:user-session": frozenset({"DELETE"}),
    "api:user-grant-list": frozenset({"DELETE"}),
    "api:user-grant": frozenset({"DELETE"}),
    "api:user-sign-out": frozenset({"POST"}),
    "api:user-locks": frozenset({"DELETE"}),
}
# Fields of these routes that support may not send. Of a profile, support sends only the names.
_FLAGS: Final = frozenset({"email_verified", "phone_verified"})
FORBIDDEN_FIELDS: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("api:user-list", "POST"): _FLAGS,
    ("api:user", "PATCH"): _FLAGS | {"username", "email", "phone", "primary_email", "primary_phone"},
}
_PROFILE: Final = "profile."
_NAMES: Final = frozenset(
    f"{_PROFILE}{name}" for name in ("given_name", "family_name", "middle_name", "nickname")
)


def may_write(route: str, method: str, fields: Collection[str]) -> bool:
    """Return whether support may send these fields to a route by a method that writes."""
    forbidden = FORBIDDEN_FIELDS.get((route, method), frozenset()) | (
        {name for name in fields if name.startswith(_PROFILE)} - _NAMES
    )
    return method in ROUTES.get(route, frozenset()) and not forbidden & set(fields)
