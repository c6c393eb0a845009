"""The page on which administrators choose the time zone of the times that they see."""

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from identity.core import tenancy
from identity.operator_kit.operations import Operation
from management.administrators import time_zones
from management.administrators.models import Administrator

_SAYS: Final = (
    "Times on this site are shown in this time zone, and days that you filter by begin and end in it. The "
    "API, exports as CSV and the days of the dashboard's charts stay in UTC."
)


def _get_choices() -> list[Any]:
    return [("", "UTC"), *time_zones.get_regions()]


class TimeZoneForm(forms.Form):
    """The name of a time zone."""

    time_zone = forms.ChoiceField(choices=_get_choices, required=False)


_OPERATION: Final = Operation(
    "time-zone", "Time zone", _SAYS, lambda _: "", form=TimeZoneForm, initial=lambda _: {"time_zone": ""}
)


@require_http_methods(["GET", "POST"])
def own_time_zone(request: HttpRequest) -> HttpResponse:
    """Show the form, or change the time zone."""
    administrator = Administrator.objects.get(username=request.user.get_username())
    form = TimeZoneForm(request.POST or None, initial={"time_zone": administrator.time_zone})
    is_sent = request.method == "POST"
    if is_sent and form.is_valid():
        with tenancy.using(tenancy.DEFAULT):
            time_zones.change(administrator, form.cleaned_data["time_zone"])
        messages.success(request, "Your time zone is changed.")
        return HttpResponseRedirect(reverse("admin:own-time-zone"), status=303)
    context: dict[str, Any] = {"title": _OPERATION.label, "operation": _OPERATION, "form": form}
    context = {**site.each_context(request), **context}
    return render(request, "admin/operation.html", context, status=400 if is_sent else 200)
