"""The part of an application's page with its latest errors and sign-ins, and who consented."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext

from audit.administrative import ADMINISTRATIVE
from audit.events import Event
from audit.models import Entry
from database import ids
from identity.core import tenancy
from identity.operator_kit import routes
from identity.operator_kit.extensions import register_card
from identity.operator_kit.panels import Card, Link, Panel, build_panel, link
from identity.operator_kit.timestamps import format_time
from identity.users.models import User
from management.site import refusal_sentences
from management.site.entry_sentences import describe_failure
from oidc.applications.models import Application
from oidc.applications.page_sections import ACTIVITY
from oidc.grants.models import Consent

_SHOWN: Final = 10
_READ: Final = 500  # entries, so that a busy application's page does not search its whole log
_FAILED: Final = "failed"


def build_card(application: Application, urls: Mapping[str, str]) -> Card:
    """Return three panels. Consents can be revoked by those who may end the application's tokens."""
    panels = _build_panels(application, may_revoke="end-tokens" in urls)
    return Card("admin/panel_card.html", panels, ACTIVITY)


def _build_panels(application: Application, *, may_revoke: bool) -> list[Panel]:
    entries = _find_entries(application)
    latest = list(entries.exclude(key__in=ADMINISTRATIVE).order_by("-created_at", "-id")[:_READ])
    failed = [entry for entry in latest if entry.payload.get("result") == _FAILED]
    issued = [
        entry
        for entry in latest
        if entry.key == Event.TOKEN_EXCHANGE and entry.payload.get("result") != _FAILED
    ]
    users = _find_users([*failed[:_SHOWN], *issued[:_SHOWN]])
    errors = Panel(
        gettext("Latest errors"),
        (gettext("When"), gettext("What"), gettext("Reason"), gettext("User")),
        [
            (_time(entry), describe_failure(entry.key),
             capfirst(refusal_sentences.describe(entry)), _user(entry, users))
            for entry in failed[:_SHOWN]
        ],
        is_cut=len(failed) > _SHOWN, more_url=_log_url(application, result=_FAILED),
        empty=gettext("None among the latest %(number)s entries.") % {"number": _READ},
    )  # fmt: skip
    if application.type == Application.Type.MACHINE:
        return [errors, _build_issued(gettext("Latest tokens"), application, issued, users)]
    sign_ins = _build_issued(gettext("Latest sign-ins"), application, issued, users)
    return [errors, sign_ins, _build_consents(application, may_revoke=may_revoke)]


def has_issued_tokens(application: Application) -> bool:
    """Return whether one of the latest exchanges for tokens of an application succeeded."""
    exchanges = (
        _find_entries(application).filter(key=Event.TOKEN_EXCHANGE.value).order_by("-created_at", "-id")
    )
    return any(entry.payload.get("result") != _FAILED for entry in exchanges[:_SHOWN])


def _find_entries(application: Application) -> Any:
    return Entry.objects.filter(tenant_id=tenancy.active_id(), application_id=str(application.pk))


def _build_issued(
    title: str, application: Application, issued: list[Entry], users: Mapping[UUID, User]
) -> Panel:
    return Panel(
        title, (gettext("When"), gettext("User"), gettext("Scope"), gettext("Address")),
        [
            (_time(entry), _user(entry, users), _describe_scope(entry), entry.ip)
            for entry in issued[:_SHOWN]
        ],
        is_cut=len(issued) > _SHOWN, more_url=_log_url(application, key=Event.TOKEN_EXCHANGE),
        empty=gettext("None yet."),
    )  # fmt: skip


def _describe_scope(entry: Entry) -> str:
    scope = str(entry.payload.get("scope", ""))
    if entry.payload.get("is_test"):
        return gettext("%(text)s (tried by an administrator)") % {"text": scope}
    return scope


def _build_consents(application: Application, *, may_revoke: bool) -> Panel:
    revoke = gettext("Revoke")
    consents = Consent.objects.filter(application=application).select_related("user").order_by("-pk")
    return build_panel(
        gettext("Latest consents"), (gettext("User"), gettext("Since"), gettext("Scope"), ""), consents,
        lambda consent: (
            link(consent.user), format_time(consent.created_at), " ".join(consent.scopes),
            Link(revoke, routes.operation_url(User, "disconnect", consent.user)) if may_revoke else "",
        ),
        empty=gettext("None.") if application.is_third_party
        else gettext("None. Only users of third parties are asked."),
    )  # fmt: skip


def _find_users(entries: Iterable[Entry]) -> Mapping[UUID, User]:
    return User.objects.in_bulk({pk for entry in entries if (pk := ids.parse(entry.user_id or ""))})


def _user(entry: Entry, users: Mapping[UUID, User]) -> Any:
    user = users.get(pk) if (pk := ids.parse(entry.user_id or "")) else None
    return link(user) if user else entry.user_id or "-"


def _time(entry: Entry) -> Link:
    return link(entry, format_time(entry.created_at))


def _log_url(application: Application, **filters: str) -> str:
    query = urlencode({"q": application.pk, "when": "all", **filters})
    return f"{reverse('admin:audit_entry_changelist')}?{query}"


register_card(Application, build_card)
