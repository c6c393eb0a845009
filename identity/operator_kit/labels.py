"""Labels of columns, fields and choices, with abbreviations in capitals."""

import re
from typing import Final

from django.utils.text import capfirst

_ABBREVIATIONS: Final = {
    name.lower(): name
    for name in (
        "API", "CAPTCHA", "ID", "IDs", "IP", "JSON", "JWKS", "OIDC", "PKCE", "SMS", "SMTP", "SPA", "TLS",
        "TOTP", "TTL", "URI", "URIs", "URL", "URLs", "UTC",
    )
}  # fmt: skip
_WORD: Final = re.compile(rf"\b({'|'.join(_ABBREVIATIONS)})\b", re.IGNORECASE)


def get_label(text: object) -> str:
    """Return a text such as "is suspended" or "access token ttl" as a label."""
    spelled = _WORD.sub(lambda word: _ABBREVIATIONS[word[0].lower()], str(text))
    return capfirst(re.sub(r"^is ", "", spelled, flags=re.IGNORECASE))
