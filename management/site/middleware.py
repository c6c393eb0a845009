"""Middleware of the operators' site, which runs for no other path."""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import unquote

from django.contrib.auth import middleware as authentication
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import get_language, override

from audit import context
from identity.core import tenancy
from identity.http import bodies
from identity.http.areas import is_of_site
from identity.http.languages import name_language
from management.administrators import languages, time_zones
from management.site import chosen_tenant, current_caller, idle_sessions, two_step


class _SiteOnly(MiddlewareMixin):
    """Runs only for paths of the operators' site, so it costs other requests nothing."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_of_site(request.path_info):
            return super().__call__(request)  # type: ignore[return-value]
        return self.get_response(request)  # type: ignore[return-value]


class SessionMiddleware(_SiteOnly, sessions.SessionMiddleware):
    """Sessions of administrators."""


class AuthenticationMiddleware(_SiteOnly, authentication.AuthenticationMiddleware):
    """The administrator of a session."""


class MessageMiddleware(_SiteOnly, messages.MessageMiddleware):
    """Messages on the page after a form."""


class OperatorMiddleware:
    """Activates the tenant that the administrator chose, and the administrator's language and time zone.

    Without a choice, no tenant is active, and every query of a tenant's rows raises an error. A redirect
    after a form that was sent has the status 303, also where Django's views answer with 302.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request.

        Raises:
            Http404: the path is below a tenant's prefix, where there is no operators' site.
            BadRequest: the query string holds a NUL, which PostgreSQL refuses.

        """
        if not is_of_site(request.path_info):
            return self.get_response(request)
        response = self._serve(request)
        if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
            response.status_code = HTTPStatus.SEE_OTHER
        return response

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponseBase | None:
        """Wait for a large body, and check again who sends it, because rights may be removed meanwhile."""
        if not is_of_site(request.path_info) or not request.user.is_authenticated:
            return None
        if not bodies.receive(request):
            return None
        is_signed_in = current_caller.read_again(request)
        if is_signed_in and chosen_tenant.current(request) != request.tenant:  # type: ignore[attr-defined]
            return HttpResponseRedirect(reverse("admin:choose-tenant"))
        return None

    def _serve(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in unquote(request.META.get("QUERY_STRING", "")):
            raise BadRequest("NUL in the query string")
        if tenancy.active_id() != tenancy.DEFAULT_ID:
            raise Http404
        tenant, zone, language = None, None, get_language()
        if request.user.is_authenticated:
            idle_sessions.end_if_idle(request)
            current_caller.end_session_without_proof(request)
        if request.user.is_authenticated:
            context.set_actor(administrator_id=request.user.pk)
            zone = time_zones.find(request.user.time_zone)
            language = languages.find(request.user) or language
            if two_step.has_to_be_set_up(request):
                return HttpResponseRedirect(reverse("admin:two-step"))
            tenant = chosen_tenant.current(request)
        request.tenant = tenant  # type: ignore[attr-defined]
        in_tenant = tenancy.using(tenant.to_active()) if tenant else tenancy.without_tenant()
        with in_tenant, timezone.override(zone), override(language):
            response = self.get_response(request)
            name_language(response)
            return response
