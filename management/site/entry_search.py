"""The search of the audit log: by user, identifier, application, IP address or reference."""

import ipaddress
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import Q

from audit import context
from audit.models import EntryQuerySet
from audit.typed_identifiers import find_subject
from database import ids
from identity.users import typed_identifiers
from identity.users.models import User
from identity.users.search import match_users
from oidc.applications.models import Application

# A part of a name finds at most this many users, and at most this many applications.
MAX_MATCHES: Final = 50


@dataclass(frozen=True, slots=True)
class Found:
    """The entries that were found. ``is_cut`` says that more users or applications match the text."""

    entries: EntryQuerySet
    is_cut: bool = False


def search(entries: EntryQuerySet, text: str) -> Found:
    """Return the entries that match a text: an id, an IP address, an identifier or a part of a name."""
    text = text.strip().replace("\0", "")
    if pk := ids.parse(text):
        return Found(_search_id(entries, str(pk)))
    if address := _parse_address(text):
        return Found(entries.filter(ip=address))
    subject = find_subject(text, context.current().tenant_id)
    return Found(entries.of_subject(subject)) if subject.user_ids else _search_names(entries, text)


def _search_id(entries: EntryQuerySet, pk: str) -> EntryQuerySet:
    """Return the entries of a request, or of a user or an application with this id."""
    of_request = entries.of_request(pk)
    if of_request.exists():
        return of_request
    subject = find_subject(pk, context.current().tenant_id)
    return entries.of_subject(replace(subject, application_ids=(pk,)))


def _search_names(entries: EntryQuerySet, text: str) -> Found:
    users = User.objects.filter(match_users(text)).order_by("-created_at", "-pk")
    named = Application.objects.filter(Q(name__icontains=text) | Q(client_id=text))
    applications = named.order_by("-created_at", "-pk").values_list("pk", flat=True)
    people, application_ids = list(users[: MAX_MATCHES + 1]), list(applications[: MAX_MATCHES + 1])
    subject = typed_identifiers.get_subject(people[:MAX_MATCHES], text)
    subject = replace(subject, application_ids=tuple(str(pk) for pk in application_ids[:MAX_MATCHES]))
    return Found(entries.of_subject(subject), max(len(people), len(application_ids)) > MAX_MATCHES)


def _parse_address(text: str) -> str:
    """Return an IP address as the log has it, or an empty string."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""
