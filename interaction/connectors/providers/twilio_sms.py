"""SMS through Twilio's Messages resource (2010-04-01)."""

import base64
from typing import Final

from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError, describe_refusal, describe_status
from interaction.connectors.messages import Message
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field, Type
from interaction.connectors.providers.guide import Guide, WebPage

_REASONS: Final = {
    20003: gettext_noop("it does not accept this account_sid and auth_token"),
    20429: gettext_noop("it received too many requests"),
    21211: gettext_noop("it does not accept messages for this number"),
    21408: gettext_noop("the account may not send to this country"),
    21606: gettext_noop("sender is not a number of this account"),
    21608: gettext_noop("a trial account only sends to verified numbers"),
    21610: gettext_noop("the owner of this number has unsubscribed"),
    21614: gettext_noop("this number cannot receive SMS"),
    21659: gettext_noop("sender is not a number of this account"),
}


class TwilioSms:
    """Twilio."""

    connector_id = "twilio-sms"
    name = "Twilio"
    type = Type.SMS
    fields: tuple[Field, ...] = (
        Field(name="account_sid", rule=rules.url_safe, description=gettext_noop("Begins with AC")),
        Field(name="auth_token", secret=True, description=gettext_noop("The token of that account")),
        Field(
            name="sender",
            description=gettext_noop(
                "A number such as +15550100, a name, or a messaging service ID that begins with MG"
            ),
        ),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            default="https://api.twilio.com",
            rule=rules.https_url,
            description=gettext_noop("For another region, for example https://api.dublin.ie1.twilio.com"),
        ),
    )
    guide = Guide(
        console=WebPage(gettext_noop("Twilio console"), "https://console.twilio.com/"),
        documentation=WebPage(gettext_noop("Twilio Messaging"), "https://www.twilio.com/docs/messaging"),
        steps=(
            gettext_noop(
                "On the start page of the Twilio console, copy **Account SID** and **Auth Token** under "
                "**Account Info**."
            ),
            gettext_noop(
                "Buy a number that can send SMS under **Phone Numbers**, or create a **Messaging Service**."
            ),
            gettext_noop(
                "As sender, enter the number, or the ID of the messaging service, which begins with `MG`."
            ),
            gettext_noop(
                "Under **Messaging**, **Settings**, **Geo permissions**, allow the countries of your users."
            ),
            gettext_noop(
                "With a trial account, verify the numbers that get messages, or upgrade the account."
            ),
        ),
    )

    def send(self, config: Config, message: Message) -> None:
        """Send an SMS through Twilio.

        Raises:
            ProviderError: Twilio did not accept the message.

        """
        account = config["account_sid"]
        credentials = base64.b64encode(f"{account}:{config['auth_token']}".encode()).decode()
        sender = "MessagingServiceSid" if config["sender"].startswith("MG") else "From"
        response = web.post_form(
            f"{config['endpoint'].rstrip('/')}/2010-04-01/Accounts/{account}/Messages.json",
            {"To": message.to, sender: config["sender"], "Body": message.body},
            {"Authorization": f"Basic {credentials}"},
        )
        if not response.ok:
            code = response.json().get("code")
            reason = _REASONS.get(code) if isinstance(code, int) else None
            if reason:
                raise ProviderError(describe_refusal("Twilio", reason, code))
            raise ProviderError(describe_status("Twilio", response.status))
