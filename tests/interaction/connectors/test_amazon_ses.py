"""Amazon SES: the documented request and its signature, and the documented refusals."""

import hashlib
import re
from typing import Any

import pytest

from identity.core.errors import ServiceError
from interaction.connectors import configs, masking, services
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message, new_test_email
from interaction.connectors.outbound import addresses
from interaction.connectors.providers import aws, registry
from tests.support.connectors import create, send
from tests.support.providers import Asked, WebProvider, answer

CONFIG = {
    "access_key_id": "AKIDEXAMPLE",
    "secret_access_key": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "region": "eu-central-1",
    "from_email": "no-reply@example.com",
    "from_name": "Acmé, Inc",
}
PATH = "/v2/email/outbound-emails"
ACCEPTED = answer(200, {"MessageId": "010001876a2c-0000"})

# ── The signature ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("method", "url", "service", "headers", "signature"),
    [
        (
            "GET",
            "https://iam.amazonaws.com/?Version=2010-05-08&Action=ListUsers",
            "iam",
            {"content-type": "application/x-www-form-urlencoded; charset=utf-8"},
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        ),
        (
            "GET",
            "https://example.amazonaws.com/",
            "service",
            {},
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            "POST",
            "https://example.amazonaws.com",
            "service",
            {},
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        ),
    ],
)
def test_requests_are_signed_as_the_published_examples(method, url, service, headers, signature):
    sent = headers | {"host": url.split("/")[2], "x-amz-date": "20150830T123600Z"}

    signed = aws.authorization(
        CONFIG["access_key_id"],
        CONFIG["secret_access_key"],
        f"20150830/us-east-1/{service}/aws4_request",
        method=method,
        url=url,
        headers=sent,
        body=b"",
    )

    assert signed.endswith(f"Signature={signature}")


def is_signed(asked: Asked, host: str) -> bool:
    """Return whether the server would sign the received request in the same way."""
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/(\S+), SignedHeaders=(\S+), Signature=[0-9a-f]{64}",
        asked.headers["authorization"],
    )
    assert found
    scope, names = found.groups()
    expected = aws.authorization(
        CONFIG["access_key_id"],
        CONFIG["secret_access_key"],
        scope,
        method=asked.method,
        url=f"https://{host}{asked.target}",
        headers={name: asked.headers[name] for name in names.split(";")},
        body=asked.body,
    )
    return expected == asked.headers["authorization"]


# ── Sending ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_is_asked_as_its_reference_says(web_provider: WebProvider):
    web_provider.answers[PATH] = ACCEPTED
    message = Message(
        channel="email",
        to="ada@example.org",
        interaction_type="register",
        code="123456",
        subject="Ihr Code für Acmé",
        body="123456",
        html="<p>123456</p>",
    )

    send("amazon-ses", message, **CONFIG, endpoint=f"{web_provider.address}/", configuration_set="codes")

    (asked,) = web_provider.asked
    assert (asked.method, asked.headers["content-type"]) == ("POST", "application/json")
    assert asked.json == {
        "FromEmailAddress": "=?utf-8?q?Acm=C3=A9=2C_Inc?= <no-reply@example.com>",
        "Destination": {"ToAddresses": ["ada@example.org"]},
        "Content": {
            "Simple": {
                "Subject": {"Data": "Ihr Code für Acmé", "Charset": "UTF-8"},
                "Body": {
                    "Text": {"Data": "123456", "Charset": "UTF-8"},
                    "Html": {"Data": "<p>123456</p>", "Charset": "UTF-8"},
                },
                "Headers": [{"Name": "Auto-Submitted", "Value": "auto-generated"}],
            }
        },
        "ConfigurationSetName": "codes",
    }
    assert "/eu-central-1/ses/aws4_request" in asked.headers["authorization"]
    assert "content-type;host;x-amz-content-sha256;x-amz-date" in asked.headers["authorization"]
    assert asked.headers["x-amz-content-sha256"] == hashlib.sha256(asked.body).hexdigest()
    assert is_signed(asked, asked.headers["host"])


def test_the_region_decides_the_server(monkeypatch):
    asked: list[str] = []

    def post(config: Any, url: str, **_: Any) -> Any:
        asked.append(url)
        raise ProviderError("enough")

    monkeypatch.setattr(aws, "post_json", post)

    with pytest.raises(ProviderError, match="enough"):
        send("amazon-ses", new_test_email("ada@example.org"), **CONFIG)
    assert asked == ["https://email.eu-central-1.amazonaws.com/v2/email/outbound-emails"]


def refusal(status: int, error: str, message: str = "") -> Any:
    return answer(status, {"message": message}, x_amzn_ErrorType=f"{error}:http://internal.amazon.com/coral/")


