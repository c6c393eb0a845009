"""The texts of a console page that are not translated."""

import re
from typing import Any

from django.apps import apps

from audit.events import Event
from audit.models import Entry
from identity.tenants.models import Tenant
from management.administrators import time_zones
from management.administrators.models import Administrator
from tests.support import pseudo_language

# Names of products, standards and formats, which are the same in every language.
NAMES = """
Gatehouse|OpenID Connect|OAuth|PKCE|JSON|CSV|UTC|API|URI|URL|ID|IP|Ctrl K|MachineToMachine
Traditional|SPA|Native|Protected|JWKS|HMAC|SMTP|SMS|CAPTCHA|TLS|WebP|PNG|SVG|JPEG|Google|GitHub
Apple|Microsoft|Facebook|Argon2id|bcrypt|Outbox (email)|Outbox (SMS)|hCaptcha|Cloudflare Turnstile
WeChat|Twilio|SendGrid|Mailgun|Amazon SES|Alibaba Cloud SMS|Alibaba Cloud Direct Mail|Logto|HTML
scrypt|STARTTLS|Firebase|Keycloak|Auth0|ES256|RS256|PS256|EdDSA|ES384|ES512|RS384|RS512|Apache|Django|Express
FastAPI|Flask|Next.js|nginx|Node|Passport|Spring Security|English|Deutsch|Español|Français|Português
Brasil|العربية|日本語|한국어|简体中文
""".strip().replace("\n", "|")
# Words of protocols and of configurations.
VALUES = "roles|groups|scope|none|us|eu"
_SHORT = 2  # letters
_OF_DJANGO = {"auth", "contenttypes", "sessions", "oauth2_provider"}
_MACHINE = re.compile(
    r"https?://\S*|\S+@\S+|/[\w/.:{}-]+|\b[0-9a-f-]{8,}\b|\b\w+[._:]\w[\w.:]*|\bv?\d[\d.,:]*\w*\b|\b[a-z]+_[a-z_]+\b"
)


def unmarked(answers: list[Any], data: set[str]) -> list[str]:
    """Return the texts of pages that are neither messages nor data nor names, each with its page."""
    said = [
        (text, answer.request["PATH_INFO"])
        for answer in answers
        if answer.get("Content-Type", "").startswith("text/html")
        for text in pseudo_language.unmarked(answer.content.decode())
    ]
    known = _pattern(data, "\n".join(text for text, _ in said))
    found: dict[str, str] = {}
    for text, path in said:
        rest = _MACHINE.sub(" ", known.sub(" ", text))
        if re.search(r"[^\W\d_]{2}", rest):
            found.setdefault(text, path)
    return [f"{path}: {text}" for text, path in found.items()]


def _pattern(data: set[str], pages: str) -> re.Pattern[str]:
    """Match the data that is on pages. A pattern of all that a run has stored takes seconds to compile."""
    longest_first = sorted((text for text in data if text in pages), key=len, reverse=True)
    either = "|".join(rf"(?<!\w)(?<!\w\.){re.escape(text)}(?!\w|\.\w)" for text in longest_first)
    return re.compile(either or r"(?!)")


def data_of(world: Any) -> set[str]:
    """The texts that the rows of a tenant store, and other names."""
    found = {world.tenant.name, world.tenant.slug, *(event.partition(".")[0] for event in Event.values)}
    for region, names in time_zones.get_regions():
        found |= {region, *(name for _, name in names)}
    with world.active():
        for model in apps.get_models():
            if not model._meta.managed or model._meta.app_label in _OF_DJANGO:
                continue
            rows = model._default_manager.order_by("-pk")
            rows = rows.filter(tenant_id=world.tenant.pk) if model is Entry else rows
            # Other tests leave many tenants and administrators, and the first one is on many pages.
            for row in rows if model in {Tenant, Administrator} else rows[:300]:
                _collect([getattr(row, field.attname) for field in model._meta.concrete_fields], found)
    return {text for text in found if len(text) > _SHORT} | {*NAMES.split("|"), *VALUES.split("|")}


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, str):
        found.update(line.strip() for line in value.splitlines())
    elif isinstance(value, dict):
        _collect([*value, *value.values()], found)
    elif isinstance(value, list | tuple):
        for one in value:
            _collect(one, found)
