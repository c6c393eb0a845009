"""Email by SMTP (RFC 5321)."""

import smtplib
import socket
import ssl
from contextlib import suppress
from functools import cached_property
from io import BufferedReader
from typing import Final

from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend
from django.core.mail.message import sanitize_address
from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message
from interaction.connectors.outbound import addresses
from interaction.connectors.outbound.deadline import Deadline
from interaction.connectors.providers import mailboxes, rules
from interaction.connectors.providers.base import Config, Field, Type
from interaction.connectors.providers.guide import Guide, WebPage

_SESSION_SECONDS: Final = 20
_MAX_REPLY_LINES: Final = 100  # of at most 8 KiB each


class _ReplyFile:
    """The lines that a server sends. A reply with too many lines looks like a closed connection."""

    lines_left = 0

    def __init__(self, file: BufferedReader) -> None:
        self._file = file

    def readline(self, size: int) -> bytes:
        self.lines_left -= 1
        return self._file.readline(size) if self.lines_left >= 0 else b""

    def close(self) -> None:
        self._file.close()


class _Connection(smtplib.SMTP):
    """An SMTP session with an address check, a time limit, and a limit for the length of replies."""

    deadline: Deadline | None = None
    file: _ReplyFile | None
    sock: socket.socket

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connection = addresses.connect(host, port)
        self.deadline = Deadline(_SESSION_SECONDS, connection)
        return connection

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None:
            self.file = _ReplyFile(self.sock.makefile("rb"))
        self.file.lines_left = _MAX_REPLY_LINES
        return super().getreply()

    def close(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
        super().close()


class _TLSConnection(smtplib.SMTP_SSL, _Connection):
    """An SMTP session with implicit TLS (RFC 8314 section 3)."""

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        try:
            return super()._get_socket(host, port, timeout)
        except BaseException:
            self.close()  # ends the time limit, which holds the connection
            raise


class _Backend(EmailBackend):
    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _TLSConnection if self.use_ssl else _Connection

    @cached_property
    def ssl_context(self) -> ssl.SSLContext:
        return ssl.create_default_context()


class Smtp:
    """Any mail server."""

    connector_id = "smtp"
    name = "SMTP"
    type = Type.EMAIL
    fields: tuple[Field, ...] = (
        Field(name="host", destination=True, rule=rules.host, description=gettext_noop("The mail server")),
        Field(
            name="port",
            type="integer",
            required=False,
            destination=True,
            default=587,
            rule=rules.port,
            description=gettext_noop("587 for STARTTLS, 465 for TLS, 25 without encryption"),
        ),
        Field(
            name="security",
            required=False,
            destination=True,
            default="starttls",
            choices=("starttls", "tls", "none"),
            description=gettext_noop("How the connection is encrypted"),
        ),
        Field(name="username", required=False, description=gettext_noop("Only if the server requires one")),
        Field(
            name="password",
            required=False,
            secret=True,
            description=gettext_noop("Sent only over an encrypted connection"),
        ),
        Field(name="from_email", rule=rules.email, description=gettext_noop("The sender's address")),
        Field(name="from_name", required=False, description=gettext_noop("The sender's name")),
    )
    guide = Guide(
        page="how-to/send-mail",
        documentation=WebPage(
            gettext_noop("Requirements of Gmail for senders"), "https://support.google.com/a/answer/81126"
        ),
        steps=(
            gettext_noop(
                "From your mail service, get the name of its SMTP server, the port, a user name and a "
                "password. Some services call it an **SMTP relay**; some require an app password."
            ),
            gettext_noop(
                "Choose a sender's address that the server accepts, for example `no-reply@` your domain."
            ),
            gettext_noop(
                "In the DNS of that domain, publish the **SPF**, **DKIM** and **DMARC** records that the "
                "mail service names. Without them, messages end in spam folders."
            ),
            gettext_noop(
                "Keep port `587` with **STARTTLS**, unless the mail service names port `465`, which needs "
                "**TLS**."
            ),
        ),
    )

    def send(self, config: Config, message: Message) -> None:
        """Send an email to the server.

        Raises:
            ProviderError: the server did not accept the email, or the recipient cannot be sent as it is.

        """
        if config["password"] and config["security"] == "none":
            raise ProviderError(
                gettext_noop("a password is sent only over an encrypted connection: change security")
            )
        backend = _Backend(
            host=config["host"],
            port=config["port"],
            username=config["username"],
            password=config["password"],
            use_tls=config["security"] == "starttls",
            use_ssl=config["security"] == "tls",
            timeout=addresses.TIMEOUT_SECONDS,
        )
        try:
            _check_recipient(message.to)
            backend.send_messages([_mail(config, message)])
        # Django's mail code raises ValueError and IndexError for addresses that it cannot read.
        except (smtplib.SMTPException, OSError, ValueError, IndexError) as error:
            raise ProviderError(_describe(error, config["host"])) from None
        finally:
            # Django leaves the connection open if the greeting or the login fails.
            with suppress(smtplib.SMTPException, OSError):
                backend.close()


def _check_recipient(address: str) -> None:
    """Check that Django sends mail to exactly this address. It decodes encoded words (RFC 2047).

    Raises:
        ValueError: Django changes or cannot read the address.
        IndexError: Django cannot read the address.

    """
    if sanitize_address(address, "utf-8") != address:
        raise ValueError


def _mail(config: Config, message: Message) -> EmailMultiAlternatives:
    mail = EmailMultiAlternatives(
        message.subject,
        message.body,
        mailboxes.format_encoded(config["from_name"], config["from_email"]),
        [message.to],
        headers={
            "Message-ID": mailboxes.message_id(message, config["from_email"]),
            "Auto-Submitted": "auto-generated",  # RFC 3834: no out-of-office answers
        },
    )
    if message.html:
        mail.attach_alternative(message.html, "text/html")
    return mail


def _describe(error: Exception, host: str) -> str:  # noqa: PLR0911 - a table
    """Return the reason of a failure, which has only the reply code of the server's response."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return fill(
            gettext_noop("%(host)s does not accept this user name and password (%(code)s)"),
            host=host,
            code=error.smtp_code,
        )
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, _ = next(iter(error.recipients.values()))
        return fill(
            gettext_noop("%(host)s does not accept mail for this recipient (%(code)s)"), host=host, code=code
        )
    if isinstance(error, smtplib.SMTPSenderRefused):
        return fill(
            gettext_noop("%(host)s does not accept mail from this from_email (%(code)s)"),
            host=host,
            code=error.smtp_code,
        )
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return fill(
            gettext_noop(
                "%(host)s does not support the configured security or login: check security and username"
            ),
            host=host,
        )
    if isinstance(error, smtplib.SMTPResponseException):
        return fill(gettext_noop("%(host)s refused the message (%(code)s)"), host=host, code=error.smtp_code)
    if isinstance(error, ssl.SSLCertVerificationError):
        return fill(gettext_noop("%(host)s has no trusted certificate"), host=host)
    if isinstance(error, ssl.SSLError):
        return fill(gettext_noop("%(host)s failed the TLS handshake: check port and security"), host=host)
    if isinstance(error, TimeoutError):
        return fill(gettext_noop("%(host)s took too long"), host=host)
    if isinstance(error, (ValueError, IndexError)):
        return gettext_noop("the configuration or the recipient contains a character that cannot be sent")
    return fill(gettext_noop("%(host)s closed the connection: check port and security"), host=host)
