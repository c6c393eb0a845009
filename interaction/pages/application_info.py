"""What the pages show of an application."""

from typing import Final
from urllib.parse import urlsplit

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from oidc.applications import client_metadata
from oidc.applications.models import Application

_LINKS: Final[tuple[tuple[str, Promise], ...]] = (
    ("client_uri", _("Website")),
    ("policy_uri", _("Privacy policy")),
    ("tos_uri", _("Terms of use")),
)


def describe(application: Application) -> dict[str, object]:
    """Return the logo, links and contacts of an application.

    The logo of a third party is never shown, because its server would see who opens the page, and it could
    look like another application's. The initial of the name is shown instead, with the hosts of the links.
    """
    is_third_party = application.is_third_party
    login_url = client_metadata.build_login_url(application)
    uris = [(uri, label) for name, label in _LINKS if (uri := getattr(application, name))]
    hosts = {_host(uri) for uri, _label in uris} if is_third_party else set()
    shared_host = hosts.pop() if len(hosts) == 1 else ""
    return {
        "logo_url": "" if is_third_party else application.logo_uri,
        "initial": application.name[:1].upper() if is_third_party and application.logo_uri else "",
        "shared_host": shared_host,  # of all links
        "links": [
            {"href": uri, "label": label, "host": _host(uri) if is_third_party and not shared_host else ""}
            for uri, label in uris
        ],
        "contacts": application.contacts,
        "login_url": login_url,
        "login_host": _host(login_url) if is_third_party else "",
    }


def _host(uri: str) -> str:
    return urlsplit(uri).netloc
