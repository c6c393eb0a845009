"""Providers: what each is sent, and what its refusals become."""

import base64
import hashlib
import stat
from typing import Any

import orjson
import pytest

from audit.models import Entry
from identity.core.errors import Invalid, ServiceError
from interaction.connectors import configs, services
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message, new_test_email, new_test_sms
from interaction.connectors.outbound import addresses
from interaction.connectors.providers import aliyun, google, microsoft, registry
from tests.support import providers
from tests.support.connectors import check, create, send
from tests.support.providers import answer

# ── Email ───────────────────────────────────────────────────────────────────────────────────────────────────

PLAIN = {
    "host": "localhost",
    "security": "none",
    "from_email": "no-reply@example.com",
    "from_name": "Acmé, Inc",
}


def test_a_mail_arrives_at_a_real_server(development):
    with providers.mail_server() as server:
        message = Message(
            channel="email",
            to="ada@example.org",
            interaction_type="register",
            code="123456",
            subject="Ihr Code für Acmé",
            body="123456\n.\nbye",
            html="<p>123456</p>",
        )
        send("smtp", message, **PLAIN, port=server.port)

    assert server.recipients == ["ada@example.org"]
    mail: Any = server.mails[0]
    assert mail["Subject"] == "Ihr Code für Acmé"
    assert mail["To"] == "ada@example.org"
    assert mail["From"].addresses[0].display_name == "Acmé, Inc"
    assert mail["From"].addresses[0].addr_spec == "no-reply@example.com"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"] == f"<{message.id}@example.com>"
    assert mail.get_body(("plain",)).get_content().splitlines() == ["123456", ".", "bye"]
    assert mail.get_body(("html",)).get_content().strip() == "<p>123456</p>"


@pytest.fixture
def tls(tmp_path, monkeypatch):
    """A server's TLS context, of a certificate that this machine trusts."""
    context, trusted = providers.certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    return context


def test_a_password_goes_over_starttls(development, tls):
    with providers.mail_server(tls=tls, credentials=("mailer", "hunter2")) as server:
        config = PLAIN | {"security": "starttls", "username": "mailer", "password": "hunter2"}
        send("smtp", new_test_email("ada@example.org"), **config, port=server.port)

    assert server.signed_in == [("mailer", "hunter2")]
    assert server.encrypted == [True]


def test_a_certificate_that_nobody_vouches_for_is_refused(development, tmp_path):
    tls, _ = providers.certificate(tmp_path)
    with (
        providers.mail_server(tls=tls) as server,
        pytest.raises(ProviderError, match="no trusted certificate"),
    ):
        send("smtp", new_test_email("ada@example.org"), **PLAIN | {"security": "starttls"}, port=server.port)
    assert server.mails == []


def test_a_password_is_never_sent_unencrypted(development):
    with providers.mail_server(credentials=("mailer", "hunter2")) as server:
        for security in ("none", "starttls"):
            config = PLAIN | {"security": security, "username": "mailer", "password": "hunter2"}
            with pytest.raises(ProviderError, match="security"):
                send("smtp", new_test_email("ada@example.org"), **config, port=server.port)
    assert server.signed_in == []


def test_what_a_mail_server_says_is_not_passed_on(development, tls):
    with providers.mail_server(tls=tls, credentials=("mailer", "right")) as server:
        config = PLAIN | {"security": "starttls", "username": "mailer", "password": "wrong"}
        with pytest.raises(ProviderError) as refused:
            send("smtp", new_test_email("ada@example.org"), **config, port=server.port)
    assert str(refused.value) == "localhost does not accept this user name and password (535)"


def test_a_recipient_that_is_not_known_is_an_error(development):
    with (
        providers.mail_server(refuses_recipient=True) as server,
        pytest.raises(ProviderError, match=r"does not accept mail for this recipient \(550\)"),
    ):
        send("smtp", new_test_email("ada@example.org"), **PLAIN, port=server.port)


def test_a_mail_server_in_a_private_network_is_refused(settings, connections):
    settings.DEVELOPMENT = False

    with pytest.raises(addresses.NotPublic):
        send("smtp", new_test_email("ada@example.org"), **PLAIN | {"host": "10.0.0.1"})
    assert connections == []


