"""The page on which administrators choose the language of the site and the time zone of its times."""

from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from identity.core import tenancy
from identity.operator_kit.operations import Operation
from management.administrators import languages, preferences, time_zones
from management.site.proof_form import get_administrator

_DESCRIPTION: Final = _(
    "The site and mails to you are in this language. Times on the site are shown in this time zone, and days "
    "that you filter by begin and end in it. The API and exports as CSV stay in English and in UTC, and the "
    "days of the dashboard's charts in UTC."
)


def _get_languages() -> list[Any]:
    return [("", _("Language of the browser")), *settings.LANGUAGES]


def _get_zones() -> list[Any]:
    return [("", "UTC"), *time_zones.get_regions()]


class PreferencesForm(forms.Form):
    """A language, and the name of a time zone."""

    language = forms.ChoiceField(label=_("Language"), choices=_get_languages, required=False)
    time_zone = forms.ChoiceField(label=_("Time zone"), choices=_get_zones, required=False)


_OPERATION: Final = Operation(
    "preferences",
    _("Language and time zone"),
    _DESCRIPTION,
    lambda _: "",
    form=PreferencesForm,
    initial=lambda _: {"language": "", "time_zone": ""},
)


@require_http_methods(["GET", "POST"])
def own_preferences(request: HttpRequest) -> HttpResponse:
    """Show the form, or change the language and the time zone."""
    administrator = get_administrator(request)
    current = {"language": administrator.language, "time_zone": administrator.time_zone}
    is_sent = request.method == "POST"
    # The form of a node of 0.2.0 has no language.
    form = PreferencesForm({**current, **request.POST.dict()} if is_sent else None, initial=current)
    if is_sent and form.is_valid():
        with tenancy.using(tenancy.DEFAULT):
            preferences.change(administrator, **form.cleaned_data)
        with languages.using(administrator):
            messages.success(request, gettext("Your language and time zone are saved."))
        return HttpResponseRedirect(reverse("admin:own-preferences"), status=303)
    context: dict[str, Any] = {"title": _OPERATION.label, "operation": _OPERATION, "form": form}
    context = {**site.each_context(request), **context}
    return render(request, "admin/operation.html", context, status=400 if is_sent else 200)
