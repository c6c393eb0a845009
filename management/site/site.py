"""The operators' site: Django's admin for one tenant at a time, whose changes are made by the services."""

from functools import wraps
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite, site
from django.contrib.auth import REDIRECT_FIELD_NAME, logout
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from identity.operator_kit import kept_input, secrets_view
from identity.users.hashing_views import hashes_password
from management.administrators import mail, sign_in
from management.administrators.models import Administrator
from management.site import (
    chosen_tenant,
    confirmation,
    dashboard,
    form_tenant,
    invitation,
    navigation,
    new_passkey,
    own_email,
    own_pages,
    own_passkeys,
    own_password,
    own_preferences,
    passkey_sign_in,
    recovery,
    request_entries,
    search,
    single_sign_on,
    two_step,
)
from management.site.sign_in import SecondStep, SignIn

# Pages of Django's admin that are not tenant-aware and do not use the services.
_LEFT_OUT: Final = {
    "password_change", "password_change_done", "autocomplete", "view_on_site", "app_list", "jsi18n",
}  # fmt: skip
_MAX_TENANTS: Final = 100


class OperatorSite(AdminSite):
    """Shows only pages with a section: admin pages of other packages are not tenant-aware."""

    site_header = "Gatehouse"
    site_title = "Gatehouse"
    index_title = _("Dashboard")
    site_url = None
    index_template = "admin/index.html"

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register a model's pages, if they have a section of this site."""
        if getattr(admin_class, "section", None) in navigation.SECTIONS:
            super().register(model_or_iterable, admin_class, **options)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Return the site's own URLs, and Django's without those that bypass tenants or services."""
        inherited = [url for url in super().get_urls() if getattr(url, "name", None) not in _LEFT_OUT]
        return [
            path("tenant/", super().admin_view(_choose_tenant), name="choose-tenant"),
            path("password/", super().admin_view(own_password.own_password), name="own-password"),
            path("login/code/", self.second_step, name="second-step"),
            path("preferences/", super().admin_view(own_preferences.own_preferences), name="own-preferences"),
            path("time-zone/", super().admin_view(own_preferences.own_preferences)),  # for bookmarks
            path("email/", super().admin_view(own_email.own_email), name="own-email"),
            path("email/<str:token>/", super().admin_view(own_email.confirm), name="confirm-email"),
            path("login/provider/", single_sign_on.start, name="provider"),
            path("login/provider/callback/", single_sign_on.callback, name="provider-callback"),
            path("single-sign-on/", super().admin_view(single_sign_on.own_account), name="single-sign-on"),
            path("recover/", recovery.ask, name="recover"),
            path("recover/new/", recovery.set_password, name="new-password"),
            path("recover/<int:pk>/<str:token>/", recovery.follow, name="follow-recovery"),
            path("invitation/", invitation.accept, name="invitation"),
            path("invitation/<str:token>/", invitation.follow, name="follow-invitation"),
            path("login/passkey/options/", passkey_sign_in.options, name="passkey-options"),
            path("login/passkey/", passkey_sign_in.sign_in, name="passkey-sign-in"),
            *self._get_passkey_urls(),
            path("confirm/", super().admin_view(confirmation.confirm), name="confirm"),
            path("two-step/", super().admin_view(two_step.two_step), name="two-step"),
            path("two-step/codes/", super().admin_view(two_step.renew_codes), name="recovery-codes"),
            path("two-step/remove/", super().admin_view(two_step.remove), name="remove-two-step"),
            path(
                "shown-once/<uuid:shown_id>/done/", super().admin_view(_stop_showing), name="shown-once-done"
            ),
            path("why/", self.admin_view(request_entries.why), name="why"),
            path("search/", self.admin_view(search.search), name="search"),
            *inherited,
        ]

    def _get_passkey_urls(self) -> list[URLPattern]:
        pages = (
            ("", own_passkeys.own_passkeys, "own-passkeys"),
            ("new/", own_passkeys.begin, "add-passkey"),
            ("new/options/", new_passkey.options, "new-passkey-options"),
            ("new/store/", new_passkey.store, "new-passkey"),
            ("<uuid:passkey_id>/rename/", own_passkeys.rename, "rename-passkey"),
            ("<uuid:passkey_id>/remove/", own_passkeys.remove, "remove-passkey"),
        )
        return [path(f"passkeys/{rest}", super(OperatorSite, self).admin_view(view), name=name)
                for rest, view, name in pages]  # fmt: skip

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Require a chosen tenant for all views but sign-out, and refuse forms of another tenant."""
        inner = super().admin_view(view, cacheable)
        if view == self.logout:
            return inner

        @wraps(inner)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if self.has_permission(request) and request.tenant is None:  # type: ignore[attr-defined]
                next_url = request.get_full_path() if request.method == "GET" else request.path
                query = urlencode({REDIRECT_FIELD_NAME: next_url})
                return HttpResponseRedirect(f"{reverse('admin:choose-tenant')}?{query}")
            if not self.has_permission(request) and (form_url := kept_input.keep(request)):
                messages.info(request, gettext("What you typed is stored for 15 minutes. Nothing was saved."))
                return redirect_to_login(form_url, reverse("admin:login"))
            if self.has_permission(request) and form_tenant.is_of_another_tenant(request):
                return form_tenant.refusal(request)
            return inner(request, *args, **kwargs)

        return wrapped

    @hashes_password()
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Sign an administrator in."""
        request.current_app = self.name
        context = {
            **self.each_context(request),
            "title": gettext("Sign in"),
            "app_path": request.get_full_path(),
            "passkey": passkey_sign_in.describe(),
        }
        return never_cache(SignIn.as_view(next_page="admin:index", extra_context=context))(request)

    def second_step(self, request: HttpRequest) -> Any:
        context = {
            **self.each_context(request),
            "title": gettext("Sign in"),
            "app_path": request.get_full_path(),
        }
        return never_cache(SecondStep.as_view(extra_context=context))(request)

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """End the session, which also invalidates copies of its cookie."""
        if request.method == "POST":
            if isinstance(request.user, Administrator):
                sign_in.record_sign_out(request.user)
            logout(request)
            messages.success(request, gettext("You are signed out."))
        return HttpResponseRedirect(reverse("admin:login"))

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the dashboard of the tenant."""
        content = dashboard.content(request.user, request.GET.get("days", ""))
        return super().index(request, {**content, **(extra_context or {})})

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return what every page's template needs."""
        more = {"has_mail": mail.is_configured(), "provider": settings.ADMIN_OIDC.label}
        return {**super().each_context(request), **more, "own_pages": own_pages.get_own_pages()}

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the sections of the sidebar."""
        return navigation.build(request, self._registry.values())


@require_safe
def entrance(request: HttpRequest) -> HttpResponse:
    """Redirect from the path without the trailing slash."""
    return HttpResponseRedirect(reverse("admin:index"))


def _get_next_url(request: HttpRequest) -> str:
    next_url = request.POST.get(REDIRECT_FIELD_NAME) or request.GET.get(REDIRECT_FIELD_NAME, "")
    is_own = url_has_allowed_host_and_scheme(next_url, allowed_hosts=None)
    return next_url if is_own else reverse("admin:index")


@require_POST
def _stop_showing(request: HttpRequest, shown_id: UUID) -> HttpResponse:
    """Delete secrets that a page still shows."""
    secrets_view.discard(request, shown_id)
    return HttpResponseRedirect(_get_next_url(request))


@require_http_methods(["GET", "POST"])
def _choose_tenant(request: HttpRequest) -> HttpResponse:
    """Show the tenants that the administrator manages, or choose one."""
    next_url = _get_next_url(request)
    if request.method == "POST":
        if not chosen_tenant.choose(request, request.POST.get("tenant", "")):
            raise Http404
        return HttpResponseRedirect(next_url)
    search = request.GET.get("q", "").strip().replace("\0", "")
    managed = chosen_tenant.get_managed(request.user)  # type: ignore[arg-type]
    if search:
        managed = managed.filter(name__icontains=search) | managed.filter(slug__icontains=search)
    tenants = list(managed[: _MAX_TENANTS + 1])
    context = {
        "title": gettext("Choose a tenant"),
        "tenants": tenants[:_MAX_TENANTS],
        "more": len(tenants) > _MAX_TENANTS,
        "search": search,
        "next": next_url,
    }
    return render(request, "admin/choose_tenant.html", {**site.each_context(request), **context})
