"""The form of what a token is requested for."""

from django import forms
from django.utils.translation import gettext_lazy as _


class TargetForm(forms.Form):
    """An organization and an API resource."""

    organization_id = forms.CharField(max_length=64, required=False, label=_("Organization ID"))
    resource = forms.CharField(
        max_length=2048, required=False, label=_("API resource"),
        help_text=_("The indicator of the API resource"),
    )  # fmt: skip
