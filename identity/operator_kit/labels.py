"""Labels of columns, fields and choices, with abbreviations in capitals."""

import re
from typing import Final

from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop

_ABBREVIATIONS: Final = {
    name.lower(): name
    for name in (
        "API", "CAPTCHA", "ID", "IDs", "IP", "JSON", "JWKS", "MFA", "OIDC", "PKCE", "SMS", "SMTP", "SPA",
        "TLS", "TOTP", "TTL", "URI", "URIs", "URL", "URLs", "UTC",
    )
}  # fmt: skip
# The labels of columns that most models have.
_COMMON: Final = (gettext_noop("Created"), gettext_noop("Updated"), gettext_noop("ID"))
# The labels of columns that people call by another name.
_RENAMED: Final = {
    "Admin": gettext_noop("Administrator"),
    "Auth time": gettext_noop("Signed in at"),
    "Last login": gettext_noop("Last sign-in"),
    "Last sign in": gettext_noop("Last sign-in"),
    "Logo URL": gettext_noop("Logo for applications"),
    "Login count": gettext_noop("Number of sign-ins"),
    "MFA required": gettext_noop("Two factors required"),
    "Required acr": gettext_noop("Required strength of the sign-in (acr)"),
    "Self registered": gettext_noop("Registered by the user"),
    "Superuser status": gettext_noop("Manages every tenant"),
}
_WORD: Final = re.compile(rf"\b({'|'.join(_ABBREVIATIONS)})\b", re.IGNORECASE)


def get_label(text: object) -> str:
    """Return a text such as "is suspended" or "access token ttl" as a label, in the active language.

    The names of columns and choices are English. ``gettext_noop`` marks their labels in an ``admin`` module.
    """
    spelled = _WORD.sub(lambda word: _ABBREVIATIONS[word[0].lower()], str(text))
    label = capfirst(re.sub(r"^is ", "", spelled, flags=re.IGNORECASE))
    return gettext(_RENAMED.get(label, label)) if label else ""
