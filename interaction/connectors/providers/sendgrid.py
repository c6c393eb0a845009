"""Email through SendGrid's Mail Send API (v3)."""

from typing import Final

from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field, Type

_REASONS: Final = {
    400: "SendGrid did not understand the message: check from_email and the recipient",
    401: "SendGrid does not accept this api_key",
    403: "SendGrid does not let this api_key send from this from_email: verify the sender there",
    413: "SendGrid finds the message too large",
    429: "SendGrid was asked too often: try again in a minute",
}


class SendGrid:
    """SendGrid."""

    connector_id = "sendgrid"
    name = "SendGrid"
    type = Type.EMAIL
    fields: tuple[Field, ...] = (
        Field(name="api_key", secret=True, rule=rules.ascii_text, description="A key that may use Mail Send"),
        Field(name="from_email", rule=rules.email, description="A verified sender"),
        Field(name="from_name", required=False, description="The sender's name"),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            default="https://api.sendgrid.com",
            rule=rules.https_url,
            description="https://api.eu.sendgrid.com for a subuser in the EU",
        ),
    )

    def send(self, config: Config, message: Message) -> None:
        """Hand an email to SendGrid.

        Raises:
            ProviderError: it did not take it.

        """
        content = [{"type": "text/plain", "value": message.body}]
        if message.html:
            content.append({"type": "text/html", "value": message.html})
        sender = {"email": config["from_email"]}
        if config["from_name"]:
            sender["name"] = config["from_name"]
        answer = web.post_json(
            f"{config['endpoint'].rstrip('/')}/v3/mail/send",
            {
                "personalizations": [{"to": [{"email": message.to}]}],
                "from": sender,
                "subject": message.subject,
                "content": content,
                # A link that carries a code must not be rewritten to pass through anybody.
                "tracking_settings": {
                    "click_tracking": {"enable": False, "enable_text": False},
                    "open_tracking": {"enable": False},
                },
            },
            {"Authorization": f"Bearer {config['api_key']}"},
        )
        if not answer.ok:
            raise ProviderError(_REASONS.get(answer.status, f"SendGrid answered with HTTP {answer.status}"))
