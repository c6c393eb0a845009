"""Email by SMTP (RFC 5321), with any server that takes mail."""

import smtplib
import socket
import ssl
from contextlib import suppress
from email.utils import formataddr
from functools import cached_property
from typing import Final

from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend

from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message
from interaction.connectors.outbound import addresses
from interaction.connectors.outbound.deadline import Deadline
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field, Type

_WHOLE_CONVERSATION: Final = 20  # seconds


class _Connection(smtplib.SMTP):
    """Connects to the address that was checked, and does not talk for ever."""

    deadline: Deadline | None = None

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connection = addresses.connect(host, port)
        self.deadline = Deadline(_WHOLE_CONVERSATION, lambda: self.sock)
        return connection

    def close(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
        super().close()


class _TLSConnection(smtplib.SMTP_SSL, _Connection):
    """The same, encrypted from the first byte on (RFC 8314 section 3)."""


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
        Field(name="host", destination=True, rule=rules.host, description="The mail server"),
        Field(
            name="port",
            type="integer",
            required=False,
            destination=True,
            default=587,
            rule=rules.port,
            description="587 for starttls, 465 for tls, 25 for none",
        ),
        Field(
            name="security",
            required=False,
            destination=True,
            default="starttls",
            choices=("starttls", "tls", "none"),
            description="How the connection is encrypted",
        ),
        Field(name="username", required=False, description="Empty for a server that asks for none"),
        Field(name="password", required=False, secret=True, description="Only ever sent encrypted"),
        Field(name="from_email", rule=rules.email, description="The sender's address"),
        Field(name="from_name", required=False, description="The sender's name"),
    )

    def send(self, config: Config, message: Message) -> None:
        """Deliver to the server.

        Raises:
            ProviderError: it did not take the message.

        """
        if config["password"] and config["security"] == "none":
            raise ProviderError("a password is only sent over an encrypted connection: change security")
        backend = _Backend(
            host=config["host"],
            port=config["port"],
            username=config["username"],
            password=config["password"],
            use_tls=config["security"] == "starttls",
            use_ssl=config["security"] == "tls",
            timeout=addresses.SECONDS,
        )
        try:
            backend.send_messages([_mail(config, message)])
        except (smtplib.SMTPException, OSError, UnicodeError) as error:
            raise ProviderError(_explained(error, config["host"])) from None
        finally:
            # It is left open when greeting or signing in failed.
            with suppress(smtplib.SMTPException, OSError):
                backend.close()


def _mail(config: Config, message: Message) -> EmailMultiAlternatives:
    mail = EmailMultiAlternatives(
        message.subject,
        message.body,
        formataddr((config["from_name"], config["from_email"])),
        [message.to],
        headers={
            # The same for every try, so that a mail sent twice is shown once.
            "Message-ID": f"<{message.id}@{config['from_email'].rpartition('@')[2]}>",
            "Auto-Submitted": "auto-generated",  # RFC 3834: no out-of-office answers
        },
    )
    if message.html:
        mail.attach_alternative(message.html, "text/html")
    return mail


def _explained(error: Exception, host: str) -> str:  # noqa: PLR0911 - a table
    """Say what went wrong; of the server's words only the three digits."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f"{host} does not accept this user name and password ({error.smtp_code})"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, _ = next(iter(error.recipients.values()))
        return f"{host} does not take mail for this recipient ({code})"
    if isinstance(error, smtplib.SMTPSenderRefused):
        return f"{host} does not take mail from this from_email ({error.smtp_code})"
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return f"{host} does not offer what the configuration asks for: check security and username"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{host} refused the message ({error.smtp_code})"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{host} has no certificate that can be trusted"
    if isinstance(error, ssl.SSLError):
        return f"{host} could not be spoken to over TLS: check port and security"
    if isinstance(error, TimeoutError):
        return f"{host} took too long"
    if isinstance(error, UnicodeError):
        return "the configuration or the recipient holds a character that cannot be sent"
    return f"{host} broke the connection off: check port and security"
