"""Who acted in an audit entry, or whom it is about: a user, an administrator, an application, a text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery, TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from audit.models import Entry
from database import ids
from identity.operator_kit.panels import Link, link
from identity.users import identifiers
from identity.users.identifiers import Kind
from identity.users.models import User
from management.administrators.models import Administrator
from oidc.applications.models import Application

_HASHED: Final = "hash:"
_IMPORT: Final = "manage.py import_users"
_MAX_READ: Final = 1_000
_SHORT: Final = 13  # characters of an id
Cell = Link | str


@dataclass(frozen=True, slots=True)
class _Rows:
    """The typed identifiers of entries, and the rows that the entries name."""

    texts: Mapping[UUID, str]
    users: Mapping[str, User]
    administrators: Mapping[int, Administrator]
    applications: Mapping[str, Application]


def find_subjects(entries: Iterable[Entry], reader: object) -> dict[UUID, Cell]:
    """Return for each entry of the active tenant who it is about, in five queries for all of them."""
    entries = list(entries)
    rows = _find_rows(entries, reader)
    return {entry.pk: _describe_subject(entry, rows) for entry in entries}


def find_actors(entries: Iterable[Entry], reader: Any) -> dict[UUID, Cell]:
    """Return for each entry of the active tenant who acted, in five queries for all of them.

    The names of administrators are links if the reader may see their pages.
    """
    entries = list(entries)
    rows = _find_rows(entries, reader)
    has_links = reader.has_perm("administrators.view_administrator")
    return {
        entry.pk: _IMPORT if _is_of_command(entry) else _describe_actor(entry, rows, has_links=has_links)
        for entry in entries
    }


def _is_of_command(entry: Entry) -> bool:
    """Return whether a command imported the user. An import on the operators' site has an administrator."""
    return "imported_from" in entry.payload and "administrator_id" not in entry.payload


def _find_rows(entries: list[Entry], reader: object) -> _Rows:
    texts = _find_typed(entries, reader)
    users = _find_users(entries, texts.values())
    administrators = Administrator.objects.in_bulk(
        {pk for entry in entries if isinstance(pk := entry.payload.get("administrator_id"), int)}
    )
    pks = {pk for entry in entries if (pk := ids.parse(entry.application_id or ""))}
    applications = {str(pk): row for pk, row in Application.objects.in_bulk(pks).items()}
    return _Rows(texts, users, administrators, applications)


def _describe_subject(entry: Entry, rows: _Rows) -> Cell:
    text = rows.texts.get(entry.pk, "")
    if user := rows.users.get(entry.user_id or "") or rows.users.get(_fold(text)):
        return link(user)
    if administrator := rows.administrators.get(entry.payload.get("administrator_id", 0)):
        return _name_administrator(administrator)
    if text:
        return text
    if entry.has_typed_identifier:
        return gettext("Unknown identifier")
    if application := rows.applications.get(entry.application_id or ""):
        return link(application)
    return str(entry.payload.get("client_id") or "-")


def _describe_actor(entry: Entry, rows: _Rows, *, has_links: bool) -> Cell:
    if pk := entry.payload.get("administrator_id"):
        administrator = rows.administrators.get(pk)
        name = _name_administrator(administrator or pk)
        return link(administrator, name) if administrator and has_links else name
    text = rows.texts.get(entry.pk, "")
    # An identifier that is typed may belong to another user by now, but an id does not.
    if user := rows.users.get(entry.user_id or _fold(text)):
        return link(user, user.identifier or user.name or str(user))
    if text or entry.has_typed_identifier:
        return text or gettext("Unknown identifier")
    if entry.user_id:
        return f"{entry.user_id[:_SHORT]}…"
    if application := rows.applications.get(entry.application_id or ""):
        return link(application)
    return f"{entry.application_id[:_SHORT]}…" if entry.application_id else "-"


def _name_administrator(administrator: object) -> str:
    return gettext("Administrator %(name)s") % {"name": administrator}


def _find_typed(entries: list[Entry], reader: object) -> dict[UUID, str]:
    """Return the typed identifiers by entry. For a hashed one, use the text of another entry that has it.

    The reader may see that entry: the log of the default tenant also has administrators' sign-ins.
    Only the newest ``_MAX_READ`` entries of an identifier are read, because an attacked one has very many.
    """
    hashed = [entry for entry in entries if _get_text(entry).startswith(_HASHED) and entry.identifier_key]
    one_each = {entry.identifier_key: entry.pk for entry in hashed}
    is_same = {name: OuterRef(OuterRef(name)) for name in ("tenant_id", "identifier_key")}
    same = Entry.objects.visible_to(reader).filter(**is_same)
    newest = same.order_by("-created_at", "-id").values("pk")[:_MAX_READ]
    names = (KeyTextTransform(name, "payload") for name in ("username", "identifier"))
    texts = Entry.objects.annotate(text=Coalesce(*names, Value(""), output_field=TextField()))
    readable = texts.filter(pk__in=newest).exclude(text__startswith=_HASHED).order_by("-created_at", "-id")
    found = Entry.objects.filter(pk__in=one_each.values()).values_list(
        "identifier_key", Subquery(readable.values("text")[:1])
    )
    known = dict(found) if one_each else {}
    return {
        entry.pk: (known.get(entry.identifier_key) or "") if entry in hashed else _get_text(entry)
        for entry in entries
    }


def _get_text(entry: Entry) -> str:
    return str(entry.payload.get("username") or entry.payload.get("identifier") or "")


def _find_users(entries: list[Entry], texts: Iterable[str]) -> dict[str, User]:
    """Return users by their ids and by their identifiers, folded."""
    parsed = {identifiers.parse(text) for text in texts if text}
    keys = {kind: [key for one, key in parsed if one is kind] for kind in Kind}
    pks = {pk for entry in entries if (pk := ids.parse(entry.user_id or ""))}
    by_identifier = Q(username_key__in=keys[Kind.USERNAME]) | Q(email_key__in=keys[Kind.EMAIL])
    users = User.objects.filter(Q(pk__in=pks) | by_identifier | Q(phone_key__in=keys[Kind.PHONE]))
    found: dict[str, User] = {}
    for user in users:
        found[str(user.pk)] = user
        found |= {f"{kind} {key}": user for kind, key in user.get_identifier_keys().items()}
    return found


def _fold(text: str) -> str:
    return " ".join(identifiers.parse(text)) if text else ""
