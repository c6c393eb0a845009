"""What an audit entry is about besides the actor: the row that was created, changed or used."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from audit.models import Entry
from database import ids
from identity.operator_kit.panels import Link, link
from identity.organizations.models import Organization, OrganizationPermission, OrganizationRole
from identity.resources.models import Resource, Scope
from identity.roles.models import Role
from identity.users.models import User
from oidc.applications.models import Application

# By the first part of the key: the model of the row that the payload names with ``id``.
_MODELS: Final[Mapping[str, Any]] = {
    "User": User,
    "BackupCodes": User,
    "Application": Application,
    "ApplicationSecret": Application,
    "Organization": Organization,
    "OrganizationMember": Organization,
    "OrganizationApplication": Organization,
    "OrganizationRole": OrganizationRole,
    "OrganizationPermission": OrganizationPermission,
    "Role": Role,
    "Resource": Resource,
    "Scope": Scope,
}
_NAMES: Final = ("name", "username", "email", "slug", "masked", "connector_id")  # the best one first
Cell = Link | str


def find_objects(entries: Iterable[Entry]) -> dict[UUID, Cell]:
    """Return for each entry of the active tenant the name of its object; an empty text if it has none.

    A row that still exists is a link. There is one query for each model that the entries name.
    """
    entries = list(entries)
    wanted: dict[Any, set[UUID]] = defaultdict(set)
    for entry in entries:
        if named := _get_named(entry):
            wanted[named[0]].add(named[1])
    rows = {model: model.objects.in_bulk(pks) for model, pks in wanted.items()}
    return {entry.pk: _describe(entry, rows) for entry in entries}


def _get_named(entry: Entry) -> tuple[Any, UUID] | None:
    """Return the model and the id of the row that an entry names."""
    model = get_model(entry.key)
    pk = ids.parse(str(entry.payload.get("id") or "")) if model else None
    if pk:
        return model, pk
    # The actor is the user, and the application is what was used.
    pk = ids.parse(entry.application_id or "") if entry.user_id else None
    return (Application, pk) if pk else None


def _describe(entry: Entry, rows: Mapping[Any, Mapping[UUID, Any]]) -> Cell:
    stored = next((str(text) for name in _NAMES if (text := entry.payload.get(name))), "")
    if named := _get_named(entry):
        row = rows[named[0]].get(named[1])
        if row is not None:
            return link_row(row)
    return "" if entry.has_typed_identifier else stored


def get_model(key: str) -> Any:
    """Return the model of the row that entries with this key are about, or None."""
    return _MODELS.get(key.partition(".")[0])


def link_row(row: Any) -> Link:
    """Return a link to a row with its name."""
    return link(row, row.identifier or row.name or str(row)) if isinstance(row, User) else link(row)
