"""What is done to connectors."""

from typing import Any

from django.db import transaction

from audit import log
from audit.events import Event
from identity.core import records
from identity.core.errors import Invalid, ServiceError
from identity.core.records import Stale
from identity.limits import rules
from identity.limits import services as limits
from identity.users import identifiers
from interaction.connectors import callbacks, configs, delivery, messages, sealing
from interaction.connectors.errors import ProviderError
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import CaptchaProvider, Sender, SocialProvider


class NotWorking(ServiceError):
    """A connector does not work as it is configured; ``result`` says why, without secrets."""

    reason = "connector_test_failed"

    def __init__(self, why: str) -> None:
        self.result = why
        super().__init__("the connector's test failed")


def create(
    *,
    connector_id: str,
    type: str,  # noqa: A002
    config: dict[str, Any],
    enabled: bool = False,
    has_own_callback: bool = True,
) -> Connector:
    """Add a connector. A provider that is not built in is taken as it comes.

    Raises:
        Invalid: the provider is of another type, or the shared callback is asked for.
        configs.ConfigRefused: the provider cannot work with this configuration.

    """
    provider = registry.find(connector_id)
    if provider and provider.type != type:
        raise Invalid("type", f"{connector_id} is of type {provider.type.value}")
    _check_callback(stored=True, sent=has_own_callback)
    connector = Connector(connector_id=connector_id, type=type, enabled=enabled)
    connector.sealed_config = _sealed(connector, configs.accepted(provider, config))
    records.create(connector, event=Event.CONNECTOR_CREATE, connector_id=connector_id, type=type)
    return connector


@transaction.atomic
def change(connector: Connector, fields: dict[str, Any], *, expected: frozenset[int] | None) -> None:
    """Change ``config``, as a whole, ``enabled``, and the shared callback to the connector's own.

    Raises:
        Invalid: a connector with a callback of its own would go back to the shared one.
        configs.ConfigRefused: the provider cannot work with this configuration.
        records.Stale: it was changed since the caller read it.

    """
    # Masks stand for the secrets of this moment, so nobody may change them meanwhile.
    stored = Connector.objects.select_for_update().filter(pk=connector.pk).first()
    if stored is None or (expected is not None and stored.version not in expected):
        raise Stale
    _check_callback(stored=stored.has_own_callback, sent=fields.get("has_own_callback", True))
    columns = {name: value for name, value in fields.items() if name != "config"}
    shown = sorted(columns)
    if "config" in fields:
        provider, before = registry.find(stored.connector_id), stored.config()
        config = configs.accepted(provider, fields["config"], before)
        columns["sealed_config"] = _sealed(stored, config)
        shown += configs.changed(provider, before, config)
    records.change(connector, columns, event=Event.CONNECTOR_UPDATE, expected=expected, shown=shown)


def remove(connector: Connector, *, expected: frozenset[int] | None) -> None:
    """Delete a connector. Nothing goes through it any more.

    Raises:
        records.Stale: it was changed since the caller read it.

    """
    records.remove(
        connector,
        event=Event.CONNECTOR_DELETE,
        expected=expected,
        connector_id=connector.connector_id,
        type=connector.type,
    )


def test(connector: Connector, *, to: str) -> str:
    """Try a connector out, enabled or not, and say what was done: a message is sent, a client checked.

    Raises:
        Invalid: there is nobody to send to, or it is no address.
        NotWorking: it does not work.
        limits.TooMany: it was tested too often lately, or the tenant sent too many text messages.

    """
    with log.attempt(Event.CONNECTOR_TEST, id=str(connector.pk), connector_id=connector.connector_id):
        is_text_message = connector.type == Connector.Type.SMS
        limits.take(
            (rules.CONNECTOR_TESTS, str(connector.pk)),
            *([(rules.TEXT_MESSAGES, "")] if is_text_message else []),
        )
        provider = registry.find(connector.connector_id)
        if provider is None:
            raise NotWorking(
                f"there is no provider called {connector.connector_id}: "
                "the connector is kept, but nothing can go through it"
            )
        try:
            return _try_out(provider, connector, to)
        except ProviderError as error:
            raise NotWorking(str(error)) from None


def _try_out(provider: Sender | SocialProvider | CaptchaProvider, connector: Connector, to: str) -> str:
    config = configs.complete(provider, connector.config())
    if isinstance(provider, Sender):
        message = _test_message(provider.type, to)
        delivery.hand_over(provider, config, message)
        return f"a test message was sent to {message.to}"
    if isinstance(provider, CaptchaProvider):
        provider.test_secret(config)
        return f"{provider.name} takes this secret_key"
    provider.test(config, callbacks.redirect_uri_of(connector))
    return f"{provider.name} accepts this configuration"


def _test_message(type: str, to: str) -> messages.Message:  # noqa: A002
    what = "email" if type == Connector.Type.EMAIL else "phone"
    if not to:
        raise Invalid("to", f"say where to send the test: your account has no {what}")
    try:
        if what == "email":
            return messages.email_test(identifiers.email(to))
        return messages.sms_test(identifiers.phone(to))
    except Invalid as error:
        raise Invalid("to", error.rule) from None


def _check_callback(*, stored: bool, sent: bool) -> None:
    """Refuse the shared callback, save for connectors that use it already.

    Raises:
        Invalid: a connector with a callback of its own was to use the shared one.

    """
    if stored and not sent:
        raise Invalid("has_own_callback", "must be true: the shared callback is for older connectors only")


def _sealed(connector: Connector, config: dict[str, Any]) -> str:
    return sealing.seal(config, tenant_id=str(connector.tenant_id), pk=connector.pk)
