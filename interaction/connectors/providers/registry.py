"""The built-in providers."""

from typing import Final

from interaction.connectors.providers.aliyun_direct_mail import AliyunDirectMail
from interaction.connectors.providers.aliyun_sms import AliyunSms
from interaction.connectors.providers.amazon_ses import AmazonSes
from interaction.connectors.providers.apple import Apple
from interaction.connectors.providers.base import CaptchaProvider, Sender, SocialProvider
from interaction.connectors.providers.captcha import HCaptcha, Turnstile
from interaction.connectors.providers.github import GitHub
from interaction.connectors.providers.google import Google
from interaction.connectors.providers.mailgun import Mailgun
from interaction.connectors.providers.microsoft import Microsoft
from interaction.connectors.providers.oauth2 import OAuth2
from interaction.connectors.providers.oidc import Oidc
from interaction.connectors.providers.outbox import OutboxEmail, OutboxSms
from interaction.connectors.providers.sendgrid import SendGrid
from interaction.connectors.providers.smtp import Smtp
from interaction.connectors.providers.twilio_sms import TwilioSms
from interaction.connectors.providers.wechat import WeChat

PROVIDERS: Final[tuple[Sender | SocialProvider | CaptchaProvider, ...]] = (
    Smtp(),
    SendGrid(),
    Mailgun(),
    AmazonSes(),
    AliyunDirectMail(),
    OutboxEmail(),
    TwilioSms(),
    AliyunSms(),
    OutboxSms(),
    Google(),
    GitHub(),
    Microsoft(),
    Apple(),
    WeChat(),
    Oidc(),
    OAuth2(),
    HCaptcha(),
    Turnstile(),
)

_BY_ID: Final = {provider.connector_id: provider for provider in PROVIDERS}


def find(connector_id: str) -> Sender | SocialProvider | CaptchaProvider | None:
    """Return the built-in provider with an id; None if there is none."""
    return _BY_ID.get(connector_id)


def captchas() -> list[CaptchaProvider]:
    """Return the CAPTCHA providers."""
    return [provider for provider in PROVIDERS if isinstance(provider, CaptchaProvider)]
