"""What the sign-in page would look like: a drawing, since a draft has no page of its own yet."""

from collections.abc import Mapping
from typing import Any, Final

from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.experience.brand import text_on
from interaction.experience.models import SignInExperience

_LABELS: Final = {"username": "Username", "email": "Email", "phone": "Phone"}
_CODE: Final = "123456"
_OURS: Final = {"light": "#3a5bc7", "dark": "#9db1f5"}
_GROUNDS: Final = {
    "light": {"page": "#f4f5f7", "card": "#ffffff", "text": "#1a1d23", "line": "#d3d7df", "quiet": "#5a6170"},
    "dark": {"page": "#0e1014", "card": "#171a20", "text": "#eceef2", "line": "#3a414d", "quiet": "#a4acb9"},
}


def of(draft: SignInExperience) -> dict[str, Any]:
    """Return what a drawing of the pages shows: two themes of signing in, and what registration asks."""
    colours = {
        "light": draft.branding["primary_color"],
        "dark": draft.branding["dark_primary_color"] or draft.branding["primary_color"],
    }
    themes = []
    for theme, ground in _GROUNDS.items():
        brand = colours[theme] or _OURS[theme]
        logo = (
            draft.branding["dark_logo_url" if theme == "dark" else "logo_url"] or draft.branding["logo_url"]
        )
        themes.append({"name": theme, **ground, "brand": brand, "on_brand": text_on(brand), "logo": logo})
    rows = _rows(draft)
    return {
        "name": draft.tenant.name, "themes": themes, "rows": rows, "height": 96 + 44 * len(rows) + 28,
        "registration": _asked(draft),
    }  # fmt: skip


def _rows(draft: SignInExperience) -> list[dict[str, Any]]:
    """Return what stands below one another, each with the height at which it begins."""
    by_password = [kind for kind in _LABELS if draft.takes_password_for(kind)]
    by_code = [kind for kind in _LABELS if draft.takes_code_for(kind)]
    drawn: list[tuple[str, str]] = []
    if by_password:
        label = " or ".join(_LABELS[kind] if not at else kind for at, kind in enumerate(by_password))
        drawn += [("field", label), ("field", "Password"), ("primary", "Sign in")]
    if by_code:
        drawn.append(("button", "Sign in with a code"))
    drawn += [("button", f"Continue with {name}") for name in _providers()]
    if not drawn:
        drawn.append(("text", "Signing in is switched off here."))
    if draft.sign_up["identifiers"]:
        drawn.append(("text", "New here? Create an account"))
    return [
        {"kind": kind, "text": text, "y": 96 + 44 * at, "base": 96 + 44 * at + 23}
        for at, (kind, text) in enumerate(drawn)
    ]


def _providers() -> list[str]:
    enabled = Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True)
    found = [registry.find(one) for one in sorted(set(enabled.values_list("connector_id", flat=True)))]
    return [provider.name for provider in found if provider]


def _asked(draft: SignInExperience) -> str:
    asked = [_LABELS[kind] for kind in draft.sign_up["identifiers"]]
    if not asked:
        return "Nobody can register."
    if draft.sign_up["password"]:
        asked.append("Password")
    proven = " Email and phone are proven with a code." if draft.sign_up["verify"] else ""
    return f"Registration asks for: {', '.join(asked)}.{proven}"


def message(typed: Mapping[str, str], *, name: str) -> dict[str, str]:
    """Return a message with its places filled in."""
    filled = {part: text.replace("{code}", _CODE).replace("{name}", name) for part, text in typed.items()}
    return {"subject": filled.get("subject", ""), "text": filled["text"], "html": filled.get("html", "")}
