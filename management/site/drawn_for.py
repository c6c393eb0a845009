"""The tenant that a form was drawn for, which travels with the form.

The tenant that an administrator works in is kept in the session, and another tab may have changed it
since a page was opened. What was typed for one tenant is then never done in another.
"""

from typing import Final

from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from management.site import choice

FIELD: Final = "drawn_for"


def is_of_another_tenant(request: HttpRequest) -> bool:
    """Tell whether a form was sent that was not drawn for the tenant that is chosen now."""
    return request.method == "POST" and request.POST.get(FIELD) != request.tenant.pk  # type: ignore[attr-defined]


def refusal(request: HttpRequest) -> HttpResponse:
    """Say that nothing was done, and offer the way back to the tenant of the form."""
    drawn_for = request.POST.get(FIELD, "").replace("\0", "")
    other = choice.managed_by(request.user).filter(pk=drawn_for).first()  # type: ignore[arg-type]
    context = {"title": "This form belongs to another tenant", "other": other, "back": request.path}
    if request.path.partition("/preview/")[1]:
        response = render(request, "admin/not_drawn_for.html", context, status=409)
        response.framed = True  # type: ignore[attr-defined]
        return response
    return render(request, "admin/other_tenant.html", {**site.each_context(request), **context}, status=409)
