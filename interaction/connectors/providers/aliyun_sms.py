"""SMS through Alibaba Cloud (SendSms, 2017-05-25)."""

from typing import Final

import orjson
from django.utils.translation import gettext_noop

from interaction.connectors.messages import Message
from interaction.connectors.providers import aliyun, rules
from interaction.connectors.providers.base import Config, Field, Type
from interaction.connectors.providers.guide import Guide, WebPage

_MAINLAND: Final = "cn-"


class AliyunSms:
    """Alibaba Cloud SMS. The text is an approved template with a placeholder for the code."""

    connector_id = "aliyun-sms"
    name = "Alibaba Cloud SMS"
    type = Type.SMS
    only_codes = True
    fields: tuple[Field, ...] = (
        *aliyun.account_fields(),
        Field(name="sign_name", description=gettext_noop("The approved signature")),
        Field(
            name="template_code",
            rule=rules.url_safe,
            description=gettext_noop("An approved template with one ${code}"),
        ),
        Field(
            name="region",
            required=False,
            destination=True,
            default="cn-hangzhou",
            rule=rules.url_safe,
            description=gettext_noop("For example ap-southeast-1"),
        ),
        aliyun.endpoint_field(),
    )
    guide = Guide(
        console=WebPage(gettext_noop("SMS console of Alibaba Cloud"), "https://dysms.console.aliyun.com/"),
        documentation=WebPage(gettext_noop("Alibaba Cloud SMS"), "https://www.alibabacloud.com/help/en/sms/"),
        steps=(
            gettext_noop("In the SMS console, request a **Signature** and wait until it is approved."),
            gettext_noop(
                "Request a **Template** for verification codes with the single variable `${code}`, and wait "
                "until it is approved."
            ),
            gettext_noop(
                "In the **RAM console**, create a user for API access that may only call `dysms:SendSms`."
            ),
            gettext_noop(
                "Copy the user's **AccessKey ID** and **AccessKey Secret**, which is shown only once."
            ),
            gettext_noop(
                "Enter the name of the signature and the code of the template, which begins with `SMS_`."
            ),
        ),
    )

    def send(self, config: Config, message: Message) -> None:
        """Send an SMS through Alibaba Cloud.

        Raises:
            ProviderError: Alibaba Cloud did not accept the message.

        """
        query = {
            "PhoneNumbers": message.to.removeprefix("+"),
            "SignName": config["sign_name"],
            "TemplateCode": config["template_code"],
            "TemplateParam": orjson.dumps({"code": message.code}).decode(),
        }
        aliyun.call(config, _url(config), action="SendSms", version="2017-05-25", query=query)


def _url(config: Config) -> str:
    region = config["region"]
    mainland = region.startswith(_MAINLAND)
    usual = "dysmsapi.aliyuncs.com" if mainland else f"dysmsapi.{region}.aliyuncs.com"
    return config["endpoint"] or f"https://{usual}/"
