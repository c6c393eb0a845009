"""An administrator's own email: a link that was sent there proves it."""

from typing import Any, Final

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from audit.events import Event
from identity.core import records, tenancy
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.users import identifiers
from management.administrators import languages, mail
from management.administrators.models import Administrator

_SALT: Final = "management.administrators.emails"
_LINK: Final = _(
    """Hello,

To confirm that this is the email of %(name)s, an administrator of %(site)s, open this link within 30 minutes,
in the browser in which you are signed in.

%(link)s

If you did not ask for it, ignore this message.
"""
)
_NOTICE: Final = _(
    """Hello,

The email of %(name)s, an administrator of %(site)s, is now another address. New passwords are sent there.

If it was not you, tell another administrator at once.
"""
)


class LinkEnded(ServiceError):
    """The link expired, is another administrator's, or the administrator has changed since."""

    status = 410
    reason = "link_ended"
    message = gettext_noop("this link is no longer valid: ask for a new one")


def send_link(administrator: Administrator, email: str) -> None:
    """Send a link that makes an address the administrator's own email.

    Raises:
        Invalid: the text is not a valid address.
        limits.TooMany: too many links were asked for.
        mail.NotSent: the mail server did not accept the message.

    """
    address = identifiers.clean_email(email)
    with tenancy.using(tenancy.DEFAULT):
        limits.hit((rules.RECOVERIES, f"confirm {administrator.pk}"))
    content = {"id": administrator.pk, "email": address, "state": _get_state(administrator)}
    link = mail.build_link(f"/admin/email/{signing.dumps(content, salt=_SALT)}/")
    with languages.using(administrator):
        site = mail.get_site_name()
        subject = gettext("Confirm your email for %(site)s") % {"site": site}
        body = _LINK % {"name": administrator.username, "site": site, "link": link}
    mail.send(address, subject, body)


def read(administrator: Administrator, token: str) -> str:
    """Return the address that a link confirms.

    Raises:
        LinkEnded: the link expired, is another administrator's, or the administrator has changed since.

    """
    try:
        content: Any = signing.loads(token, salt=_SALT, max_age=settings.PASSWORD_RESET_TIMEOUT)
    except signing.BadSignature:
        raise LinkEnded from None
    if (content["id"], content["state"]) != (administrator.pk, _get_state(administrator)):
        raise LinkEnded
    return str(content["email"])


def confirm(administrator: Administrator, token: str) -> None:
    """Make the address of a link the administrator's proven email. The earlier address gets a notice.

    Raises:
        LinkEnded: the link expired, is another administrator's, or the administrator has changed since.

    """
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        current = Administrator.objects.select_for_update().get(pk=administrator.pk)
        address = read(current, token)
        earlier = current.email if current.has_proven_email and current.email != address else ""
        records.change(
            current,
            {"email": address, "proven_email": address},
            event=Event.ADMINISTRATOR_UPDATE,
            changed_fields=["email"],
            username=current.username,
        )
    if earlier:
        with languages.using(current):
            site = mail.get_site_name()
            subject = gettext("Your email for %(site)s was changed") % {"site": site}
            body = _NOTICE % {"name": current.username, "site": site}
        mail.send_later(earlier, subject, body)


def _get_state(administrator: Administrator) -> str:
    state = f"{administrator.get_session_auth_hash()} {administrator.email}"
    return salted_hmac(_SALT, state, algorithm="sha256").hexdigest()
