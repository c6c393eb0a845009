"""Connectors: what is kept, what is hidden, and what is sent."""

from typing import Any

import orjson
import pytest
from django.conf import settings

from audit.models import Entry
from identity.core import tenancy
from identity.core.errors import Invalid, ServiceError
from identity.core.records import Stale
from identity.encryption import keyring
from interaction.connectors import checks, configs, delivery, masking, services
from interaction.connectors.messages import new_test_email, new_test_sms
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.serializers import ConnectorSerializer

SMTP = {
    "host": "mail.example.com",
    "username": "mailer",
    "password": "hunter2 hunter2",
    "from_email": "no-reply@example.com",
}


def create(world: Any, connector_id: str = "smtp", type: str = "Email", **config: Any) -> Connector:  # noqa: A002
    with world.active():
        return services.create(connector_id=connector_id, type=type, config=config, is_proven=True)


def change(world: Any, connector: Connector, expected: frozenset[int] | None = None, **fields: Any) -> None:
    with world.active():
        services.change(connector, fields, expected=expected, is_proven=True)
        connector.refresh_from_db()


def kept(world: Any, connector: Connector) -> dict[str, Any]:
    with world.active():
        return Connector.objects.get(pk=connector.pk).config()


def shown(world: Any, connector: Connector) -> dict[str, Any]:
    return masking.mask(registry.find(connector.connector_id), kept(world, connector))


# ── What is kept ────────────────────────────────────────────────────────────────────────────────────────────


def test_it_keeps_configurations_encrypted(acme):
    connector = create(acme, **SMTP)

    assert "hunter2" not in connector.sealed_config
    assert kept(acme, connector) == SMTP


def test_a_configuration_opens_only_in_its_own_row(acme):
    one, other = create(acme, **SMTP), create(acme, **SMTP)

    with acme.active():
        Connector.objects.filter(pk=other.pk).update(sealed_config=one.sealed_config)

    with pytest.raises(keyring.UnknownKey):
        kept(acme, other)


def test_a_configuration_opens_only_in_its_own_tenant(acme, rival):
    connector = create(acme, **SMTP)

    with tenancy.using(tenancy.EVERYWHERE):
        Connector.objects.filter(pk=connector.pk).update(tenant=rival.tenant)

    with pytest.raises(keyring.UnknownKey):
        kept(rival, connector)


def test_another_tenant_does_not_see_it(acme, rival):
    create(acme, **SMTP)

    with rival.active():
        assert not Connector.objects.exists()


@pytest.mark.parametrize("config", ["text", ["a", "list"], None, 7, True, {"text": "x" * 65536}])
def test_a_configuration_is_an_object_of_at_most_64_kib(config):
    serializer = ConnectorSerializer(data={"connector_id": "x", "type": "Email", "config": config})

    assert not serializer.is_valid()
    assert set(serializer.errors) == {"config"}


@pytest.mark.parametrize("enabled", ["true", "yes", 1, 0, [], {}, "", None])
def test_enabled_is_true_or_false_and_nothing_like_it(enabled):
    serializer = ConnectorSerializer(
        data={"connector_id": "x", "type": "Email", "config": {}, "enabled": enabled}
    )

    assert set(serializer.errors if not serializer.is_valid() else []) == {"enabled"}


@pytest.mark.parametrize("fixed", [{"type": "Sms"}, {"connector_id": "sendgrid"}])
def test_decision_H9_type_and_provider_cannot_be_changed(acme, fixed):
    connector = create(acme, **SMTP)

    assert not ConnectorSerializer(connector, data=fixed, partial=True).is_valid()
    same = {"type": "Email", "connector_id": "smtp"}
    assert ConnectorSerializer(connector, data=same, partial=True).is_valid()


def test_a_change_of_what_somebody_else_changed_is_refused(acme):
    connector = create(acme, **SMTP)
    change(acme, connector, enabled=True)

    with pytest.raises(Stale):
        change(acme, connector, expected=frozenset({1}), config={"host": "x"})


def test_it_writes_down_which_members_changed_and_never_a_secret(acme):
    connector = create(acme, **SMTP)
    change(acme, connector, enabled=True, config=SMTP | {"from_name": "Acme", "password": "new hunter3"})
    with acme.active():
        services.remove(connector, expected=None, is_proven=True)

    entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key__startswith="Connector.").order_by("pk")
    assert sorted(entries.values_list("key", flat=True)) == [
        "Connector.Create",
        "Connector.Delete",
        "Connector.Update",
    ]
    update = entries.get(key="Connector.Update")
    assert update.payload["fields"] == ["enabled", "config.from_name", "config.password"]
    assert "hunter" not in str(list(entries.values_list("payload", flat=True)))


