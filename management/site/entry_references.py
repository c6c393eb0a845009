"""The rows whose ids are in an audit entry, for the page of the entry."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from django.utils.html import format_html, format_html_join

from audit.models import Entry
from database import ids
from identity.operator_kit.panels import Link
from identity.organizations.models import Organization, OrganizationPermission, OrganizationRole
from identity.resources.models import Resource, Scope
from identity.roles.models import Role
from identity.users.models import User
from management.site import entry_objects
from oidc.applications.models import Application

# By the member of the payload that has ids, without its ending: the model of the rows.
_MODELS: Final[Mapping[str, Any]] = {
    "user": User,
    "application": Application,
    "organization": Organization,
    "organization_role": OrganizationRole,
    "permission": OrganizationPermission,
    "role": Role,
    "resource": Resource,
    "scope": Scope,
}
_ENDING: Final = re.compile(r"_ids?$")
_ID_IN_JSON: Final = re.compile(r'("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")')
Links = Mapping[UUID, Link]


def find_links(entry: Entry) -> Links:
    """Return links to the rows of the active tenant that an entry names and that still exist, by their ids.

    There is one query for each model that the entry names.
    """
    texts = {entry.user_id, entry.application_id, *_find_texts(entry.payload)}
    pks = {pk for text in texts if (pk := ids.parse(text or ""))}
    rows = (
        [row for model in _find_models(entry) for row in model.objects.in_bulk(pks).values()] if pks else []
    )
    return {row.pk: entry_objects.link_row(row) for row in rows}


def format_id(text: str | None, links: Links) -> str:
    """Return an id in HTML, after the name of its row if that still exists."""
    if not text:
        return "-"
    number = format_html('<code class="quiet">{}</code>', text)
    link = _find(text, links)
    return format_html("{} {}", _format_name(link), number) if link else number


def format_facts(payload: Mapping[str, Any], links: Links) -> str:
    """Return a payload as JSON in HTML, with the name of its row after each id."""
    parts = _ID_IN_JSON.split(json.dumps(payload, indent=2, ensure_ascii=False))
    return format_html("<bdi>{}</bdi>", format_html_join("", "{}{}", _add_names(parts, links)))


def _add_names(parts: list[str], links: Links) -> Iterator[tuple[str, str]]:
    """Yield each part of a text, and the name of the row if the part is a quoted id."""
    for part in parts:
        link = _find(part.strip('"'), links)
        yield part, format_html(" {}", _format_name(link)) if link else ""


def _format_name(link: Link) -> str:
    return format_html('<a href="{}"><bdi>{}</bdi></a>', link.href, link.text)


def _find(text: str, links: Links) -> Link | None:
    pk = ids.parse(text)
    return links.get(pk) if pk else None


def _find_models(entry: Entry) -> set[Any]:
    """Return the models of the ids of an entry. Ids in ``added`` and ``removed`` are those of a field."""
    names = {*entry.payload, *_find_texts(entry.payload.get("fields"))}
    models = {_MODELS.get(_ENDING.sub("", name)) for name in names if _ENDING.search(name)}
    models.add(entry_objects.get_model(entry.key))
    models |= {User if entry.user_id else None, Application if entry.application_id else None}
    return models - {None}


def _find_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value, without the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _find_texts(item)
