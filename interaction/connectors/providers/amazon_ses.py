"""Email through Amazon SES (SendEmail of API version 2)."""

from typing import Any, Final

import orjson
from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError, describe_refusal, describe_status
from interaction.connectors.messages import Message
from interaction.connectors.outbound import web
from interaction.connectors.providers import aws, mailboxes, rules
from interaction.connectors.providers.base import Config, Field, Type
from interaction.connectors.providers.guide import Guide, WebPage

_SERVICE: Final = "ses"
_ERROR_HEADER: Final = "x-amzn-errortype"
_TOO_MANY: Final = gettext_noop("it received too many requests for the account's sending rate")
_DAILY_QUOTA: Final = gettext_noop("the account has sent as many messages as it may in 24 hours")
_KEY_ID: Final = gettext_noop("the access_key_id is unknown or disabled")
_KEY: Final = gettext_noop("the secret_access_key does not belong to the access_key_id")
_DENIED: Final = gettext_noop("the access key lacks the permission ses:SendEmail")
_SENDER: Final = gettext_noop("from_email is not verified in this region: verify the address or its domain")
_RECIPIENT: Final = gettext_noop(
    "the account is in the sandbox, where recipients must be verified too: request production access"
)

# The reasons that administrators see, by the error's name. Other names are not shown.
_REASONS: Final = {
    "AccessDeniedException": _DENIED,
    "AccountSuspendedException": gettext_noop("the account may no longer send"),
    "BadRequestException": gettext_noop("the message is invalid: check from_email and the recipient"),
    "ExpiredTokenException": gettext_noop("a temporary access key cannot be used: create one of an IAM user"),
    "InvalidClientTokenId": _KEY_ID,
    "InvalidSignatureException": _KEY,
    "LimitExceededException": _DAILY_QUOTA,
    "MailFromDomainNotVerifiedException": gettext_noop("the custom MAIL FROM domain is not verified"),
    "MessageRejected": gettext_noop("the content of the message is not accepted"),
    "NotFoundException": gettext_noop("the configuration_set does not exist in this region"),
    "OptInRequired": gettext_noop("the account is not subscribed to Amazon SES in this region"),
    "SendingPausedException": gettext_noop("sending is paused for the account or the configuration_set"),
    "SignatureDoesNotMatch": _KEY,
    "ThrottlingException": _TOO_MANY,
    "TooManyRequestsException": _TOO_MANY,
    "UnrecognizedClientException": _KEY_ID,
}

# One error's name stands for several causes. The beginning of its message tells them apart.
_CAUSES: Final = (
    ("Signature expired", gettext_noop("this server's clock is wrong")),
    ("Signature not yet current", gettext_noop("this server's clock is wrong")),
    ("Credential should be scoped", gettext_noop("the endpoint belongs to another region")),
    ("Daily message quota exceeded", _DAILY_QUOTA),
    ("Maximum sending rate exceeded", _TOO_MANY),
)
_UNVERIFIED: Final = "Email address is not verified"


