"""The form of rows that have a name and a description."""

from django import forms
from django.utils.translation import gettext_lazy as _


class NameForm(forms.Form):
    """A name and a description."""

    name = forms.CharField(label=_("Name"), max_length=256)
    description = forms.CharField(
        label=_("Description"), required=False, max_length=1024, widget=forms.Textarea({"rows": 2})
    )
