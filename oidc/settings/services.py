"""Reads and changes of the tenant's settings of OpenID Connect."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from audit.events import Event
from identity.core import records
from identity.core.errors import Invalid
from identity.core.proof import TokenTooOld
from identity.core.refusal_texts import fill
from identity.core.tenant_statements import Select
from identity.factors.levels import ACR
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from oidc.settings.models import OidcSettings

PLAIN_OAUTH_RULE: Final = gettext_noop("must be true while client_id_metadata_documents is enabled")
ACR_RULE: Final = gettext_noop(
    "must be urn:service:acr:1fa, urn:service:acr:2fa, phr, phrh or one of acr_aliases"
)
_ALIAS_RULE: Final = gettext_noop("must keep %(values)s, which is required_acr of %(applications)s")
_MOST_NAMES: Final = 10
_current: Final = Select(lambda: OidcSettings.objects.all()[:1])


def current() -> OidcSettings:
    """Return the settings of the active tenant: its row, or the defaults if it has none."""
    return _current.first() or OidcSettings()


def is_acr_value(value: str) -> bool:
    """Return whether a value of ``acr`` is that of a level, or an alias of the active tenant."""
    return value in ACR.values() or any(alias["value"] == value for alias in current().acr_aliases)


def hold_acr_value(value: str) -> bool:
    """Return whether a value of ``acr`` is known. If it is an alias, it stays until the transaction ends.

    Call it in the transaction that stores the requirement, before the transaction locks other rows.
    """
    if value in ACR.values():
        return True
    row = OidcSettings.objects.select_for_update().first()
    return row is not None and value in _get_values(row.acr_aliases)


def change(
    fields: dict[str, Any], *, expected: frozenset[int] | None = None, is_proven: bool
) -> OidcSettings:
    """Change the settings. Objects are merged one level deep, lists and texts are replaced.

    If the default algorithm has no key, its first one is created.

    ``settings.OIDC_SETTINGS_EFFECTS`` names functions of apps above. Each is called in the transaction with
    the changed settings and the names of the changed fields, and writes what follows from the change.
    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: an alias would be added or get another level, and ``is_proven`` is false.
        Invalid: the settings contradict each other, or remove an alias that an application or API requires.
        generation.UpgradeInProgress: the default algorithm has no key, and a node of an older release serves.
        records.Stale: the settings were changed since the caller read them.

    """
    algorithm = fields.get("default_signing_alg")
    # Stored under the locks, in their order: the caller may have opened the transaction, as the console does.
    new_key = keys.generate_missing(algorithm) if algorithm else None
    return _change(fields, expected, new_key, is_proven=is_proven)


@transaction.atomic
def _change(
    fields: dict[str, Any], expected: frozenset[int] | None, new_key: SigningKey | None, *, is_proven: bool
) -> OidcSettings:
    # Of two first changes at once, one inserts the row and the other waits for it.
    OidcSettings.objects.bulk_create([OidcSettings()], ignore_conflicts=True)
    row = OidcSettings.objects.select_for_update().get()
    changes = _complete(row, _merge(row, fields))
    _check_aliases(row, changes)
    # Applications take the values that they request, in ``acr_values`` for example, for the level.
    if not is_proven and _adds_or_moves_alias(row, changes):
        raise TokenTooOld
    before = {name: getattr(row, name) for name in changes}
    records.change(
        row,
        changes,
        event=Event.OIDC_SETTINGS_UPDATE,
        expected=expected,
        values=changes,
        before=before,
    )
    if "default_signing_alg" in changes:
        keys.make_default(row.default_signing_alg, new_key)
    for path in settings.OIDC_SETTINGS_EFFECTS:
        import_string(path)(row, frozenset(changes))
    return row


def _merge(row: OidcSettings, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: getattr(row, name) | value if isinstance(value, dict) else value
        for name, value in fields.items()
    }


def _check_aliases(row: OidcSettings, changes: dict[str, Any]) -> None:
    """Check that no application or API requires an alias that the changes remove or rename.

    Raises:
        Invalid: one does. Nobody could sign in to the application, or get a token for the API, any more.

    """
    removed = _get_values(row.acr_aliases) - _get_values(changes.get("acr_aliases", row.acr_aliases))
    uses = _find_uses(removed)
    if uses:
        names = [f"“{name}”" for name, _ in uses[:_MOST_NAMES]]
        names += ["…"] if len(uses) > _MOST_NAMES else []
        values = sorted({value for _, value in uses})
        rule = fill(_ALIAS_RULE, values=values, applications=names)
        raise Invalid("acr_aliases", rule, code="conflict")


def _adds_or_moves_alias(row: OidcSettings, changes: dict[str, Any]) -> bool:
    """Return whether the changes add an alias, or give one another level."""
    old, new = (
        {(alias["value"], alias["level"]) for alias in aliases}
        for aliases in (row.acr_aliases, changes.get("acr_aliases", row.acr_aliases))
    )
    return not new <= old


def _find_uses(values: set[str]) -> list[tuple[str, str]]:
    """Return the names of the applications and APIs that require one of these values, each with the value."""
    uses: list[tuple[str, str]] = import_string(settings.ACR_VALUE_USES)(values) if values else []
    return uses


def _get_values(aliases: Iterable[Mapping[str, str]]) -> set[str]:
    return {alias["value"] for alias in aliases}


def _complete(row: OidcSettings, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes, with plain OAuth requests allowed if they switch metadata documents on.

    Raises:
        Invalid: metadata documents are on, and the changes forbid plain OAuth requests.

    """
    documents = changes.get("client_id_metadata_documents", row.client_id_metadata_documents)
    if not documents["enabled"]:
        return changes
    if not changes.get("plain_oauth", True):
        raise Invalid("plain_oauth", PLAIN_OAUTH_RULE, code="conflict")
    return changes if row.plain_oauth else changes | {"plain_oauth": True}