# ── Known and unknown providers ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("connector_id", [provider.connector_id for provider in registry.PROVIDERS])
def test_decision_X8_a_provider_says_what_it_needs(connector_id):
    provider: Any = registry.find(connector_id)
    required = {f"config.{field.name}: is required" for field in provider.fields if field.required}

    if not required:
        assert configs.validate(provider, {}) == {}
        return
    with pytest.raises(configs.ConfigRefused) as refused:
        configs.validate(provider, {})
    assert set(str(refused.value).split("; ")) == required


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"host": ""}, "config.host: is required"),
        ({"host": None}, "config.host: is required"),
        ({"host": ["mail"]}, "config.host: must be a string"),
        ({"host": "mail example"}, "config.host: must be the name of a host"),
        ({"port": "587"}, "config.port: must be a whole number"),
        ({"port": True}, "config.port: must be a whole number"),
        ({"port": 0}, "config.port: must be between 1 and 65535"),
        ({"security": "ssl3"}, "config.security: must be one of starttls, tls, none"),
        ({"from_email": "nobody"}, "config.from_email: must be an email address"),
        ({"from_email": "a@b.example\r\nBcc: c@d.example"}, "config.from_email: must not contain control"),
        ({"from_name": "Acme\nBcc: c@d.example"}, "config.from_name: must not contain control characters"),
    ],
)
def test_a_member_that_cannot_be_is_refused_by_name(acme, changed, problem):
    with pytest.raises(ServiceError, match=f"^{problem}"):
        create(acme, **SMTP | changed)


@pytest.mark.parametrize(
    "url",
    [
        "http://login.example.com",
        "file:///etc/passwd",
        "gopher://example.com",
        "https://",
        "https://user:secret@example.com",
        "https://example.com:port",
        "https://exa mple.com",
        "https://例え.example",
        "https://example.com/\r\nHost: evil",
        "//example.com",
        "https://example.com/#fragment",
    ],
)
def test_an_address_is_https_or_refused(acme, url):
    with pytest.raises(ServiceError, match=r"^config.issuer: must"):
        create(acme, "oidc", "Social", issuer=url, client_id="id", client_secret="secret")


def test_a_provider_of_another_type_is_refused(acme):
    with pytest.raises(Invalid, match="type: smtp is of type Email"):
        create(acme, "smtp", "Sms", **SMTP)


def test_decision_X8_an_unknown_provider_is_kept_and_its_test_says_so(acme):
    connector = create(acme, "carrier-pigeon", "Email", loft="north", feed={"api_key": "corn"})

    assert shown(acme, connector) == {"loft": "***", "feed": {"api_key": "***"}}
    with acme.active(), pytest.raises(services.NotWorking) as refused:
        services.test(connector, to="ada@example.com")
    assert refused.value.status == 400
    assert "carrier-pigeon" in str(refused.value.result)


def test_the_doctor_says_where_the_providers_are_listed(acme):
    change(acme, create(acme, "goggle", "Social"), enabled=True)

    with tenancy.using(tenancy.EVERYWHERE):
        (found,) = [found for found in checks.connectors() if found.id == "connectors.W002"]

    assert "goggle" in found.msg
    page = "docs/reference/connectors.md"
    assert page in str(found.hint)
    listed = (settings.BASE_DIR / page).read_text()
    names = {item.connector_id for item in registry.PROVIDERS} - {"outbox-email", "outbox-sms"}
    assert [name for name in sorted(names) if f"`{name}`" not in listed] == []


def test_every_provider_can_be_drawn_as_a_form():
    for provider in registry.PROVIDERS:
        for field in provider.fields:
            schema = field.schema()
            assert schema.keys() >= {"name", "type", "required", "secret", "description"}
            assert schema["description"]
            assert field.secret == masking.mask(provider, {field.name: "x"})[field.name].startswith("***")


# ── Secrets ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "key",
    [
        "client_secret",
        "clientSecret",
        "PASSWORD",
        "auth_token",
        "private_key",
        "privateKey",
        "api-key",
        "x_API_KEY",
    ],
)
def test_decision_X8_a_key_that_ends_like_a_secret_is_hidden_however_deep(key):
    config = {key: "s", "nested": {"list": [{key: {"deep": "s"}}], key: 7}, "plain": "s", "size": 3}

    hidden = masking.mask(None, config)

    assert hidden == {
        key: "***",
        "nested": {"list": [{key: "***"}], key: "***"},
        "plain": "***",
        "size": 3,
    }


def test_a_secret_that_is_not_set_is_shown_as_such():
    assert masking.mask(None, {"api_key": "", "token": None}) == {"api_key": "", "token": None}


def test_a_mask_that_comes_back_keeps_the_secret(acme):
    connector = create(acme, **SMTP)

    change(acme, connector, config=shown(acme, connector) | {"from_name": "Acme"})

    assert kept(acme, connector) == SMTP | {"from_name": "Acme"}


