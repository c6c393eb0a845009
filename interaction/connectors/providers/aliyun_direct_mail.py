"""Email through Alibaba Cloud Direct Mail (SingleSendMail, 2015-11-23)."""

from typing import Final

from django.utils.translation import gettext_noop

from interaction.connectors.messages import Message
from interaction.connectors.providers import aliyun, rules
from interaction.connectors.providers.base import Config, Field, Type
from interaction.connectors.providers.guide import Guide, WebPage

_HOME_REGION: Final = "cn-hangzhou"


class AliyunDirectMail:
    """Alibaba Cloud Direct Mail."""

    connector_id = "aliyun-direct-mail"
    name = "Alibaba Cloud Direct Mail"
    type = Type.EMAIL
    fields: tuple[Field, ...] = (
        *aliyun.account_fields(),
        Field(name="account_name", rule=rules.email, description=gettext_noop("The sender's address")),
        Field(
            name="region",
            destination=True,
            rule=rules.url_safe,
            description=gettext_noop("For example cn-hangzhou"),
        ),
        Field(name="from_name", required=False, description=gettext_noop("The sender's name")),
        aliyun.endpoint_field(),
    )
    guide = Guide(
        console=WebPage(gettext_noop("Direct Mail console"), "https://dm.console.aliyun.com/"),
        documentation=WebPage(
            gettext_noop("Direct Mail"), "https://www.alibabacloud.com/help/en/direct-mail/"
        ),
        steps=(
            gettext_noop(
                "In the Direct Mail console, add your domain under **Email Domains** and publish the DNS "
                "records that it shows."
            ),
            gettext_noop(
                "Under **Sender Addresses**, create an address of that domain for triggered emails. It is "
                "the **Account name** of the configuration."
            ),
            gettext_noop(
                "In the **RAM console**, create a user for API access that may only call `dm:SingleSendMail`."
            ),
            gettext_noop(
                "Copy the user's **AccessKey ID** and **AccessKey Secret**, which is shown only once."
            ),
            gettext_noop("As **Region**, enter the one of your domain, for example `ap-southeast-1`."),
        ),
    )

    def send(self, config: Config, message: Message) -> None:
        """Send an email through Direct Mail.

        Raises:
            ProviderError: Direct Mail did not accept the email.

        """
        query = {
            "AccountName": config["account_name"],
            "AddressType": "1",
            "ReplyToAddress": "false",
            "ToAddress": message.to,
            "Subject": message.subject,
        }
        if config["from_name"]:
            query["FromAlias"] = config["from_name"]
        form = {"TextBody": message.body}
        if message.html:
            form["HtmlBody"] = message.html
        aliyun.call(
            config, _url(config), action="SingleSendMail", version="2015-11-23", query=query, form=form
        )


def _url(config: Config) -> str:
    region = config["region"]
    usual = "dm.aliyuncs.com" if region == _HOME_REGION else f"dm.{region}.aliyuncs.com"
    return config["endpoint"] or f"https://{usual}/"
