"""Addresses whose codes are second factors. The tenant's are named by ``settings.CODE_FACTORS``."""

from django.conf import settings
from django.utils.module_loading import import_string

from identity.core.proof import TokenTooOld
from identity.users.identifiers import ADDRESS_KINDS, Kind
from identity.users.models import User


def find_kinds() -> frozenset[Kind]:
    """Return the kinds of addresses whose codes are second factors of the active tenant."""
    kinds: frozenset[Kind] = import_string(settings.CODE_FACTORS)()
    return kinds


def check(user: User, before: User, *, is_proven: bool) -> None:
    """Check that a caller may change the addresses and verified flags of ``before`` to those of a user.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: codes to a changed address are a second factor, and ``is_proven`` is false.

    """
    if is_proven:
        return
    changed = {
        kind
        for kind in ADDRESS_KINDS
        for name in (kind, f"{kind}_verified")
        if getattr(user, name) != getattr(before, name)
    }
    if changed and changed & find_kinds():
        raise TokenTooOld
