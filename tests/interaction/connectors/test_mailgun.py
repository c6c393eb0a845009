"""Mailgun: the documented request, and its documented refusals."""

import base64
from typing import Any

import pytest

from audit.models import Entry
from identity.core.errors import ServiceError
from interaction.connectors import configs, masking, services
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message, new_test_email
from interaction.connectors.outbound import addresses
from interaction.connectors.providers import mailgun, registry
from tests.support.connectors import create, send
from tests.support.providers import WebProvider, answer

CONFIG = {
    "api_key": "key-0123",
    "domain": "mg.example.com",
    "from_email": "no-reply@example.com",
    "from_name": 'Acmé "Mail", Inc',
}
PATH = "/v3/mg.example.com/messages"
QUEUED = answer(200, {"id": "<20261123.1@mg.example.com>", "message": "Queued. Thank you."})


def test_it_is_asked_as_its_reference_says(web_provider: WebProvider):
    web_provider.answers[PATH] = QUEUED
    message = Message(
        channel="email",
        to="ada@example.org",
        interaction_type="register",
        code="123456",
        subject="Ihr Code für Acmé",
        body="123456",
        html="<p>123456</p>",
    )

    send("mailgun", message, **CONFIG, endpoint=f"{web_provider.address}/")

    (asked,) = web_provider.asked
    assert asked.method == "POST"
    assert base64.b64decode(asked.headers["authorization"].partition(" ")[2]) == b"api:key-0123"
    assert asked.form == {
        "from": '"Acmé \\"Mail\\", Inc" <no-reply@example.com>',
        "to": "ada@example.org",
        "subject": "Ihr Code für Acmé",
        "text": "123456",
        "html": "<p>123456</p>",
        "o:tracking": "no",
        "o:tracking-clicks": "no",
        "o:tracking-opens": "no",
        "h:Message-Id": f"<{message.id}@example.com>",
        "h:Auto-Submitted": "auto-generated",
    }


def test_a_sender_without_a_name_is_an_address(web_provider):
    web_provider.answers[PATH] = QUEUED

    config = CONFIG | {"from_name": "", "endpoint": web_provider.address}
    send("mailgun", new_test_email("ada@example.org"), **config)

    assert web_provider.asked[0].form["from"] == "no-reply@example.com"
    assert "html" not in web_provider.asked[0].form


@pytest.mark.parametrize("region", ["us", "eu"])
def test_the_region_decides_the_server(web_provider, monkeypatch, region):
    servers = {name: f"{web_provider.address}/{name}" for name in ("us", "eu")}
    monkeypatch.setattr(mailgun, "_SERVERS", servers)
    web_provider.answers[f"/{region}{PATH}"] = QUEUED

    send("mailgun", new_test_email("ada@example.org"), **CONFIG, region=region)

    assert web_provider.asked[0].path == f"/{region}{PATH}"


def test_the_servers_are_the_documented_ones():
    assert mailgun._SERVERS == {"us": "https://api.mailgun.net", "eu": "https://api.eu.mailgun.net"}


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (answer(400, {"message": "from parameter is not a valid address. key-0123"}), "check from_email"),
        ((401, {}, b"Forbidden"), "api_key: compare it, and region"),
        (answer(403, {"message": "Domain mg.example.com is not allowed to send: x"}), "verify domain"),
        (answer(404, {"message": "Domain not found: mg.example.com"}), "does not know this domain"),
        (answer(413, {}), "too large"),
        (answer(429, {"message": "key-0123"}), "too many requests"),
        (answer(500, {"message": "Internal Server Error"}), "HTTP 500"),
        (answer(302, {}, Location="https://evil.example"), "HTTP 302"),
        (answer(200, {"message": "key-0123"}), "is not its API"),
        (answer(200, ["id"]), "is not its API"),
        ((200, {}, b"<html>key-0123</html>"), "is not its API"),
    ],
)
def test_a_refusal_is_said_in_our_words(web_provider, reply, text):
    web_provider.answers[PATH] = reply

    with pytest.raises(ProviderError, match=text) as refused:
        send("mailgun", new_test_email("ada@example.org"), **CONFIG, endpoint=web_provider.address)
    assert "key-0123" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"api_key": ""}, "api_key"),
        ({"api_key": "schlüssel"}, "api_key"),
        ({"domain": "../v3/other"}, "domain"),
        ({"domain": "example"}, "domain"),
        ({"domain": "-mg.example.com"}, "domain"),
        ({"domain": f"{'a' * 64}.example.com"}, "domain"),
        ({"domain": 3}, "domain"),
        ({"region": "asia"}, "region"),
        ({"from_email": "no-reply"}, "from_email"),
        ({"from_email": "a@b.example\r\nBcc: x@y.example"}, "from_email"),
        ({"endpoint": "ftp://api.mailgun.net"}, "endpoint"),
    ],
)
def test_a_wrong_configuration_is_refused_by_its_field(changes: dict[str, Any], name: str):
    with pytest.raises(ServiceError, match=f"^config.{name}: "):
        configs.validate(registry.find("mailgun"), CONFIG | changes)


def test_the_key_is_kept_and_never_shown(acme, web_provider):
    web_provider.answers[PATH] = QUEUED
    connector = create(acme, "mailgun", "Email", **CONFIG, endpoint=web_provider.address)
    provider = registry.find("mailgun")

    shown = masking.mask(provider, connector.config())
    with acme.active():
        said = services.test(connector, to="ada@example.org")

    assert shown["api_key"] == "***"
    assert "key-0123" not in connector.sealed_config
    assert said == "a test message was sent to ada@example.org"
    kept = configs.validate(provider, shown | {"from_name": "Acme"}, connector.config())
    assert kept["api_key"] == "key-0123"
    with pytest.raises(configs.ConfigRefused, match=r"config.api_key: send the secret again"):
        configs.validate(provider, shown | {"region": "eu"}, connector.config())


def test_a_failed_test_says_why(acme, web_provider):
    web_provider.answers[PATH] = (401, {}, b"Forbidden")
    connector = create(acme, "mailgun", "Email", **CONFIG, endpoint=web_provider.address)

    with acme.active(), pytest.raises(services.NotWorking) as refused:
        services.test(connector, to="ada@example.org")

    assert "does not accept this api_key" in str(refused.value.result)
    entry = Entry.objects.get(tenant_id=acme.tenant.pk, key="Connector.Test")
    assert entry.payload["result"] == "failed"
    assert "key-0123" not in str(entry.payload)


def test_a_private_network_is_refused(settings, connections):
    settings.DEVELOPMENT = False

    with pytest.raises(addresses.NotPublic):
        send("mailgun", new_test_email("ada@example.org"), **CONFIG, endpoint="https://10.0.0.1")
    assert connections == []