@pytest.mark.parametrize("to", ["a@b.example\r\nBcc: c@d.example", "a@b.example\nc", "a@b.example\x00"])
def test_nothing_becomes_a_header_that_is_none(acme, to):
    with pytest.raises(Invalid, match=r"^to: "):
        new_test_email(to)
    connector = create(acme, "outbox-email", "Email")
    with acme.active(), pytest.raises(Invalid, match=r"^to: "):
        services.test(connector, to=to)


SENDGRID = {"api_key": "SG.key", "from_email": "no-reply@example.com", "from_name": "Acme"}


def test_sendgrid_is_asked_as_its_reference_says(web_provider):
    web_provider.answers["/v3/mail/send"] = 202, {"X-Message-Id": "x"}, b""

    send("sendgrid", new_test_email("ada@example.org"), **SENDGRID, endpoint=f"{web_provider.address}/")

    (asked,) = web_provider.asked
    assert (asked.method, asked.headers["authorization"]) == ("POST", "Bearer SG.key")
    assert asked.headers["content-type"] == "application/json"
    assert asked.json["personalizations"] == [{"to": [{"email": "ada@example.org"}]}]
    assert asked.json["from"] == {"email": "no-reply@example.com", "name": "Acme"}
    assert [part["type"] for part in asked.json["content"]] == ["text/plain"]
    assert asked.json["tracking_settings"]["click_tracking"]["enable"] is False


@pytest.mark.parametrize(("status", "text"), [(401, "api_key"), (403, "from_email"), (302, "HTTP 302")])
def test_what_sendgrid_refuses_is_said_without_its_words(web_provider, status, text):
    web_provider.answers["/v3/mail/send"] = answer(status, {"errors": [{"message": "SG.key leaked"}]})

    with pytest.raises(ProviderError, match=text) as refused:
        send("sendgrid", new_test_email("ada@example.org"), **SENDGRID, endpoint=web_provider.address)
    assert "leaked" not in str(refused.value)
    assert "SG.key" not in str(refused.value)


# ── Alibaba Cloud ───────────────────────────────────────────────────────────────────────────────────────────


def test_requests_are_signed_as_the_published_example():
    headers = {
        "host": "ecs.cn-shanghai.aliyuncs.com",
        "x-acs-action": "RunInstances",
        "x-acs-version": "2014-05-26",
        "x-acs-date": "2023-10-26T10:22:32Z",
        "x-acs-signature-nonce": "3156853299f313e23d1673dc12e1703d",
        "x-acs-content-sha256": hashlib.sha256(b"").hexdigest(),
    }
    query = {
        "RegionId": "cn-shanghai",
        "ImageId": "win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd",
    }

    signed = aliyun.authorization("YourAccessKeyId", "YourAccessKeySecret", headers, path="/", query=query)

    assert signed.endswith("Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0")


ALIYUN = {"access_key_id": "LTAI5t", "access_key_secret": "the secret"}


def test_direct_mail_is_asked_as_its_reference_says(web_provider):
    web_provider.answers["/"] = answer(200, {"EnvId": "1", "RequestId": "2"})
    config = ALIYUN | {
        "account_name": "no-reply@example.com",
        "region": "cn-hangzhou",
        "from_name": "恒 & co",
    }

    send("aliyun-direct-mail", new_test_email("ada@example.org"), **config, endpoint=web_provider.address)

    (asked,) = web_provider.asked
    assert asked.query == {
        "AccountName": "no-reply@example.com",
        "AddressType": "1",
        "ReplyToAddress": "false",
        "ToAddress": "ada@example.org",
        "Subject": "Test message",
        "FromAlias": "恒 & co",
    }
    assert asked.form["TextBody"].startswith("This is a test message.")
    assert asked.headers["x-acs-action"] == "SingleSendMail"
    assert asked.headers["x-acs-content-sha256"] == hashlib.sha256(asked.body).hexdigest()
    assert "content-type;host;x-acs-action" in asked.headers["authorization"]
    assert web_provider.address.endswith(asked.headers["host"])


SMS = ALIYUN | {"sign_name": "阿里云", "template_code": "SMS_1"}