class AmazonSes:
    """Amazon SES."""

    connector_id = "amazon-ses"
    name = "Amazon SES"
    type = Type.EMAIL
    fields: tuple[Field, ...] = (
        Field(
            name="access_key_id",
            rule=rules.url_safe,
            description=gettext_noop(
                "The access key of an IAM user that has only the permission ses:SendEmail"
            ),
        ),
        Field(
            name="secret_access_key", secret=True, description=gettext_noop("The secret of that access key")
        ),
        Field(
            name="region",
            destination=True,
            rule=rules.aws_region,
            description=gettext_noop("The region in which the sender is verified, for example eu-central-1"),
        ),
        Field(
            name="from_email",
            rule=rules.email,
            description=gettext_noop("The sender's address: a verified one, or one at a verified domain"),
        ),
        Field(name="from_name", required=False, description=gettext_noop("The sender's name")),
        Field(
            name="configuration_set",
            required=False,
            rule=rules.url_safe,
            description=gettext_noop(
                "The configuration set of the messages; its tracking must not rewrite links"
            ),
        ),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            rule=rules.https_url,
            description=gettext_noop(
                "Only if the region's endpoint cannot be used, for example in a VPC or for FIPS"
            ),
        ),
    )
    guide = Guide(
        page="how-to/amazon-ses",
        console=WebPage(
            gettext_noop("Identities at Amazon SES"), "https://console.aws.amazon.com/ses/home#/identities"
        ),
        documentation=WebPage(
            gettext_noop("Create and verify identities in Amazon SES"),
            "https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html",
        ),
        steps=(
            gettext_noop(
                "In the console of Amazon SES, choose the region to send from, and enter its code, such as "
                "`eu-central-1`, in the configuration."
            ),
            gettext_noop(
                "Under **Identities**, choose **Create identity**, then **Domain**, and add the DNS records "
                "that Amazon SES shows until the identity is verified."
            ),
            gettext_noop(
                "Under **Account dashboard**, choose **Request production access**. Until then, messages go "
                "only to verified addresses."
            ),
            gettext_noop(
                "In IAM, create a user without console access, and give it a policy that allows only "
                "`ses:SendEmail`."
            ),
            gettext_noop(
                "Under **Security credentials** of that user, choose **Create access key** and copy both "
                "values into the configuration. IAM shows the secret only now."
            ),
            gettext_noop("As sender, enter an address of the verified domain."),
        ),
    )

    def send(self, config: Config, message: Message) -> None:
        """Send an email through Amazon SES.

        Raises:
            ProviderError: Amazon SES did not accept the email.

        """
        server = config["endpoint"].rstrip("/") or f"https://email.{config['region']}.amazonaws.com"
        url = f"{server}/v2/email/outbound-emails"
        response = aws.post_json(config, url, service=_SERVICE, body=orjson.dumps(_document(config, message)))
        if not response.ok:
            raise ProviderError(_describe(response, config))
        if not isinstance(response.json().get("MessageId"), str):
            raise ProviderError(gettext_noop("the answer has no MessageId: the endpoint is not Amazon SES"))


def _document(config: Config, message: Message) -> dict[str, Any]:
    sender = mailboxes.delivery_address(config["from_email"])
    document: dict[str, Any] = {
        "FromEmailAddress": mailboxes.format_encoded(config["from_name"], sender),
        "Destination": {"ToAddresses": [message.to]},
        "Content": {
            "Simple": {
                "Subject": _text(message.subject),
                "Body": {"Text": _text(message.body)},
                # RFC 3834: no out-of-office answers
                "Headers": [{"Name": "Auto-Submitted", "Value": "auto-generated"}],
            }
        },
    }
    if message.html:
        document["Content"]["Simple"]["Body"]["Html"] = _text(message.html)
    if config["configuration_set"]:
        document["ConfigurationSetName"] = config["configuration_set"]
    return document


def _text(data: str) -> dict[str, str]:
    return {"Data": data, "Charset": "UTF-8"}


def _describe(response: web.Response, config: Config) -> str:
    """Return the reason of a refusal, without any text of the response but a known error's name."""
    document = response.json()
    # The header may continue with a colon and a URL, the member may begin with a namespace and "#".
    error = response.headers.get(_ERROR_HEADER, "").partition(":")[0] or str(document.get("__type", ""))
    error = error.rpartition("#")[2]
    reason = _find_reason(error, document.get("message") or document.get("Message"), config)
    if reason is None:
        return describe_status("Amazon SES", response.status)
    return describe_refusal("Amazon SES", reason, error)


def _find_reason(error: str, text: object, config: Config) -> str | None:
    reason = _REASONS.get(error)
    if reason is None or not isinstance(text, str):
        return reason
    if text.startswith(_UNVERIFIED):
        # The text ends with the identities that are not verified.
        return _SENDER if config["from_email"].lower() in text.lower() else _RECIPIENT
    return next((cause for beginning, cause in _CAUSES if text.startswith(beginning)), reason)
