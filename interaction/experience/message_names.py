"""What operators read for each kind of message."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from identity.users.notices import Notice

PURPOSE_NAMES: Final = {
    "sign_in": _("signing in"), "register": _("registering"), "forgot_password": _("a forgotten password"),
    "second_factor": _("a second factor"), "change": _("a new address"),
    Notice.IDENTIFIER_REMOVED: _("notice of a removed address"),
    Notice.PASSWORD_CHANGED: _("notice of a new password"),
    Notice.ACCOUNT_LINKED: _("notice of a linked account"),
    Notice.ACCOUNT_UNLINKED: _("notice of an unlinked account"),
    Notice.EMAIL_CHANGED: _("notice of a new email address"),
    Notice.PHONE_CHANGED: _("notice of a new phone number"),
    Notice.FACTOR_ADDED: _("notice of a new second factor"),
    Notice.FACTOR_REMOVED: _("notice of a removed second factor"),
    Notice.FACTORS_RESET: _("notice of reset second factors"),
    Notice.BACKUP_CODES_MADE: _("notice of new backup codes"),
    Notice.BACKUP_CODE_USED: _("notice of a used backup code"),
    Notice.RECOVERY_CODE_MADE: _("notice of a recovery code"),
    Notice.RECOVERY_CODE_USED: _("notice of a used recovery code"),
    Notice.NEW_SIGN_IN: _("notice of a sign-in from a new browser"),
    Notice.FACTOR_LOCKED: _("notice of too many wrong codes"),
    Notice.PASSKEY_ANOMALY: _("notice of a passkey that may have been copied"),
}  # fmt: skip
