"""The search of the operators' site: users, applications, organizations, references, pages and actions."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib.admin import site
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from database import ids
from identity.operator_kit import routes
from identity.operator_kit.pages import Pages
from identity.organizations.models import Organization
from identity.users.models import User
from identity.users.search import match_users
from management.site import navigation
from management.site.own_pages import get_own_pages
from oidc.applications.models import Application

_MAX_ROWS: Final = 6
_MAX_LETTERS: Final = 200
# The index of users finds three letters in a row; with fewer it would read every user.
_MIN_LETTERS: Final = 3
# Names of applications and organizations have no index: only the newest are compared.
_NEWEST: Final = 1_000
_PAGES: Final = (
    (_("Dashboard"), "admin:index"),
    (_("Look up a reference"), "admin:why"),
    (_("Choose a tenant"), "admin:choose-tenant"),
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A link, with a second line."""

    text: str
    href: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Hits of a kind, and the icon of the kind."""

    title: str
    icon: str
    hits: list[Hit]


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show what the administrator may see in the chosen tenant and matches the text."""
    text = request.GET.get("q", "").strip()[:_MAX_LETTERS]
    groups = [group for group in _find(request, text) if group.hits]
    context = {
        "title": gettext("Search"),
        "text": text,
        "groups": groups,
        "is_short": 0 < len(text) < _MIN_LETTERS,
    }
    return render(request, "admin/search.html", {**site.each_context(request), **context})


def _find(request: HttpRequest, text: str) -> Iterable[Group]:
    if len(text) >= _MIN_LETTERS:
        users = _find_rows(request, User, match_users(text) | _match_id(text))
        yield Group(gettext("Users"), "users", users)
        applications = _find_rows(request, Application, _match_application(text))
        yield Group(gettext("Applications"), "applications", applications)
        organizations = _find_rows(request, Organization, _match_name(text))
        yield Group(gettext("Organizations"), "organizations", organizations)
        yield from _find_named(request, text)
        if ids.parse(text):
            href = f"{reverse('admin:why')}?{urlencode({'reference': text})}"
            name = gettext("Look up the reference %(reference)s") % {"reference": text}
            yield Group(gettext("Audit log"), "log", [Hit(name, href)])
    actions = [hit for hit in _get_actions(request) if _contains(hit.text, text)]
    yield Group(gettext("Actions"), "action", actions)
    pages = [hit for hit in _get_pages(request) if _contains(hit.text, text)]
    yield Group(gettext("Pages"), "page", pages)


def _find_named(request: HttpRequest, text: str) -> Iterable[Group]:
    """Yield the rows of pages whose names are in no column. There are few such rows."""
    for pages in site._registry.values():  # noqa: SLF001 - Django has no function that lists them
        if isinstance(pages, Pages) and pages.has_view_permission(request):
            rows = pages.find_named(lambda name: _contains(name, text))
            hits = [Hit(name, routes.row_url(row), detail) for row, name, detail in rows[:_MAX_ROWS]]
            if hits:
                yield Group(str(pages.heading), navigation.SECTIONS[pages.section], hits)


def _find_rows(request: HttpRequest, model: Any, matches: Q) -> list[Hit]:
    """Return the first rows, if the administrator may see the list."""
    pages = site.get_model_admin(model)
    if not pages.has_view_permission(request):
        return []
    rows: QuerySet[Any] = model.objects.filter(matches).order_by("-created_at", "-pk")[:_MAX_ROWS]
    return [Hit(str(row) or str(row.pk), routes.row_url(row), _describe(row)) for row in rows]


def _describe(row: Any) -> str:
    if isinstance(row, User):
        return row.identifier
    return row.client_id if isinstance(row, Application) else row.description[:80]


def _match_application(text: str) -> Q:
    newest = Application.objects.order_by("-created_at", "-pk").values("pk")[:_NEWEST]
    return Q(pk__in=newest, name__icontains=text) | Q(client_id=text) | _match_id(text)


def _match_name(text: str) -> Q:
    newest = Organization.objects.order_by("-created_at", "-pk").values("pk")[:_NEWEST]
    return Q(pk__in=newest, name__icontains=text) | _match_id(text)


def _match_id(text: str) -> Q:
    pk = ids.parse(text)
    return Q(pk=pk) if pk else Q(pk__in=[])


def _get_actions(request: HttpRequest) -> Iterable[Hit]:
    """Yield what the administrator may do without choosing a row first."""
    for model, pages in site._registry.items():  # noqa: SLF001 - as above
        if pages.has_view_permission(request):
            for operation in pages.catalogue.get_available(request):  # type: ignore[attr-defined]
                yield Hit(str(operation.label), routes.operation_url(model, operation.name, None))


def _get_pages(request: HttpRequest) -> Iterable[Hit]:
    for name, url in (*_PAGES, *get_own_pages()):
        yield Hit(str(name), reverse(url))
    for section in site.get_app_list(request):
        for page in section["lists"]:
            yield Hit(str(page["name"]), page["url"], section["name"])


def _contains(label: str, text: str) -> bool:
    return all(word in label.lower() for word in text.lower().split())
