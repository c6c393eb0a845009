"""The form of what a token is requested for."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from database import ids
from identity.organizations.models import Organization


class TargetForm(forms.Form):
    """An organization and an API resource."""

    organization_id = forms.CharField(
        max_length=256, required=False, label=_("Organization"), help_text=_("Its name or ID")
    )
    resource = forms.CharField(
        max_length=2048, required=False, label=_("API resource"),
        help_text=_("The indicator of the API resource"),
    )  # fmt: skip

    def clean_organization_id(self) -> str:
        """Return the id of the organization that is named, or an unknown text as it is.

        Raises:
            forms.ValidationError: several organizations have the name.

        """
        text = str(self.cleaned_data["organization_id"]).strip()
        if not text or ids.parse(text):
            return text
        found = list(Organization.objects.filter(name=text).values_list("pk", flat=True)[:2])
        if len(found) > 1:
            raise forms.ValidationError(gettext("Several organizations have this name. Enter the ID."))
        return str(found[0]) if found else text