FAILED_CHECK = "Email address is not verified. The following identities failed the check in region EU: {}"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (
            refusal(403, "UnrecognizedClientException", "The security token … is invalid."),
            "access_key_id is unk",
        ),
        (answer(403, {"__type": "com.amazon.coral#InvalidClientTokenId"}), "access_key_id is unknown"),
        (refusal(403, "InvalidSignatureException", "The request signature we"), "secret_access_key does not"),
        (refusal(403, "SignatureDoesNotMatch", "Signature expired: 2014 is now"), "clock is wrong"),
        (refusal(403, "InvalidSignatureException", "Credential should be scoped to"), "another region"),
        (refusal(403, "AccessDeniedException", "User: arn:aws:iam::1:user/x is not"), "ses:SendEmail"),
        (refusal(403, "ExpiredTokenException"), "temporary access key"),
        (
            refusal(400, "MessageRejected", FAILED_CHECK.format("No-Reply@example.com")),
            "from_email is not ver",
        ),
        (refusal(400, "MessageRejected", FAILED_CHECK.format("ada@example.org")), "in the sandbox"),
        (refusal(400, "MessageRejected", "Illegal content"), "content of the message"),
        (refusal(400, "MailFromDomainNotVerifiedException"), "MAIL FROM"),
        (refusal(400, "AccountSuspendedException"), "may no longer send"),
        (refusal(400, "SendingPausedException"), "sending is paused"),
        (refusal(404, "NotFoundException"), "configuration_set does not exist"),
        (refusal(429, "TooManyRequestsException", "Maximum sending rate exceeded."), "sending rate"),
        (refusal(429, "TooManyRequestsException", "Daily message quota exceeded."), "24 hours"),
        (refusal(400, "LimitExceededException"), "24 hours"),
        (answer(429, {"__type": "ThrottlingException", "Message": ["x"]}), "sending rate"),
        (refusal(400, "AKIDEXAMPLE"), "HTTP 400"),
        (answer(400, {"__type": {"x": 1}, "message": 3}), "HTTP 400"),
        (answer(503, None), "HTTP 503"),
        (answer(302, {}, Location="https://evil.example"), "HTTP 302"),
        ((200, {}, b"<html>"), "is not Amazon SES"),
        (answer(200, {"MessageId": 3}), "is not Amazon SES"),
    ],
)
def test_a_refusal_is_said_in_our_words(web_provider, reply, text):
    web_provider.answers[PATH] = reply

    with pytest.raises(ProviderError, match=text) as refused:
        send("amazon-ses", new_test_email("ada@example.org"), **CONFIG, endpoint=web_provider.address)
    for hidden in ("AKIDEXAMPLE", "EXAMPLEKEY", "ada@example.org", "internal.amazon"):
        assert hidden not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"access_key_id": ""}, "access_key_id"),
        ({"access_key_id": "AKID/x"}, "access_key_id"),
        ({"secret_access_key": ""}, "secret_access_key"),
        ({"secret_access_key": ["x"]}, "secret_access_key"),
        ({"region": "evil.example/x#"}, "region"),
        ({"region": "Frankfurt"}, "region"),
        ({"region": None}, "region"),
        ({"from_email": "no-reply"}, "from_email"),
        ({"configuration_set": "a b"}, "configuration_set"),
        ({"endpoint": "http://169.254.169.254@x"}, "endpoint"),
    ],
)
def test_a_wrong_configuration_is_refused_by_its_field(changes: dict[str, Any], name: str):
    with pytest.raises(ServiceError, match=f"^config.{name}: "):
        configs.validate(registry.find("amazon-ses"), CONFIG | changes)


@pytest.mark.parametrize("region", ["us-east-1", "ap-southeast-2", "us-gov-west-1", "eu-isoe-west-1"])
def test_a_region_is_a_code(region):
    assert configs.validate(registry.find("amazon-ses"), CONFIG | {"region": region})


def test_the_secret_is_kept_and_never_shown(acme, web_provider):
    web_provider.answers[PATH] = ACCEPTED
    connector = create(acme, "amazon-ses", "Email", **CONFIG, endpoint=web_provider.address)
    provider = registry.find("amazon-ses")

    shown = masking.mask(provider, connector.config())
    with acme.active():
        said = services.test(connector, to="ada@example.org")

    assert said == "a test message was sent to ada@example.org"
    assert (shown["access_key_id"], shown["secret_access_key"]) == ("AKIDEXAMPLE", "***")
    with pytest.raises(configs.ConfigRefused, match=r"config.secret_access_key: send the secret again"):
        configs.validate(provider, shown | {"region": "us-east-1"}, connector.config())


def test_a_sender_at_an_internationalized_domain_is_encoded(web_provider):
    web_provider.answers[PATH] = ACCEPTED
    config = CONFIG | {"from_email": "post@straße.example", "from_name": ""}

    send("amazon-ses", new_test_email("ada@example.org"), **config, endpoint=web_provider.address)

    assert web_provider.asked[0].json["FromEmailAddress"] == "post@xn--strae-oqa.example"
    assert "ConfigurationSetName" not in web_provider.asked[0].json


def test_a_private_network_is_refused(settings, connections):
    settings.DEVELOPMENT = False

    with pytest.raises(addresses.NotPublic):
        send("amazon-ses", new_test_email("ada@example.org"), **CONFIG, endpoint="https://169.254.169.254")
    assert connections == []
