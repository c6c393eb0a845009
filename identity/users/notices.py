"""Notices to users about changes of their accounts.

``settings.NOTIFIER`` names the function that sends them. A new kind needs a line in ``Notice`` and its
texts in ``verification/notice_texts``.
"""

from collections.abc import Mapping
from enum import StrEnum

from django.conf import settings
from django.utils.module_loading import import_string

from identity.users import former_emails
from identity.users.identifiers import Kind
from identity.users.models import User


class Notice(StrEnum):
    """The kinds of notices. A tenant may have a message template for each."""

    IDENTIFIER_REMOVED = "notice_identifier_removed"
    PASSWORD_CHANGED = "notice_password_changed"  # noqa: S105 - a kind of notice
    ACCOUNT_LINKED = "notice_account_linked"
    ACCOUNT_UNLINKED = "notice_account_unlinked"
    EMAIL_CHANGED = "notice_email_changed"
    PHONE_CHANGED = "notice_phone_changed"
    FACTOR_ADDED = "notice_factor_added"
    FACTOR_REMOVED = "notice_factor_removed"
    FACTORS_RESET = "notice_factors_reset"
    BACKUP_CODES_MADE = "notice_backup_codes_made"
    BACKUP_CODE_USED = "notice_backup_code_used"
    RECOVERY_CODE_MADE = "notice_recovery_code_made"
    RECOVERY_CODE_USED = "notice_recovery_code_used"
    NEW_SIGN_IN = "notice_new_sign_in"
    FACTOR_LOCKED = "notice_factor_locked"
    PASSKEY_ANOMALY = "notice_passkey_anomaly"


def notify(user: User, notice: Notice, *, to: Mapping[Kind, str] | None = None, **words: str) -> None:
    """Send a user a notice once the transaction commits.

    The notice goes to one proven address: the email, or the phone if there is no email. It also goes to the
    emails that the user had within the last week. ``to`` replaces all these addresses. ``words`` are the
    variables of the text, such as ``provider``. Without an address, or without a connector for it, nothing is
    sent.
    """
    addresses = user.get_proven_addresses() if to is None else to
    former = former_emails.find(user) if to is None else []
    send = import_string(settings.NOTIFIER)
    for recipients in [*([addresses] if addresses else []), *({Kind.EMAIL: email} for email in former)]:
        send(user, notice, recipients, words)
