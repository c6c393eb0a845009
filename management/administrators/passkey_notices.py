"""Notices by mail to administrators about their passkeys, at addresses that they have proven."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from management.administrators import languages, mail
from management.administrators.models import Administrator

_IF_NOT_YOU: Final = _("If it was not you, tell another administrator at once.")
_ADDED: Final = _(
    """Hello,

A passkey was added for %(name)s, an administrator of %(site)s. It signs in to the operators' site without
the password and without a code.
"""
)
_REMOVED: Final = _(
    """Hello,

A passkey of %(name)s, an administrator of %(site)s, was removed. It can no longer sign in.
"""
)
_ANOMALY: Final = _(
    """Hello,

A passkey of %(name)s, an administrator of %(site)s, was refused, because its counter did not increase. The
passkey may have been copied. Remove it if you cannot explain this.
"""
)


def send_added(administrator: Administrator) -> None:
    """Send a notice that a passkey was added."""
    _send(administrator, _("A passkey was added to your account at %(site)s"), _ADDED)


def send_removed(administrator: Administrator) -> None:
    """Send a notice that a passkey was removed."""
    _send(administrator, _("A passkey was removed from your account at %(site)s"), _REMOVED)


def send_anomaly(administrator: Administrator) -> None:
    """Send a notice that a passkey may have been copied."""
    _send(administrator, _("A passkey of your account at %(site)s may have been copied"), _ANOMALY)


def _send(administrator: Administrator, subject: Promise, body: Promise) -> None:
    if not administrator.has_proven_email:
        return
    with languages.using(administrator):
        words = {"name": administrator.username, "site": mail.get_site_name()}
        text = f"{str(body) % words}\n{_IF_NOT_YOU}\n"
        mail.send_later(administrator.email, str(subject) % words, text)
