"""What the operators' site needs around its views, and no other path ever runs."""

from collections.abc import Callable
from urllib.parse import unquote

from django.contrib.auth import middleware as authentication
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from audit import context
from identity.core import tenancy
from management.site import choice, idleness, two_step
from management.site.paths import is_of_site


class _OnlyBelowTheSite(MiddlewareMixin):
    """Steps aside everywhere else: protocol and pages pay for none of it."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request."""
        if is_of_site(request):
            return super().__call__(request)  # type: ignore[return-value]
        return self.get_response(request)  # type: ignore[return-value]


class SessionMiddleware(_OnlyBelowTheSite, sessions.SessionMiddleware):
    """Sessions of administrators."""


class AuthenticationMiddleware(_OnlyBelowTheSite, authentication.AuthenticationMiddleware):
    """The administrator of a session."""


class MessageMiddleware(_OnlyBelowTheSite, messages.MessageMiddleware):
    """What the page after a form says."""


class OperatorMiddleware:
    """Works inside the tenant that the administrator chose, and inside none before.

    Without a choice no tenant is active, so that a look-up that forgets to ask for one raises.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request; below a tenant's prefix there is no such site.

        Raises:
            Http404: the path names a tenant.
            BadRequest: the query string holds a NUL, which no database can look for.

        """
        if not is_of_site(request):
            return self.get_response(request)
        if "\0" in unquote(request.META.get("QUERY_STRING", "")):
            raise BadRequest("NUL in the query string")
        if tenancy.active_id() != tenancy.DEFAULT_ID:
            raise Http404
        tenant = None
        if request.user.is_authenticated:
            idleness.end_if_idle(request)
        if request.user.is_authenticated:
            context.act_as(administrator_id=request.user.pk)
            if two_step.has_to_be_set_up(request):
                return HttpResponseRedirect(reverse("admin:two-step"))
            tenant = choice.current(request)
        request.tenant = tenant  # type: ignore[attr-defined]
        with tenancy.using(tenant.to_active()) if tenant else tenancy.nowhere():
            return self.get_response(request)
