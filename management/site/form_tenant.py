"""The tenant that a form was rendered for. A hidden field of every form names it.

The chosen tenant is stored in the session, and another tab may have changed it since the page was opened. A
form is refused if its tenant is not the chosen one, so input for one tenant never changes another.
"""

from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from identity.http.responses import allow_framing
from identity.operator_kit.kept_input import TENANT_FIELD
from management.site import chosen_tenant


def is_of_another_tenant(request: HttpRequest) -> bool:
    """Return whether a form was sent for another tenant than the chosen one."""
    chosen = request.tenant.pk  # type: ignore[attr-defined]  # set by the middleware of the site
    return request.method == "POST" and request.POST.get(TENANT_FIELD) != chosen


def refusal(request: HttpRequest) -> HttpResponse:
    """Return a page that says that nothing was done, and offers to choose the form's tenant."""
    tenant_id = request.POST.get(TENANT_FIELD, "").replace("\0", "")
    other = chosen_tenant.get_managed(request.user).filter(pk=tenant_id).first()  # type: ignore[arg-type]
    context = {
        "title": gettext("This form belongs to another tenant"), "other": other, "back": request.path,
    }  # fmt: skip
    if request.path.partition("/preview/")[1]:
        response = render(request, "admin/preview_of_other_tenant.html", context, status=409)
        allow_framing(response)
        return response
    return render(request, "admin/other_tenant.html", {**site.each_context(request), **context}, status=409)
