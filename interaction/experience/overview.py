"""What the overview of the sign-in experience says: a section for each tab."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.html import format_html

from identity.core import tenancy
from identity.operator_kit import badges
from identity.operator_kit.panels import Card
from interaction.experience import brand, forms, look_form, pictures, text_operations
from interaction.experience.models import SignInExperience

Line = tuple[str, Any]

_METHODS: Final = {"password": "Password", "verification_code": "Code"}
_WITH_CODE: Final = " or "


@dataclass(frozen=True, slots=True)
class Section:
    """The settings of one tab, as labels and values. ``edit_url`` is empty for those who may not edit.

    ``level`` is that of the heading.
    """

    title: str
    edit_url: str
    lines: list[Line]
    level: int = 2


def build_card(row: SignInExperience, urls: Mapping[str, str]) -> Card:
    """Return the card of the overview."""
    parts = {
        "look": ("Branding", _branding(row)),
        "ways": ("Methods", _methods(row)),
        "arrange": ("Order", _order(row)),
        "registration": ("Sign-up", _sign_up(row)),
        "passwords": ("Passwords", _flags(forms.PasswordsForm, row.password_policy)),
        "accounts": ("Account", _account(row)),
        "message": ("Messages", _messages(row)),
        "texts": ("Texts", _texts(row)),
    }
    sections = [Section(title, urls.get(name, ""), lines) for name, (title, lines) in parts.items()]
    return Card("admin/sections.html", sections)


def _branding(row: SignInExperience) -> list[Line]:
    page = format_html(
        '<a href="{}/sign-in" target="_blank" rel="noopener">Open the sign-in page</a>',
        tenancy.active().issuer,
    )
    links = {name: getattr(row, name) for name in ("terms_of_use_url", "privacy_policy_url")}
    return [
        ("Page", page),
        *describe_branding(row.branding, look_form.LookForm),
        *((_label(name), url) for name, url in links.items() if url),
        *([] if any(row.branding.values()) else [("Look", "Default theme")]),
    ]


def describe_branding(stored: Mapping[str, str], form: Any) -> list[Line]:
    """Return the layout, by its name in a form, and the pictures and colours that are set."""
    branding = pictures.add_addresses(stored)
    colours = ("primary_color", "dark_primary_color")
    layouts = dict(form.base_fields["layout"].choices)
    return [
        ("Layout", layouts.get(branding.get("layout", ""), layouts[""])),
        *(
            (_label(name), _swatch(branding[name]) if name in colours else _picture(branding[name]))
            for name in (*pictures.PICTURES, *colours)
            if branding.get(name)
        ),
    ]


def _methods(row: SignInExperience) -> list[Line]:
    return [
        (
            method["identifier"].capitalize(),
            _WITH_CODE.join(text for name, text in _METHODS.items() if method[name]).capitalize()
            or badges.yes_or_no(value=False),
        )
        for method in row.sign_in["methods"]
    ]


def _order(row: SignInExperience) -> list[Line]:
    return [
        ("Identifiers", ", ".join(row.kinds).capitalize()),
        ("First", "A code" if row.ways[0] == "verification_code" else "A password"),
    ]


def _sign_up(row: SignInExperience) -> list[Line]:
    if not row.sign_up["identifiers"]:
        return [("Registration", "Closed")]
    return [
        ("Asks for", ", ".join(row.sign_up["identifiers"]).capitalize()),
        ("Password", badges.yes_or_no(value=row.sign_up["password"])),
        ("Verified with a code", badges.yes_or_no(value=row.sign_up["verify"])),
        ("Checkbox for the terms", badges.yes_or_no(value=bool(row.documents_to_agree_to))),
    ]


def _account(row: SignInExperience) -> list[Line]:
    shown = ", ".join(name.replace("_", " ") for name in row.profile_fields)
    return [
        *_flags(forms.AccountsForm, row.account | row.social_sign_in),
        ("Profile", shown.capitalize() or "Name only"),
        ("Countries for text messages", " ".join(row.sms_countries) or "All"),
    ]


def _messages(row: SignInExperience) -> list[Line]:
    own = [str(key) for key in forms.MESSAGES if forms.find_template(key, row)["text"]]
    return [("Own texts", "\n".join(own) or "None: built-in texts, in the user's language")]


def _texts(row: SignInExperience) -> list[Line]:
    languages = ", ".join(text_operations.list_languages(row))
    return [("Own texts of pages", languages.capitalize() or "None: built-in texts")]


def _flags(form: Any, settings: Mapping[str, Any]) -> list[Line]:
    """Return the settings that have a number or a flag, with the labels of their form."""
    return [
        (field.label, badges.yes_or_no(value=value) if isinstance(value, bool) else str(value))
        for name, field in form.base_fields.items()
        if isinstance(value := settings.get(name), bool | int)
    ]


def _label(name: str) -> str:
    return str(look_form.LookForm.base_fields[name].label)


def _picture(url: str) -> str:
    return format_html('<img class="thumbnail" src="{}" alt="" referrerpolicy="no-referrer"> {}', url, url)


def _swatch(colour: str) -> str:
    """Return a colour, with the contrast of the text on it. The policy allows no inline style, but SVG."""
    text = "black" if brand.get_text_colour(colour) == "#000" else "white"
    return format_html(
        '<svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">'
        '<rect width="1" height="1" fill="{}"/></svg> '
        '{} <span class="quiet">{} text on it, contrast {}</span>',
        colour, colour, text, f"{brand.get_contrast(colour):.1f}",
    )  # fmt: skip
