"""Recovery of a forgotten password: a link, by mail to a proven address, to choose a new one.

The link contains a token that Django signs and nothing stores. The link becomes invalid when the password,
the email, the second step or the rights change. A sign-in does not end it: otherwise a thief of the password
could block the recovery. Signing in still requires the second step.
"""

from contextlib import suppress
from typing import Final

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.db.models import F
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from audit import log
from audit.events import Event
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.users import identifiers
from management.administrators import languages, mail, password_rules, replaced_passwords, sign_in
from management.administrators.models import Administrator

_MAX_ID: Final = 2**63 - 1  # of the id column
_MOST: Final = 10  # administrators with one address
_LINK: Final = _(
    """Hello,

Someone asked for a new password of %(name)s, an administrator of %(site)s.

To choose it, open this link within 30 minutes. It works once.

%(link)s

If it was not you, ignore this message. The password stays as it is.
"""
)
_NOTICE: Final = _(
    """Hello,

The password of %(name)s, an administrator of %(site)s, was replaced with a link that was sent to this
address. All sessions and tokens of this administrator have ended. An account that was linked for single
sign-on is no longer linked, and passkeys are removed.

If it was not you, tell another administrator at once.
"""
)


class LinkEnded(ServiceError):
    """The link is forged, was used, or expired."""

    status = 410
    reason = "link_ended"
    message = gettext_noop("this link is no longer valid: ask for a new one")


class _Tokens(PasswordResetTokenGenerator):
    """Signatures that are valid for ``PASSWORD_RESET_TIMEOUT``."""

    key_salt = "management.administrators.recovery"

    def _make_hash_value(self, user: Administrator, timestamp: int) -> str:
        return f"{get_state(user)} {timestamp}"


_TOKENS: Final = _Tokens()


def get_state(administrator: Administrator) -> str:
    """Return a text that depends on credentials, rights and email. A change ends all links."""
    proven = (administrator.email, administrator.proven_email)
    return " ".join(map(str, (administrator.pk, administrator.get_session_auth_hash(), *proven)))


def send_links(email: str) -> None:
    """Send a link to each administrator who has proven this address. The caller does not learn if one has.

    Raises:
        Invalid: the text is not a valid address.
        limits.TooMany: too many links were asked for, for this address or from the client's network.

    """
    address = identifiers.clean_email(email)
    key = identifiers.fold(address)
    with tenancy.using(tenancy.DEFAULT):
        limits.hit(
            (rules.RECOVERIES, f"{key} {limits.client_network()}"),
            (rules.RECOVERIES_FROM_ANYWHERE, key),
            (rules.SIGN_INS, limits.client_network()),
        )
        with log.attempt(Event.ADMIN_RECOVERY_SEND, sign_in.typed_name(address)) as audited:
            proven = Administrator.objects.filter(email__iexact=address, proven_email=F("email"))
            found = list(proven.order_by("pk")[:_MOST])
            audited.set_identifier_known(bool(found))
    # Sent after the response, so that the response time does not reveal whether an administrator was found.
    mail.run_later(lambda: _send_each(found))


def _send_each(administrators: list[Administrator]) -> None:
    for administrator in administrators:
        with suppress(mail.NotSent):  # the log has it
            _send_link(administrator)


def _send_link(administrator: Administrator) -> None:
    path = f"/admin/recover/{administrator.pk}/{_TOKENS.make_token(administrator)}/"
    with languages.using(administrator):
        site = mail.get_site_name()
        subject = gettext("New password for %(site)s") % {"site": site}
        body = _LINK % {"name": administrator.username, "site": site, "link": mail.build_link(path)}
    mail.send(administrator.email, subject, body)


def find(pk: int, token: str) -> Administrator:
    """Return the administrator of a link.

    Raises:
        LinkEnded: the link is forged, was used, or expired.

    """
    administrator = Administrator.objects.filter(pk=pk).first() if 0 < pk <= _MAX_ID else None
    if administrator is None or not _TOKENS.check_token(administrator, token):
        raise LinkEnded
    return administrator


def set_password(pk: int, *, state: str, password: str) -> None:
    """Set the password of an administrator who has followed a link.

    ``state`` is what ``get_state`` returned when the link was followed. All sessions and tokens of the
    administrator end, and so does what the old password gave: see ``replaced_passwords``. The email stays
    proven, because the link was sent there.

    Raises:
        Invalid: the password breaks a rule.
        LinkEnded: ``state`` is no longer the state, so the link was used or has become invalid.
        passwords.Busy: too many sign-ins at once.

    """
    known = Administrator.objects.filter(pk=pk).values_list("username", "email").first()
    hashed = password_rules.hash_new(password, *(known or ()))
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        current = Administrator.objects.select_for_update().filter(pk=pk).first()
        if current is None or not constant_time_compare(get_state(current), state):
            raise LinkEnded
        replaced_passwords.store(current, hashed, by="recovery")
    with languages.using(current):
        site = mail.get_site_name()
        subject = gettext("Your password for %(site)s was replaced") % {"site": site}
        body = _NOTICE % {"name": current.username, "site": site}
    mail.send_later(current.email, subject, body)