def test_alibaba_sms_is_given_the_code_for_its_template(web_provider):
    web_provider.answers["/"] = answer(200, {"Code": "OK", "BizId": "1"})

    send("aliyun-sms", new_test_sms("+8613800138000"), **SMS, endpoint=web_provider.address)

    (asked,) = web_provider.asked
    assert asked.query["PhoneNumbers"] == "8613800138000"
    assert asked.query["SignName"] == "阿里云"
    assert orjson.loads(asked.query["TemplateParam"]) == {"code": "000000"}
    assert (asked.headers["x-acs-action"], asked.body) == ("SendSms", b"")


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (200, "isv.BUSINESS_LIMIT_CONTROL", "too many messages to this number"),
        (404, "InvalidAccessKeyId.NotFound", "access_key_id"),
        (400, "SignatureDoesNotMatch", "access_key_secret"),
        (500, "the secret", "HTTP 500"),
        (400, {"the": "secret"}, "HTTP 400"),
    ],
)
def test_what_alibaba_refuses_is_said_in_our_words(web_provider, status, code, text):
    web_provider.answers["/"] = answer(status, {"Code": code, "Message": "the secret"})

    with pytest.raises(ProviderError, match=text) as refused:
        send("aliyun-sms", new_test_sms("13800138000"), **SMS, endpoint=web_provider.address)
    assert "the secret" not in str(refused.value)


def test_a_region_cannot_become_another_host():
    provider: Any = registry.find("aliyun-direct-mail")
    config = ALIYUN | {"account_name": "a@b.example", "region": "evil.example/x#"}

    with pytest.raises(ServiceError, match=r"^config.region: "):
        configs.validate(provider, config)


# ── Twilio and the outbox ───────────────────────────────────────────────────────────────────────────────────

TWILIO = {"account_sid": "AC0123", "auth_token": "the token", "sender": "+15550100"}


@pytest.mark.parametrize(("sender", "name"), [("+15550100", "From"), ("MG123", "MessagingServiceSid")])
def test_twilio_is_asked_as_its_reference_says(web_provider, sender, name):
    path = "/2010-04-01/Accounts/AC0123/Messages.json"
    web_provider.answers[path] = answer(201, {"sid": "SM1"})

    send(
        "twilio-sms", new_test_sms("+15550123"), **TWILIO | {"sender": sender}, endpoint=web_provider.address
    )

    (asked,) = web_provider.asked
    assert asked.form == {"To": "+15550123", name: sender, "Body": new_test_sms("+15550123").body}
    assert base64.b64decode(asked.headers["authorization"].partition(" ")[2]) == b"AC0123:the token"


def test_what_twilio_refuses_is_said_in_our_words(web_provider):
    path = "/2010-04-01/Accounts/AC0123/Messages.json"
    web_provider.answers[path] = answer(400, {"code": 21211, "message": "the token"})

    with pytest.raises(ProviderError, match=r"does not accept messages for this number \(21211\)") as refused:
        send("twilio-sms", new_test_sms("+15550123"), **TWILIO, endpoint=web_provider.address)
    assert "the token" not in str(refused.value)


def test_decision_X7_the_outbox_is_one_file_a_message(settings, tmp_path):
    settings.OUTBOX_DIR = tmp_path / "var" / "outbox"
    message = new_test_sms("+15550123")

    send("outbox-sms", message)

    (path,) = settings.OUTBOX_DIR.iterdir()
    assert path.name == f"{message.id}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    written = orjson.loads(path.read_bytes())
    assert written.pop("sent_at").endswith("Z")
    assert written == {
        "id": message.id,
        "channel": "sms",
        "to": "+15550123",
        "interaction_type": "test",
        "code": "000000",
        "subject": "",
        "body": message.body,
    }


# ── Social ──────────────────────────────────────────────────────────────────────────────────────────────────

CLIENT = {"client_id": "our id", "client_secret": "our secret"}


def discovery_of(address: str, **changes: Any) -> dict[str, Any]:
    return {
        "issuer": address,
        "authorization_endpoint": f"{address}/authorize",
        "token_endpoint": f"{address}/token",
        "userinfo_endpoint": f"{address}/userinfo",
        "jwks_uri": f"{address}/jwks",
        "response_types_supported": ["code"],
    } | changes


