"""Email through SendGrid's Mail Send API (v3)."""

from typing import Final

from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError, describe_status
from interaction.connectors.messages import Message
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field, Type
from interaction.connectors.providers.guide import Guide, WebPage

_REASONS: Final = {
    400: gettext_noop("SendGrid refused the message as invalid: check from_email and the recipient"),
    401: gettext_noop("SendGrid does not accept this api_key"),
    403: gettext_noop(
        "SendGrid does not let this api_key send from this from_email: verify the sender at SendGrid"
    ),
    413: gettext_noop("SendGrid refused the message as too large"),
    429: gettext_noop("SendGrid received too many requests: try again in a minute"),
}


class SendGrid:
    """SendGrid."""

    connector_id = "sendgrid"
    name = "SendGrid"
    type = Type.EMAIL
    fields: tuple[Field, ...] = (
        Field(
            name="api_key",
            secret=True,
            rule=rules.ascii_text,
            description=gettext_noop("An API key with the Mail Send permission"),
        ),
        Field(name="from_email", rule=rules.email, description=gettext_noop("A verified sender")),
        Field(name="from_name", required=False, description=gettext_noop("The sender's name")),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            default="https://api.sendgrid.com",
            rule=rules.https_url,
            description=gettext_noop("For a subuser in the EU: https://api.eu.sendgrid.com"),
        ),
    )
    guide = Guide(
        console=WebPage(gettext_noop("API keys at SendGrid"), "https://app.sendgrid.com/settings/api_keys"),
        documentation=WebPage(
            gettext_noop("API keys of SendGrid"),
            "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
        ),
        steps=(
            gettext_noop(
                "Under **Settings**, **Sender Authentication**, authenticate your domain, or verify a single "
                "sender."
            ),
            gettext_noop(
                "Under **Settings**, **API Keys**, choose **Create API Key** and **Restricted Access**. "
                "Allow only **Mail Send**."
            ),
            gettext_noop("Copy the key. SendGrid shows it only now."),
            gettext_noop("As sender, enter an address of that domain, or that single sender."),
        ),
    )

    def send(self, config: Config, message: Message) -> None:
        """Send an email through SendGrid.

        Raises:
            ProviderError: SendGrid did not accept the email.

        """
        content = [{"type": "text/plain", "value": message.body}]
        if message.html:
            content.append({"type": "text/html", "value": message.html})
        sender = {"email": config["from_email"]}
        if config["from_name"]:
            sender["name"] = config["from_name"]
        response = web.post_json(
            f"{config['endpoint'].rstrip('/')}/v3/mail/send",
            {
                "personalizations": [{"to": [{"email": message.to}]}],
                "from": sender,
                "subject": message.subject,
                "content": content,
                # SendGrid must not rewrite links, which would send the code in a link to SendGrid.
                "tracking_settings": {
                    "click_tracking": {"enable": False, "enable_text": False},
                    "open_tracking": {"enable": False},
                },
            },
            {"Authorization": f"Bearer {config['api_key']}"},
        )
        if not response.ok:
            raise ProviderError(_REASONS.get(response.status, describe_status("SendGrid", response.status)))
