"""SMS through Alibaba Cloud (SendSms, 2017-05-25)."""

from typing import Final

import orjson

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
        Field(name="sign_name", description="The approved signature"),
        Field(name="template_code", rule=rules.url_safe, description="An approved template with one ${code}"),
        Field(
            name="region",
            required=False,
            destination=True,
            default="cn-hangzhou",
            rule=rules.url_safe,
            description="For example ap-southeast-1",
        ),
        aliyun.endpoint_field(),
    )
    guide = Guide(
        console=WebPage("SMS console of Alibaba Cloud", "https://dysms.console.aliyun.com/"),
        documentation=WebPage("Alibaba Cloud SMS", "https://www.alibabacloud.com/help/en/sms/"),
        steps=(
            "In the SMS console, request a **Signature** and wait until it is approved.",
            (
                "Request a **Template** for verification codes with the single variable `${code}`, and wait "
                "until it is approved."
            ),
            "In the **RAM console**, create a user for API access that may only call `dysms:SendSms`.",
            "Copy the user's **AccessKey ID** and **AccessKey Secret**, which is shown only once.",
            "Enter the name of the signature and the code of the template, which begins with `SMS_`.",
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
