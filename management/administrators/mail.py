"""Mail to administrators, by the mail server of the installation."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from smtplib import SMTPException
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import get_language, gettext, gettext_noop, override

from identity.core.errors import Invalid, ServiceError
from identity.users import email_domains, identifiers

# Its thread starts with the first mail, after the server has forked its workers.
EXECUTOR: Final = ThreadPoolExecutor(1, thread_name_prefix="administrator-mail")
_log: Final = logging.getLogger(__name__)


class NotSent(ServiceError):
    """The mail server did not accept the message."""

    status = 502
    reason = "mail_not_sent"
    message = gettext_noop("the mail server did not accept the message: the server's log says why")


def is_configured() -> bool:
    """Return whether the installation can send mail to administrators."""
    return bool(settings.EMAIL_HOST)


def get_site_name() -> str:
    """Return the name of this installation in mails."""
    return gettext("Gatehouse at %(host)s") % {"host": urlsplit(settings.BASE_URL).netloc}


def build_link(path: str) -> str:
    """Return the address of a page of this installation."""
    return f"{settings.BASE_URL}{path}"


def send_later(to: str, subject: str, body: str) -> None:
    """Send a mail in another thread. A failure is only logged."""
    if is_configured():
        run_later(lambda: send(to, subject, body))


def run_later(work: Callable[[], object]) -> None:
    """Do work that sends mails in another thread, in the active language. It must not use the database."""
    EXECUTOR.submit(_run, work, get_language())


def _run(work: Callable[[], object], language: str | None) -> None:
    try:
        with override(language):
            work()
    except NotSent:
        return  # the log has it
    except Exception:  # noqa: BLE001 - nobody waits for the thread
        _log.exception("mail to an administrator was not sent")


def send(to: str, subject: str, body: str) -> None:
    """Send a mail and wait for the server. Call it outside transactions.

    Raises:
        NotSent: the server cannot be reached, or refuses the message; or the address is not valid, or its
            domain is not valid in IDNA 2008.

    """
    try:
        recipient = email_domains.encode_address(identifiers.clean_email(to))
    except Invalid as error:  # an address of an earlier release
        _log.error("mail to an administrator was not sent: %s", error)
        raise NotSent from None
    if recipient is None:
        _log.error("mail to an administrator was not sent: the domain is not valid in IDNA 2008")
        raise NotSent
    # Prevents automatic replies, such as "I'm on holiday" (RFC 3834).
    headers = {"Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(subject, body, to=[recipient], headers=headers).send()
    except (OSError, SMTPException, ValueError) as error:
        _log.error("mail to an administrator was not sent: %s", error)
        raise NotSent from None
