"""The sidebar: sections in order, each with an icon and its lists."""

from collections.abc import Iterable
from typing import Any, Final

from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop

from identity.operator_kit import routes

# The icons are those of gatehouse/icons.svg. Pages name their section in English.
SECTIONS: Final = {
    gettext_noop("Users"): "users",
    gettext_noop("Organizations"): "organizations",
    gettext_noop("Applications"): "applications",
    gettext_noop("API resources & roles"): "access",
    gettext_noop("Sign-in experience"): "experience",
    gettext_noop("Connectors"): "connectors",
    gettext_noop("Messages"): "messages",
    gettext_noop("Audit log"): "log",
    gettext_noop("Settings"): "settings",
}


def build(request: HttpRequest, registered: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the sections with the lists that the administrator may see, and which one is current."""
    visible = [pages for pages in registered if pages.has_view_permission(request)]
    sections = [_build_section(request, name, visible) for name in SECTIONS]
    return [section for section in sections if section["lists"]]


def _build_section(request: HttpRequest, name: str, visible: list[Any]) -> dict[str, Any]:
    members = [pages for pages in visible if pages.section == name]
    shown = sorted((pages for pages in members if pages.place is not None), key=lambda pages: pages.place)
    lists = [_build_list(request, pages) for pages in shown]
    return {
        "name": gettext(name),
        "icon": SECTIONS[name],
        "url": lists[0]["url"] if lists else "",
        "lists": lists,
        "is_current": any(request.path.startswith(routes.list_url(pages.model)) for pages in members),
    }


def _build_list(request: HttpRequest, pages: Any) -> dict[str, Any]:
    url = routes.list_url(pages.model)
    return {"name": pages.heading, "url": url, "is_current": request.path.startswith(url)}
