"""The form field for scopes on the operators' site."""

from itertools import groupby
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from identity.resources.models import Scope


def _by_resource() -> list[Any]:
    """Return the scopes of the tenant, grouped by resource."""
    scopes = Scope.objects.select_related("resource").order_by("resource__name", "resource_id", "name")
    return [
        (resource.name, [(str(scope.pk), _label(scope)) for scope in group])
        for resource, group in groupby(scopes, key=lambda scope: scope.resource)
    ]


def _label(scope: Scope) -> str:
    return f"{scope.name}: {scope.description}" if scope.description else scope.name


class ScopesForm(forms.Form):
    """A choice of scopes."""

    scope_ids = forms.MultipleChoiceField(
        label=_("Scopes"), required=False, choices=_by_resource, widget=forms.CheckboxSelectMultiple
    )
