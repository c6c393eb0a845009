"""Passwords that are replaced without the old one, and the end of what the old one gave.

A person who knew the old password could have linked an account of the provider, added a passkey, proven an
email or invited an administrator, to return later.
"""

from typing import Any

from django.db import transaction

from audit.events import Event
from identity.core import records, tenancy
from management.administrators import passkeys, password_rules, single_sign_on
from management.administrators.models import Administrator, Invitation


def set_by_command(administrator: Administrator, password: str) -> None:
    """Set the password of an administrator, whose email is unproven from then on.

    Raises:
        Invalid: the password breaks a rule.
        records.Gone: the administrator was deleted.

    """
    hashed = password_rules.hash_new(password, administrator.username, administrator.email)
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        current = Administrator.objects.select_for_update().filter(pk=administrator.pk).first()
        if current is None:
            raise records.Gone
        store(current, hashed, by="command", proven_email=None)


@transaction.atomic
def store(administrator: Administrator, hashed: str, *, by: str, **columns: Any) -> None:
    """Store the hash of a new password in a locked row, and end what the old password gave.

    ``by`` is for the audit entry. ``columns`` are changed with the password.
    """
    records.change(
        administrator,
        {"password": hashed, **columns},
        event=Event.ADMINISTRATOR_UPDATE,
        changed_fields=["password"],
        username=administrator.username,
        by=by,
    )
    end_earlier_access(administrator)


@transaction.atomic
def end_earlier_access(administrator: Administrator) -> None:
    """Unlink the account of the provider, remove the passkeys, and revoke the invitations."""
    single_sign_on.unlink(administrator)
    passkeys.remove_without_notice(administrator)
    revoke_invitations(administrator)


@transaction.atomic
def revoke_invitations(inviter: Administrator) -> None:
    """Revoke the invitations of an administrator. They stay revoked if lost rights are given back."""
    for invitation in Invitation.objects.filter(invited_by=inviter).order_by("pk").select_for_update():
        records.remove(invitation, event=Event.INVITATION_DELETE, email=invitation.email)
