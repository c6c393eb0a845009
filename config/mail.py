"""The mail server for mail to administrators. Tenants send mail to users with their connectors."""

import re
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from config import env

_FORM: Final = "must look like smtps://user:password@mail.example.com or smtp://mail.example.com:587"
_PORTS: Final = {"smtp": 587, "smtps": 465}
_ADDRESS: Final = re.compile(r"[\x21-\x3f\x41-\x7e]+@[a-zA-Z0-9.-]+")


@dataclass(frozen=True, slots=True)
class MailServer:
    """A mail server and the sender of mails. Without a host, no mail is sent."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False
    sender: str = ""


def read(url_name: str, sender_name: str) -> MailServer:
    """Read ``smtps://…`` for TLS, or ``smtp://…`` for STARTTLS, which ``?starttls=off`` switches off.

    Raises:
        ImproperlyConfigured: a variable breaks its rule.

    """
    value, sender = env.text(url_name), env.text(sender_name)
    if not value:
        return MailServer()
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise env.refuse(url_name, _FORM) from None
    if parts.scheme not in _PORTS or not parts.hostname or parts.path not in {"", "/"} or parts.fragment:
        raise env.refuse(url_name, _FORM)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    starttls = options.pop("starttls", "on")
    if options or starttls not in {"on", "off"}:
        raise env.refuse(url_name, "has one option: ?starttls=off")
    name, address = parseaddr(sender)
    if not _ADDRESS.fullmatch(address) or not name.isprintable():
        raise env.refuse(sender_name, f"is required with {url_name}, for example gatehouse@example.com")
    return MailServer(
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=parts.scheme == "smtp" and starttls == "on",
        tls=parts.scheme == "smtps",
        sender=sender,
    )
