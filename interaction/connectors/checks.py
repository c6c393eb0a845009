"""The doctor's checks of connectors."""

from collections.abc import Iterator
from contextlib import suppress

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core.doctor_checks import doctor_check, join_names
from identity.encryption import keyring
from interaction.connectors import callbacks
from interaction.connectors.models import Connector
from interaction.connectors.providers import github, registry


@doctor_check
def connectors() -> Iterator[CheckMessage]:
    """Report connectors that cannot be decrypted, have no provider, or share one callback."""
    undecryptable: list[str] = []
    unknown: list[str] = []
    sharing: list[str] = []
    for connector in Connector.objects.select_related("tenant").order_by("pk"):
        label = _get_label(connector)
        try:
            connector.config()
        except keyring.UnknownKey:
            undecryptable.append(label)
        if connector.enabled and registry.find(connector.connector_id) is None:
            unknown.append(label)
        if connector.enabled and connector.type == Connector.Type.SOCIAL and not connector.has_own_callback:
            sharing.append(label)
    if undecryptable:
        yield Error(
            "the configuration of these connectors cannot be decrypted with ENCRYPTION_KEYS: "
            f"{join_names(undecryptable)}",
            hint="add the key that encrypted it to the end of ENCRYPTION_KEYS; if that key is lost, "
            "delete the connector and create it again",
            id="connectors.E001",
        )
    if unknown:
        yield Warning(
            f"enabled connectors have no effect, as their provider is not built in: {join_names(unknown)}",
            hint="create it again with a connector_id of docs/reference/connectors.md, or disable it",
            id="connectors.W002",
        )
    if sharing:
        yield Warning(
            "social connectors share one callback, so a malicious provider among them can obtain another's "
            f"codes: {join_names(sharing)}. It is served until release {callbacks.SHARED_UNTIL}",
            hint="register {issuer}/social/callback/{id of the connector} with the provider as a further "
            'redirect URI, then send PATCH /api/v1/connectors/{id} {"has_own_callback": true} or press "Use '
            'its own callback" on the page of the connector at /admin',
            id="connectors.W003",
        )


@doctor_check
def wechat() -> Iterator[CheckMessage]:
    """Report connectors whose providers could obtain WeChat's codes: WeChat compares only the domain."""
    enabled = Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True)
    rows = list(enabled.select_related("tenant").order_by("pk"))
    wechats = [_get_label(row) for row in rows if row.connector_id == "wechat"]
    others = [_get_label(row) for row in rows if _has_any_provider(row)]
    if wechats and others:
        yield Warning(
            "WeChat compares only the domain of a redirect URI, and all tenants share this one. A malicious "
            f"provider of these connectors can obtain codes of WeChat: {join_names(others)}. WeChat is "
            f"enabled here: {join_names(wechats)}",
            hint="if you do not trust each of these providers, disable its connector or WeChat, or use "
            "WeChat in an installation with a domain of its own (docs/security/accepted.md)",
            id="connectors.W004",
        )


def _has_any_provider(connector: Connector) -> bool:
    """Return whether the configuration of a connector chooses its provider."""
    if connector.connector_id == github.GitHub.connector_id:
        with suppress(keyring.UnknownKey):
            return connector.config().get("endpoint", "").rstrip("/") not in {"", github.PUBLIC}
    return connector.connector_id in {"oidc", "oauth2"}


def _get_label(connector: Connector) -> str:
    return f"{connector.connector_id} of {connector.tenant.slug}"
