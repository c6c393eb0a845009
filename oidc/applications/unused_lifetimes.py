"""Lifetimes of an application's refresh tokens that have no effect, because a shorter one holds."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext

from identity.operator_kit.panels import Card
from oidc.applications import lifetimes
from oidc.applications.lifetimes_admin import LifetimesForm
from oidc.applications.models import Application
from oidc.applications.page_sections import SETTINGS
from oidc.settings.unused_settings import TEMPLATE, describe_longer


def build_card(application: Application, _urls: Any) -> Card | None:
    """Return the card of the lifetimes that have no effect, or None if there are none."""
    found = list(_find(application))
    return Card(TEMPLATE, found, SETTINGS) if found else None


def _find(application: Application) -> Iterator[str]:
    idle, absolute = lifetimes.get_refresh_idle(application), lifetimes.get_refresh_absolute(application)
    effective = {"refresh_token_idle_seconds": idle, "refresh_token_absolute_seconds": absolute}
    for name, lifetime in effective.items():
        own = getattr(application, name)
        if own is not None and timedelta(seconds=own) > lifetime:
            text = gettext("“%(setting)s” is longer than the tenant's value, so it has no effect.")
            yield text % {"setting": _label(name)}
    if application.refresh_token_idle_seconds is not None and idle > absolute:
        yield describe_longer(_label("refresh_token_idle_seconds"), _label("refresh_token_absolute_seconds"))


def _label(name: str) -> Any:
    return LifetimesForm.base_fields[name].label