@pytest.mark.parametrize("methods", [None, ["client_secret_basic"], ["client_secret_post"]])
def test_an_issuer_is_discovered_and_knows_its_client(acme, web_provider, methods):
    document = discovery_of(web_provider.address, token_endpoint_auth_methods_supported=methods)
    web_provider.answers |= {
        "/.well-known/openid-configuration": answer(200, document),
        "/token": answer(400, {"error": "invalid_grant"}),
    }
    connector = create(acme, "oidc", "Social", issuer=web_provider.address, **CLIENT)

    with acme.active():
        said = services.test(connector, to="")

    assert said == "OpenID Connect accepts this configuration"
    asked = web_provider.asked[-1]
    assert asked.form["grant_type"] == "authorization_code"
    if methods == ["client_secret_post"]:
        assert (asked.form["client_id"], asked.form["client_secret"]) == ("our id", "our secret")
    else:
        pair = base64.b64decode(asked.headers["authorization"].partition(" ")[2])
        assert pair == b"our%20id:our%20secret"
        assert "client_secret" not in asked.form


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"issuer": "https://accounts.evil.example"}, "has another issuer"),
        ({"issuer": None}, "has another issuer"),
        ({"token_endpoint": None}, "has no token_endpoint"),
        ({"token_endpoint": ["x"]}, "has no token_endpoint"),
        ({"jwks_uri": "file:///etc/passwd"}, "an invalid jwks_uri"),
        ({"response_types_supported": ["id_token"]}, "authorization code flow"),
    ],
)
def test_a_discovery_document_that_cannot_be_used_is_refused(web_provider, changes, text):
    document = discovery_of(web_provider.address, **changes)
    web_provider.answers["/.well-known/openid-configuration"] = answer(200, document)

    with pytest.raises(ProviderError, match=text):
        check("oidc", issuer=web_provider.address, **CLIENT)


def test_an_issuer_without_a_discovery_document_is_refused(web_provider):
    with pytest.raises(ProviderError, match="HTTP 404"):
        check("oidc", issuer=web_provider.address, **CLIENT)


OAUTH2 = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint")


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (answer(401, {"error": "invalid_client"}), "does not accept this client_id"),
        (answer(400, {"error": "invalid_client"}), "does not accept this client_id"),
        (answer(200, {"error": "incorrect_client_credentials"}), "does not accept this client_id"),
        (answer(404, {"error": "Not Found"}), "HTTP 404"),
        (answer(302, {"error": "x"}, Location="/"), "HTTP 302"),
        (answer(200, {"access_token": "a surprise"}), "HTTP 200"),
        (answer(500, {"error": "server_error"}), "HTTP 500"),
        ((200, {}, b"<html>our secret</html>"), "HTTP 200"),
    ],
)
def test_a_client_that_is_not_accepted_is_said_without_secrets(acme, web_provider, reply, text):
    web_provider.answers["/token_endpoint"] = reply
    config = CLIENT | {name: f"{web_provider.address}/{name}" for name in OAUTH2}
    connector = create(acme, "oauth2", "Social", **config)

    with acme.active(), pytest.raises(services.NotWorking) as refused:
        services.test(connector, to="")

    assert text in str(refused.value.result)
    assert "our secret" not in str(refused.value.result)
    entry = Entry.objects.get(tenant_id=acme.tenant.pk, key="Connector.Test")
    assert (entry.payload["result"], entry.payload["error"]) == ("failed", "connector_test_failed")
    assert "our secret" not in str(entry.payload)


@pytest.mark.parametrize("error", ["bad_verification_code", "redirect_uri_mismatch"])
def test_github_knows_its_client_when_it_complains_of_the_code(acme, web_provider, error):
    web_provider.answers["/login/oauth/access_token"] = answer(200, {"error": error})

    with acme.active():
        check("github", **CLIENT, endpoint=web_provider.address)

    assert web_provider.asked[-1].headers["accept"] == "application/json"


def test_google_is_discovered(acme, web_provider, monkeypatch):
    monkeypatch.setattr(google, "ISSUER", web_provider.address)
    methods = ["client_secret_post", "client_secret_basic"]
    document = discovery_of(web_provider.address, token_endpoint_auth_methods_supported=methods)
    web_provider.answers |= {
        "/.well-known/openid-configuration": answer(200, document),
        "/token": answer(400, {"error": "invalid_grant"}),
    }

    with acme.active():
        check("google", **CLIENT)


def test_microsoft_is_asked_in_its_directory(acme, web_provider, monkeypatch):
    monkeypatch.setattr(microsoft, "HOST", web_provider.address)
    web_provider.answers["/contoso.example/oauth2/v2.0/token"] = answer(400, {"error": "invalid_grant"})

    with acme.active():
        check("microsoft", **CLIENT, tenant_id="contoso.example")
    with pytest.raises(ServiceError, match=r"^config.tenant_id: "):
        check("microsoft", **CLIENT, tenant_id="../x")
