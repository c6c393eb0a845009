"""What the overview of the sign-in experience says: a section for each tab."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext, pgettext

from identity.core import tenancy
from identity.core.text_lists import join
from identity.operator_kit import badges
from identity.operator_kit.panels import Card, Values
from identity.operator_kit.texts import Text
from identity.users.identifiers import Kind
from identity.users.profile_admin import get_label
from interaction.experience import brand, factors_admin, forms, look_form, pictures, text_operations
from interaction.experience.forms import KINDS
from interaction.experience.models import SignInExperience

Line = tuple[Text, Any]


def build_card(row: SignInExperience, urls: Mapping[str, str]) -> Card:
    """Return the card of the overview."""
    parts = {
        "look": (gettext("Branding"), _branding(row)),
        "ways": (gettext("Methods"), _methods(row)),
        "arrange": (pgettext("sequence", "Order"), _order(row)),
        "registration": (gettext("Sign-up"), _sign_up(row)),
        "passwords": (gettext("Passwords"), _flags(forms.PasswordsForm, row.password_policy)),
        "factors": (gettext("Second factors"), factors_admin.describe(row)),
        "accounts": (gettext("Account"), _account(row)),
        "message": (gettext("Messages"), _messages(row)),
        "texts": (gettext("Texts"), _texts(row)),
    }
    sections = [Values(title, urls.get(name, ""), lines) for name, (title, lines) in parts.items()]
    return Card("admin/sections.html", sections)


def _branding(row: SignInExperience) -> list[Line]:
    page = format_html(
        '<a href="{}/sign-in" target="_blank" rel="noopener">{}</a>',
        tenancy.active().issuer,
        gettext("Open the sign-in page"),
    )
    links = {name: getattr(row, name) for name in ("terms_of_use_url", "privacy_policy_url")}
    return [
        (gettext("Page"), page),
        *describe_branding(row.branding, look_form.LookForm),
        *((_label(name), url) for name, url in links.items() if url),
        *([] if any(row.branding.values()) else [(pgettext("appearance", "Look"), gettext("Default theme"))]),
    ]


def describe_branding(stored: Mapping[str, str], form: Any) -> list[Line]:
    """Return the layout, by its name in a form, and the pictures and colours that are set."""
    branding = pictures.add_addresses(stored)
    colours = ("primary_color", "dark_primary_color")
    layouts = dict(form.base_fields["layout"].choices)
    return [
        (gettext("Layout"), layouts.get(branding.get("layout", ""), layouts[""])),
        *(
            (_label(name), _swatch(branding[name]) if name in colours else _picture(branding[name]))
            for name in (*pictures.PICTURES, *colours)
            if branding.get(name)
        ),
    ]


def _methods(row: SignInExperience) -> list[Line]:
    return [
        (KINDS[Kind(method["identifier"])], _describe_method(method) or badges.yes_or_no(value=False))
        for method in row.sign_in["methods"]
    ]


def _describe_method(method: Mapping[str, Any]) -> str:
    if method["password"] and method["verification_code"]:
        return gettext("Password or code")
    if method["verification_code"]:
        return gettext("Code")
    return gettext("Password") if method["password"] else ""


def _order(row: SignInExperience) -> list[Line]:
    return [
        (gettext("Identifiers"), _list_kinds(row.kinds)),
        (
            pgettext("of two ways", "First"),
            gettext("A code") if row.ways[0] == "verification_code" else gettext("A password"),
        ),
    ]


def _list_kinds(kinds: Iterable[str]) -> str:
    return join(KINDS[Kind(kind)] for kind in kinds)


def _sign_up(row: SignInExperience) -> list[Line]:
    if not row.sign_up["identifiers"]:
        return [(gettext("Registration"), gettext("Closed"))]
    return [
        (gettext("Asks for"), _list_kinds(row.sign_up["identifiers"])),
        (gettext("Password"), badges.yes_or_no(value=row.sign_up["password"])),
        (gettext("Verified with a code"), badges.yes_or_no(value=row.sign_up["verify"])),
        (gettext("Checkbox for the terms"), badges.yes_or_no(value=bool(row.documents_to_agree_to))),
    ]


def _account(row: SignInExperience) -> list[Line]:
    shown = join(get_label(name) for name in row.profile_fields)
    return [
        *_flags(forms.AccountsForm, row.account | row.social_sign_in),
        (gettext("Profile"), shown or gettext("Name only")),
        (gettext("Countries for text messages"), " ".join(row.sms_countries) or pgettext("countries", "All")),
    ]


def _messages(row: SignInExperience) -> list[Line]:
    own = [capfirst(str(key)) for key in forms.MESSAGES if forms.find_template(key, row)["text"]]
    return [(gettext("Own texts"), "\n".join(own) or gettext("None: built-in texts, in the user's language"))]


def _texts(row: SignInExperience) -> list[Line]:
    languages = join(text_operations.list_languages(row))
    return [(gettext("Own texts of pages"), capfirst(languages) or gettext("None: built-in texts"))]


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
    is_black = brand.get_text_colour(colour) == "#000"
    text = (
        gettext("black text on it, contrast %(contrast)s")
        if is_black
        else gettext("white text on it, contrast %(contrast)s")
    )
    return format_html(
        '<svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">'
        '<rect width="1" height="1" fill="{}"/></svg> '
        '{} <span class="quiet">{}</span>',
        colour, colour, text % {"contrast": f"{brand.get_contrast(colour):.1f}"},
    )  # fmt: skip
