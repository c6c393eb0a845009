"""The operators' form of the branding."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from interaction.experience import pictures
from interaction.experience.brand import COLOUR
from interaction.experience.images import formats


def _url_field(label: Any) -> forms.CharField:
    return forms.CharField(
        required=False, max_length=2048, label=label, help_text=_("An https URL, or empty")
    )


_UPLOAD: Final = "upload_"
_LAYOUTS: Final = (("split", _("Split: a coloured half beside the form")), ("plain", _("Plain: no card")))


def _picture_field(label: Any) -> forms.FileField:
    widget = forms.FileInput({"accept": "image/png,image/webp,image/svg+xml,.png,.webp,.svg"})
    text = _("PNG, WebP or SVG, at most 256 KiB and 2048 pixels wide and high")
    return forms.FileField(required=False, label=label, widget=widget, help_text=text, allow_empty_file=True)


def _colour_field(label: Any, unset: str) -> forms.CharField:
    """Return a field for a colour. ``unset`` is the colour that the pages use if the field is empty."""
    attributes = {"data-colour": unset, "pattern": COLOUR.pattern, "spellcheck": "false"}
    widget = forms.TextInput(attributes)
    return forms.CharField(
        required=False, max_length=7, label=label, help_text=_("For example #0a84ff"), widget=widget
    )


class BrandingForm(forms.Form):
    """The look of the pages."""

    logo_url = _url_field(_("Logo"))
    upload_logo_url = _picture_field(_("Upload a logo"))
    dark_logo_url = _url_field(_("Logo on a dark background"))
    upload_dark_logo_url = _picture_field(_("Upload a logo for dark backgrounds"))
    favicon = _url_field(_("Icon"))
    upload_favicon = _picture_field(_("Upload an icon"))
    primary_color = _colour_field(_("Colour"), "#3a5bc7")
    dark_primary_color = _colour_field(_("Colour on a dark background"), "#4a69d6")
    layout = forms.ChoiceField(
        label=_("Layout"),
        required=False,
        choices=[("", pgettext_lazy("layout", "Card")), *_LAYOUTS],
        widget=forms.RadioSelect,
    )

    def add_error(self, field: str | None, error: Any) -> None:
        """Add an error to a field. The error of an uploaded picture goes to the field of its file."""
        if field in pictures.PICTURES and self.cleaned_data.get(_UPLOAD + field):
            field = _UPLOAD + field
        super().add_error(field, error)


class LookForm(BrandingForm):
    """The look of the pages, and the links on them."""

    terms_of_use_url = _url_field(_("Terms of use"))
    privacy_policy_url = _url_field(_("Privacy policy"))


class OwnLookForm(BrandingForm):
    """The look of the pages during a sign-in to one application or organization."""

    layout = forms.ChoiceField(
        label=_("Layout"),
        required=False,
        choices=[("", _("Same as the tenant")), ("card", pgettext_lazy("layout", "Card")), *_LAYOUTS],
        widget=forms.RadioSelect,
    )


def read_branding(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the branding of a form, with its uploads as data URLs."""
    branding = {name: fields[name] for name in BrandingForm.base_fields if not name.startswith(_UPLOAD)}
    for name in pictures.PICTURES:
        if file := fields[_UPLOAD + name]:
            branding[name] = formats.build_data_url("", file.read())
    return branding
