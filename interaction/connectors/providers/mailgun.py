"""Email through Mailgun's Messages API (v3)."""

import base64
from typing import Final

from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError, describe_status
from interaction.connectors.messages import Message
from interaction.connectors.outbound import web
from interaction.connectors.providers import mailboxes, rules
from interaction.connectors.providers.base import Config, Field, Type
from interaction.connectors.providers.guide import Guide, WebPage

_SERVERS: Final = {"us": "https://api.mailgun.net", "eu": "https://api.eu.mailgun.net"}
_REASONS: Final = {
    400: gettext_noop("Mailgun refused the message as invalid: check from_email and the recipient"),
    401: gettext_noop(
        "Mailgun does not accept this api_key: compare it, and region, because a key is valid in one"
    ),
    402: gettext_noop("Mailgun requires a payment for this account"),
    403: gettext_noop(
        "Mailgun does not let this domain send: verify domain at Mailgun, or authorize the recipient of a "
        "sandbox domain"
    ),
    404: gettext_noop("Mailgun does not know this domain in this region"),
    413: gettext_noop("Mailgun refused the message as too large"),
    429: gettext_noop("Mailgun received too many requests, or the account has reached its limit"),
}


class Mailgun:
    """Mailgun."""

    connector_id = "mailgun"
    name = "Mailgun"
    type = Type.EMAIL
    fields: tuple[Field, ...] = (
        Field(
            name="api_key",
            secret=True,
            rule=rules.ascii_text,
            description=gettext_noop("A sending key of the domain, or a key of the account"),
        ),
        Field(
            name="domain",
            rule=rules.domain,
            description=gettext_noop("The sending domain, verified at Mailgun, for example mg.example.com"),
        ),
        Field(
            name="region",
            required=False,
            destination=True,
            default="us",
            choices=tuple(_SERVERS),
            description=gettext_noop("The region in which the domain was created"),
        ),
        Field(
            name="from_email",
            rule=rules.email,
            description=gettext_noop(
                "The sender's address: at the sending domain, or at the domain above it"
            ),
        ),
        Field(name="from_name", required=False, description=gettext_noop("The sender's name")),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            rule=rules.https_url,
            description=gettext_noop("Only if the region's API is reached through another server"),
        ),
    )
    guide = Guide(
        console=WebPage(
            gettext_noop("Sending domains at Mailgun"), "https://app.mailgun.com/mg/sending/domains"
        ),
        documentation=WebPage(
            gettext_noop("The API of Mailgun"), "https://documentation.mailgun.com/docs/mailgun/api-reference"
        ),
        steps=(
            gettext_noop(
                "Under **Send**, **Sending**, **Domains**, add a domain, choose its region, and add the DNS "
                "records that Mailgun shows until the domain is verified."
            ),
            gettext_noop(
                "Enter the domain and its region in the configuration. The region cannot be changed later."
            ),
            gettext_noop(
                "Open the domain's **Domain settings**, **Sending keys**, choose **Add sending key** and "
                "copy it as **API key**. Mailgun shows it only now. It can only send, and only from this "
                "domain."
            ),
            gettext_noop("As sender, enter an address of the domain, or of the domain above it."),
        ),
    )

    def send(self, config: Config, message: Message) -> None:
        """Send an email through Mailgun.

        Raises:
            ProviderError: Mailgun did not accept the email.

        """
        form = {
            "from": mailboxes.format_unicode(config["from_name"], config["from_email"]),
            "to": message.to,
            "subject": message.subject,
            "text": message.body,
            # Mailgun must not rewrite links, which would send the code in a link to Mailgun.
            "o:tracking": "no",
            "o:tracking-clicks": "no",
            "o:tracking-opens": "no",
            "h:Message-Id": mailboxes.message_id(message, config["from_email"]),
            "h:Auto-Submitted": "auto-generated",  # RFC 3834: no out-of-office answers
        }
        if message.html:
            form["html"] = message.html
        server = config["endpoint"].rstrip("/") or _SERVERS[config["region"]]
        credentials = base64.b64encode(f"api:{config['api_key']}".encode()).decode()
        response = web.post_form(
            f"{server}/v3/{config['domain']}/messages", form, {"Authorization": f"Basic {credentials}"}
        )
        if not response.ok:
            raise ProviderError(_REASONS.get(response.status, describe_status("Mailgun", response.status)))
        if not isinstance(response.json().get("id"), str):
            raise ProviderError(gettext_noop("Mailgun's answer has no id: the endpoint is not its API"))
