"""The template tag for a tenant's own texts, loaded as ``own_texts``."""

import re
from typing import Any, Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register: Final = template.Library()
_PLACEHOLDER: Final = re.compile(r"(\{tenant\}|\{application\})")


@register.simple_tag(takes_context=True)
def own_text(context: template.Context, key: str) -> SafeString:
    """Return the tenant's text for a key as HTML; an empty string if the tenant has none.

    Without an application, its name is that of the tenant, for which the user signs in to the account page.
    """
    brand: dict[str, Any] = context["brand"]
    text = brand["texts"].get(key, "")
    names = {"{tenant}": brand["name"], "{application}": (context.get("application") or brand)["name"]}
    parts = ((_show(part, names),) for part in _PLACEHOLDER.split(text))
    return format_html_join("", "{}", parts)


def _show(part: str, names: dict[str, str]) -> str:
    return format_html("<bdi>{}</bdi>", names[part]) if part in names else part