def test_a_mask_that_comes_back_keeps_a_nested_secret(acme):
    connector = create(acme, "pigeon", lofts=[{"token": "a"}, {"token": {"of": "b"}}])

    change(acme, connector, config={"lofts": [{"token": "***", "color": "red"}, {"token": "***"}]})

    assert kept(acme, connector) == {"lofts": [{"token": "a", "color": "red"}, {"token": {"of": "b"}}]}


def test_a_configuration_is_replaced_as_a_whole(acme):
    connector = create(acme, "pigeon", color="red", api_key="x")

    change(acme, connector, config={"size": 3})

    assert kept(acme, connector) == {"size": 3}


def test_a_mask_without_a_stored_secret_is_refused(acme):
    with pytest.raises(ServiceError, match=r"config.password: \*\*\* keeps a stored secret"):
        create(acme, **SMTP | {"password": "***"})
    connector = create(acme, "pigeon", feed="corn")
    with pytest.raises(ServiceError, match=r"config.feed.api_key"):
        change(acme, connector, config={"feed": {"api_key": "***"}})


@pytest.mark.parametrize(
    "moved", [{"host": "mail.evil.example"}, {"port": 2525}, {"security": "none"}, {"proxy_url": "https://x"}]
)
def test_decision_X8_a_secret_is_sent_again_when_it_would_go_elsewhere(acme, moved):
    connector = create(acme, **SMTP)

    with pytest.raises(ServiceError, match=r"^config.password: send the secret again"):
        change(acme, connector, config=SMTP | moved | {"password": "***"})

    assert kept(acme, connector) == SMTP
    change(acme, connector, config=SMTP | moved | {"password": "known after all"})


def test_a_default_that_is_written_out_is_no_move(acme):
    connector = create(acme, **SMTP)

    change(acme, connector, config=SMTP | {"password": "***", "port": 587, "security": "starttls"})

    assert kept(acme, connector)["password"] == SMTP["password"]


@pytest.mark.parametrize("place", ["host", "baseUrl", "endpoint", "region", "token_uri", "issuer"])
def test_an_unknown_providers_secret_is_sent_again_when_an_address_changes(acme, place):
    connector = create(acme, "pigeon", api_key="corn", deep={place: "a"})

    with pytest.raises(ServiceError, match=r"^config.api_key: send the secret again"):
        change(acme, connector, config={"api_key": "***", "deep": {place: "b"}})
    with pytest.raises(ServiceError, match=r"^config.api_key: send the secret again"):
        change(acme, connector, config={"api_key": "***"})


# ── Testing and sending ─────────────────────────────────────────────────────────────────────────────────────


def test_a_test_goes_to_whom_it_is_told(acme, settings, tmp_path):
    settings.OUTBOX_DIR = tmp_path
    connector = create(acme, "outbox-sms", "Sms")

    with acme.active():
        said = services.test(connector, to="+1 (555) 0100-123")

    assert said == "a test message was sent to +15550100123"
    assert orjson.loads(next(tmp_path.iterdir()).read_bytes())["to"] == "+15550100123"
    entry = Entry.objects.get(tenant_id=acme.tenant.pk, key="Connector.Test")
    assert entry.payload["result"] == "success"


@pytest.mark.parametrize(
    ("connector_id", "type", "to", "text"),
    [
        ("outbox-email", "Email", "", "to: is required: your own account has no email"),
        ("outbox-sms", "Sms", "", "to: is required: your own account has no phone"),
        ("outbox-email", "Email", "ada", "to: must be an email address"),
        ("outbox-sms", "Sms", "ada@example.com", "to: must be 5 to 15 digits"),
    ],
)
def test_a_test_needs_somebody_to_go_to(acme, connector_id, type, to, text):  # noqa: A002
    connector = create(acme, connector_id, type)

    with acme.active(), pytest.raises(Invalid, match=f"^{text}"):
        services.test(connector, to=to)


def test_decision_X7_messages_go_through_the_newest_enabled_connector(acme, settings, tmp_path):
    settings.OUTBOX_DIR = tmp_path
    settings.DEVELOPMENT = False
    older = create(acme, "outbox-email", "Email")
    create(acme, **SMTP)
    with acme.active():
        assert not delivery.can_deliver("email")
        with pytest.raises(delivery.NoConnector):
            delivery.deliver(new_test_email("ada@example.com"))

    change(acme, older, enabled=True)

    with acme.active():
        delivery.deliver(new_test_email("ada@example.com"))
        assert delivery.can_deliver("email")
        assert not delivery.can_deliver("sms")
    assert len(list(tmp_path.iterdir())) == 1


def test_decision_X7_development_has_an_outbox_without_any_connector(acme, settings, tmp_path):
    settings.OUTBOX_DIR = tmp_path
    settings.DEVELOPMENT = True

    with acme.active():
        delivery.deliver(new_test_sms("+15550123"))

    assert len(list(tmp_path.iterdir())) == 1
