"""Choosing among the scopes of a tenant, on the operators' site."""

from itertools import groupby
from typing import Any

from django import forms

from identity.resources.models import Scope


def _by_resource() -> list[Any]:
    """Return the scopes of the tenant, under the names of their resources."""
    scopes = Scope.objects.select_related("resource").order_by("resource__name", "resource_id", "name")
    return [
        (resource.name, [(str(scope.pk), _told(scope)) for scope in of_it])
        for resource, of_it in groupby(scopes, key=lambda scope: scope.resource)
    ]


def _told(scope: Scope) -> str:
    return f"{scope.name}: {scope.description}" if scope.description else scope.name


class ScopesForm(forms.Form):
    """What is held of the tenant's API resources."""

    scope_ids = forms.MultipleChoiceField(
        label="Scopes", required=False, choices=_by_resource, widget=forms.CheckboxSelectMultiple
    )
