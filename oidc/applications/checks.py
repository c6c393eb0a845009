"""System checks of redirect URIs, which ``manage.py doctor`` runs."""

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core.doctor_checks import doctor_check, join_names
from identity.core.errors import Invalid
from oidc.applications import redirect_uris
from oidc.applications.models import Application

_LOOPBACK_ALLOWED: Final = {Application.Type.NATIVE}


@doctor_check
def redirection() -> Iterator[CheckMessage]:
    """Check that the registered redirect URIs are allowed and suit production."""
    if settings.DEVELOPMENT:
        return
    refused: list[str] = []
    local: list[str] = []
    for application in Application.objects.select_related("tenant").iterator():
        label = f"{application.name!r} ({application.client_id}, tenant {application.tenant.slug})"
        uris = application.redirect_uris + application.post_logout_redirect_uris
        if rules := _broken_rules(application):
            refused.append(f"{label}: {'; '.join(sorted(rules))}")
        elif application.type not in _LOOPBACK_ALLOWED and any(map(redirect_uris.is_loopback, uris)):
            local.append(label)
    if refused:
        yield Error(
            f"applications have redirect URIs that are not allowed: {join_names(refused)}",
            hint="replace them with complete https URLs (PATCH /api/v1/applications/:id)",
            id="applications.E001",
        )
    if local:
        yield Warning(
            f"applications have redirect URIs on the user's own machine: {join_names(local)}",
            hint="remove URIs for development from redirect_uris: any program on the machine can listen "
            "there",
            id="applications.W002",
        )


def _broken_rules(application: Application) -> set[str]:
    """Return the rules that an application's URIs break."""
    rules = set()
    for field in ("redirect_uris", "post_logout_redirect_uris"):
        for uri in getattr(application, field):
            try:
                redirect_uris.validate(uri, application.type, field)
            except Invalid as refused:
                rules.add(refused.rule)
    return rules
