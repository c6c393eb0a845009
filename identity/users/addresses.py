"""The identifiers of a user object, and which of its addresses are proven and verified.

Nothing here is stored: ``services`` does that.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid, ServiceError
from identity.users import identifiers, new_emails
from identity.users.identifiers import ADDRESS_KINDS, Kind
from identity.users.models import User

WITHOUT_ADDRESS: Final = {
    Kind.EMAIL: gettext_noop("must be false for a user without email"),
    Kind.PHONE: gettext_noop("must be false for a user without phone"),
}
# The columns that the functions of this module set.
COLUMNS: Final = (
    *("username", "username_key", "search_text"),
    *(f"{kind}{suffix}" for kind in ADDRESS_KINDS for suffix in ("", "_key", "_verified", "_proven")),
)


class MayNotVerify(ServiceError):
    """The caller's word does not verify an address."""

    status = 403
    reason = "may_not_verify"
    message = gettext_noop(
        "only administrators with the role administrator may mark an email or phone as verified"
    )


def set_identifiers(user: User, *, username: str, email: str, phone: str) -> None:
    """Set the identifiers with their keys and the search text. An email that does not change is not checked.

    Raises:
        Invalid: an identifier breaks a rule.

    """
    user.username = username
    user.username_key = identifiers.fold(username) if username else None
    if email and email != user.email:
        check_email(email)
    user.email = email
    user.email_key = identifiers.fold(email) if email else None
    user.phone = identifiers.clean_phone(phone) if phone else ""
    user.phone_key = identifiers.phone_key(user.phone) if phone else None
    user.search_text = user.fold_for_search()


def check_email(email: str) -> None:
    """Check a new email address.

    Raises:
        Invalid: the text is not an address, or the tenant does not accept the address.

    """
    new_emails.check(email)
    identifiers.clean_email(email)


def set_proven(user: User, proven: Collection[Kind]) -> None:
    """Set whether each address of a new user is proven."""
    for kind in ADDRESS_KINDS:
        setattr(user, f"{kind}_proven", kind in proven if getattr(user, kind) else None)


def set_changed(user: User, before: User, *, proven: Kind | None) -> set[Kind]:
    """Mark the addresses that differ from ``before`` as proven, and return their kinds.

    An address is verified only if its kind is ``proven``, which a code has just proven.
    """
    keys, old_keys = user.get_identifier_keys(), before.get_identifier_keys()
    changed = {kind for kind in ADDRESS_KINDS if keys.get(kind) != old_keys.get(kind)}
    for kind in ADDRESS_KINDS:
        if kind in changed or kind == proven:
            setattr(user, f"{kind}_verified", kind == proven)
            setattr(user, f"{kind}_proven", True if getattr(user, kind) else None)
        elif getattr(user, kind) != getattr(before, kind) and getattr(before, f"{kind}_verified"):
            # Another spelling with the same key can be another mailbox.
            setattr(user, f"{kind}_proven", before.has_own_proof(kind))
            setattr(user, f"{kind}_verified", False)
    return changed


def set_flags(user: User, fields: Mapping[str, Any]) -> None:
    """Set the verified flags that an administrator sent. Every other proof stays as it is.

    Raises:
        Invalid: a flag is true, but the user has no such address.

    """
    for kind in ADDRESS_KINDS:
        name = f"{kind}_verified"
        if name not in fields:
            continue
        if not getattr(user, kind):
            if fields[name]:
                raise Invalid(name, WITHOUT_ADDRESS[kind], code="conflict")
        elif fields[name] != getattr(user, name):
            setattr(user, f"{kind}_proven", user.has_own_proof(kind))
            setattr(user, name, fields[name])


def find_new_proofs(user: User, before: User) -> set[Kind]:
    """Return the kinds of the proven addresses that ``before`` had not proven, or did not have."""
    return {
        kind
        for kind in ADDRESS_KINDS
        if user.has_proven(kind)
        and (not before.has_proven(kind) or getattr(user, f"{kind}_key") != getattr(before, f"{kind}_key"))
    }


def get_flag_facts(user: User, before: User, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed flags before and after, as the audit entry of a change has them."""
    names = [f"{kind}_verified" for kind in ADDRESS_KINDS]
    changed = [name for name in names if name in fields and getattr(user, name) != getattr(before, name)]
    if not changed:
        return {}
    return {
        "values": {name: getattr(user, name) for name in changed},
        "before": {name: getattr(before, name) for name in changed},
    }
