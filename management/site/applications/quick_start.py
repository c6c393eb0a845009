"""The card of an application's page with code for a framework, filled in with the application's values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from identity.core import tenancy
from identity.operator_kit.extensions import register_card
from identity.operator_kit.panels import Card
from management.site.applications import activity, guides
from management.site.applications.guides import File, Guide
from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.applications.page_sections import QUICK_START

_SECRET: Final = "the-client-secret"  # noqa: S105 - a placeholder
# The how-tos have an ellipsis for each value that differs: ``export ISSUER=…`` and ``const ISSUER = "…"``.
_SETTING: Final = re.compile(r"\b((ISSUER|CLIENT_ID|CLIENT_SECRET)=)…")
_CONSTANT: Final = re.compile(r"""\b(ISSUER|CLIENT_ID)(\s*[:=]\s*["'])…(?=["'])""")


@dataclass(frozen=True, slots=True)
class QuickStart:
    """A guide with the values of an application. ``missing`` is a redirect URI that is not registered yet."""

    name: str
    title: str
    install: str
    configure: str
    files: tuple[File, ...]
    run: str
    missing: str


def build_card(application: Application, urls: Mapping[str, str]) -> Card:
    """Return the card with the guides that fit the type of an application."""
    fitting = [guide for guide in guides.get_all() if guide.application_type == application.type]
    content = {
        "guides": [fill_in(guide, application) for guide in fitting],
        "is_used": bool(fitting) and activity.has_issued_tokens(application),
        "has_secret": application.must_present_secret,
        "change": urls.get("change", ""),
        "add_secret": urls.get("add-secret", ""),
    }
    return Card("admin/quick_start.html", content, QUICK_START)


def fill_in(guide: Guide, application: Application) -> QuickStart:
    """Return a guide with the client ID, the issuer and, if one fits, the redirect URI of an application."""
    uri = _find_redirect_uri(guide, application)
    values = {
        "ISSUER": tenancy.active().issuer,
        "CLIENT_ID": application.client_id,
        "CLIENT_SECRET": _SECRET,
    }

    def fill(text: str) -> str:
        return _CONSTANT.sub(
            lambda found: found[1] + found[2] + values[found[1]], _replace_origin(text, guide, uri)
        )

    # The values are filled in last: an issuer can begin like the guide's redirect URI.
    moved = _replace_origin(guide.configure, guide, uri)
    return QuickStart(
        name=guide.name,
        title=guide.title,
        install=guide.install,
        configure=_SETTING.sub(lambda line: line[1] + values[line[2]], moved),
        files=tuple(File(file.name, fill(file.text)) for file in guide.files),
        run=_replace_origin(guide.run, guide, uri),
        missing=guide.redirect_uris[0] if guide.redirect_uris and not uri else "",
    )


def _find_redirect_uri(guide: Guide, application: Application) -> str:
    """Return a registered redirect URI that the code can use: its own, or one with the same path."""
    registered, kind = application.redirect_uris, application.type
    for uri in guide.redirect_uris:
        if redirect_uris.matches(uri, registered, kind):
            return uri
    paths = {urlsplit(uri).path for uri in guide.redirect_uris}
    web = [uri for uri in registered if redirect_uris.get_origin(uri)]
    return next((uri for uri in web if urlsplit(uri).path in paths), "")


def _replace_origin(text: str, guide: Guide, uri: str) -> str:
    """Return a text of a guide with the origin of a redirect URI, and its port, instead of the guide's."""
    own = guide.redirect_uris[0] if guide.redirect_uris else ""
    origin, new_origin = redirect_uris.get_origin(own), redirect_uris.get_origin(uri)
    if not (origin and new_origin) or origin == new_origin:
        return text
    text = text.replace(origin, new_origin)
    port, new_port = urlsplit(own).port, urlsplit(uri).port
    return re.sub(rf"\b{port}\b", str(new_port), text) if port and new_port else text


register_card(Application, build_card)
