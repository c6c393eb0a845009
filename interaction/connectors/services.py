"""The creation, change, deletion and test of connectors."""

from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.core import records
from identity.core.errors import ServiceError
from identity.core.records import Stale
from identity.core.refusal_texts import fill
from identity.core.slots import Slots
from identity.limits import rules
from identity.limits import services as limits
from interaction.connectors import (
    callbacks,
    config_encryption,
    configs,
    delivery,
    field_rules,
    messages,
    proof,
)
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import EMAIL, SMS
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import CaptchaProvider, Sender, SocialProvider
from interaction.connectors.slots import Busy

# Tests of slow providers block at most a quarter of the threads.
_slots: Final = Slots(settings.THREADS // 4)


class NotWorking(ServiceError):
    """A connector's test failed. ``result`` is the reason, without secrets."""

    reason = "connector_test_failed"

    def __init__(self, result: str) -> None:
        self.result = result
        super().__init__(gettext_noop("the connector's test failed"))


class AlreadyCreated(ServiceError):
    """A connector with the id of this form exists already."""

    status = 409
    reason = "connector_created"
    message = gettext_noop(
        "this form has created a connector already: open the form again to create another one"
    )


def create(  # noqa: PLR0913 - the columns
    *,
    connector_id: str,
    type: str,  # noqa: A002
    config: dict[str, Any],
    enabled: bool = False,
    has_own_callback: bool = True,
    pk: UUID | None = None,
    is_proven: bool,
) -> Connector:
    """Create a connector. The configuration is checked if the provider is built in.

    ``pk`` is the id if it was chosen before, so that the redirect URI could be registered. ``is_proven`` is
    whether the administrator who creates it has signed in recently.

    Raises:
        TokenTooOld: it may decide on second factors (``proof``), and ``is_proven`` is false.
        AlreadyCreated: a connector has this id.
        Invalid: the provider has another type, or the shared callback is requested.
        configs.ConfigRefused: the configuration breaks rules of the provider.

    """
    proof.check(type, is_proven=is_proven)
    provider = registry.find(connector_id)
    field_rules.check_type(connector_id, type)
    field_rules.check_callback(stored=True, sent=has_own_callback)
    connector = Connector(connector_id=connector_id, type=type, enabled=enabled)
    connector.pk = pk or connector.pk
    connector.sealed_config = _encrypt(connector, configs.validate(provider, config))
    try:
        records.create(connector, event=Event.CONNECTOR_CREATE, connector_id=connector_id, type=type)
    except IntegrityError:
        if pk is None or not Connector.objects.filter(pk=pk).exists():
            raise
        raise AlreadyCreated from None
    return connector


@transaction.atomic
def change(
    connector: Connector,
    fields: dict[str, Any],
    *,
    expected: frozenset[int] | None,
    is_proven: bool,
) -> None:
    """Replace ``config``, set ``enabled``, or move the connector to its own callback.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: it may decide on second factors (``proof``), and ``is_proven`` is false.
        Invalid: a connector with its own callback cannot use the shared callback.
        configs.ConfigRefused: the configuration breaks rules of the provider.
        records.Stale: the connector was changed since the caller read it.

    """
    # Locked, because masks refer to the stored secrets, which must not change meanwhile.
    stored = Connector.objects.select_for_update().filter(pk=connector.pk).first()
    if stored is None or (expected is not None and stored.version not in expected):
        raise Stale
    check_proof = proof.check_end if fields == {"enabled": False} else proof.check
    check_proof(stored.type, is_proven=is_proven)
    field_rules.check_callback(stored=stored.has_own_callback, sent=fields.get("has_own_callback", True))
    columns = {name: value for name, value in fields.items() if name != "config"}
    changed_fields = sorted(columns)
    if "config" in fields:
        provider, before = registry.find(stored.connector_id), stored.config()
        config = configs.validate(provider, fields["config"], before)
        if config != before:  # the same configuration, encrypted again, would be another text
            columns["sealed_config"] = _encrypt(stored, config)
            changed_fields += configs.changed_members(provider, before, config)
    records.change(
        connector, columns, event=Event.CONNECTOR_UPDATE, expected=expected, changed_fields=changed_fields
    )


def remove(connector: Connector, *, expected: frozenset[int] | None, is_proven: bool) -> None:
    """Delete a connector.

    ``is_proven`` is whether the administrator who deletes it has signed in recently.

    Raises:
        TokenTooOld: it may send codes of second factors, and ``is_proven`` is false.
        records.Stale: the connector was changed since the caller read it.

    """
    proof.check_end(connector.type, is_proven=is_proven)
    records.remove(
        connector,
        event=Event.CONNECTOR_DELETE,
        expected=expected,
        connector_id=connector.connector_id,
        type=connector.type,
    )


def test(connector: Connector, *, to: str) -> str:
    """Send a test message or check the credentials of a connector, and return the result as a sentence.

    The connector need not be enabled.

    Raises:
        Busy: too many tests are waiting for providers. This is not counted, and writes no audit entry.
        Invalid: the recipient is missing, or is not an address.
        NotWorking: the test failed.
        limits.TooMany: as ``count_test``.

    """
    facts = {"id": str(connector.pk), "connector_id": connector.connector_id}
    with _slots.take(Busy(headers={"Retry-After": "2"})), log.attempt(Event.CONNECTOR_TEST, **facts):
        count_test(connector)
        provider = registry.find(connector.connector_id)
        if provider is None:
            raise NotWorking(
                fill(
                    gettext_noop(
                        "the provider %(connector_id)s is not built in, so the connector has no effect"
                    ),
                    connector_id=connector.connector_id,
                )
            )
        try:
            return _run_test(provider, connector, to)
        except ProviderError as error:
            raise NotWorking(error.message) from None


def count_test(connector: Connector) -> None:
    """Count a test of a connector, and its text message.

    Raises:
        limits.TooMany: the connector or the tenant's connectors were tested too often, or the tenant sent
            too many text messages.

    """
    is_text_message = connector.type == Connector.Type.SMS
    limits.hit(
        (rules.CONNECTOR_TESTS, str(connector.pk)),
        (rules.TENANT_CONNECTOR_TESTS, ""),
        *([(rules.TEXT_MESSAGES, "")] if is_text_message else []),
    )


def _run_test(provider: Sender | SocialProvider | CaptchaProvider, connector: Connector, to: str) -> str:
    config = configs.with_defaults(provider, connector.config())
    if isinstance(provider, Sender):
        message = messages.new_test_message(EMAIL if provider.type == Connector.Type.EMAIL else SMS, to)
        delivery.send(provider, config, message)
        return fill(gettext_noop("a test message was sent to %(address)s"), address=message.to)
    if isinstance(provider, CaptchaProvider):
        provider.test_secret(config)
        return fill(gettext_noop("%(provider)s accepts this secret_key"), provider=provider.name)
    provider.test(config, callbacks.get_redirect_uri(connector))
    return fill(gettext_noop("%(provider)s accepts this configuration"), provider=provider.name)


def _encrypt(connector: Connector, config: dict[str, Any]) -> str:
    return config_encryption.encrypt(config, tenant_id=str(connector.tenant_id), pk=connector.pk)
