"""Sign-in of administrators through the provider of the installation, and the page that links an account.

The session of the browser keeps what binds the provider's response to its request.
"""

from typing import Any, Final, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import site
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from identity.core.errors import ServiceError
from identity.operator_kit.operations import Operation
from identity.operator_kit.timestamps import format_text
from management.administrators import sign_in, single_sign_on
from management.administrators.models import Administrator, ProviderAccount
from management.site import idle_sessions, pending_sign_in, proof_form, provider_session
from management.site.sign_in import add_refusal, to_sentence

_KEY: Final = "single_sign_on"


@never_cache
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider.

    Raises:
        Http404: the installation has no provider.

    """
    _check_configured()
    try:
        return _redirect_to_provider(request, next=_get_next_url(request))
    except ServiceError as refusal:
        return _redirect_back(request, refusal, reverse("admin:login"))


@never_cache
@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    """Sign the administrator in, or link the account of a signed-in administrator.

    Raises:
        Http404: the installation has no provider.

    """
    _check_configured()
    pending = request.session.pop(_KEY, None)
    links = bool(pending and pending.get("administrator"))
    try:
        return _link(request, pending) if links else _sign_in(request, pending)
    except ServiceError as refusal:
        return _redirect_back(request, refusal, reverse("admin:single-sign-on" if links else "admin:login"))


def _sign_in(request: HttpRequest, pending: Any) -> HttpResponse:
    signed_in = single_sign_on.authenticate(pending, request.GET)
    administrator, next_url = signed_in.account.administrator, pending["next"]
    request.session.clear_expired()
    if signed_in.needs_second_step:
        pending_sign_in.begin(request, administrator)
        provider_session.store(request, signed_in)
        query = urlencode({REDIRECT_FIELD_NAME: next_url})
        return HttpResponseRedirect(f"{reverse('admin:second-step')}?{query}")
    idle_sessions.flush(request)
    idle_sessions.begin(request, administrator)
    provider_session.store(request, signed_in)
    return HttpResponseRedirect(next_url)


def _link(request: HttpRequest, pending: Any) -> HttpResponse:
    administrator = cast("Administrator", request.user)  # loaded by the session check, before the call
    person = single_sign_on.finish(pending, request.GET)
    if pending["administrator"] != administrator.pk:
        raise single_sign_on.NotPending
    single_sign_on.link(administrator, person)
    text = gettext("You can now sign in with %(provider)s.") % {"provider": settings.ADMIN_OIDC.label}
    messages.success(request, text)
    return HttpResponseRedirect(reverse("admin:single-sign-on"))


@never_cache
@require_http_methods(["GET", "POST"])
def own_account(request: HttpRequest) -> HttpResponse:
    """Show the linked account. After the password, unlink it, or redirect to the provider to link one.

    Raises:
        Http404: the installation has no provider.

    """
    _check_configured()
    administrator = proof_form.get_administrator(request)
    account = ProviderAccount.objects.filter(administrator=administrator).first()
    form = proof_form.build(request, administrator)
    refusal: ServiceError | None = None
    if request.method == "POST" and form.is_valid():
        fields = form.cleaned_data
        try:
            sign_in.reauthenticate(administrator, password=fields["password"], code=fields.get("code"))
            if account is None:
                return _redirect_to_provider(request, administrator=administrator.pk)
            single_sign_on.unlink(administrator)
        except ServiceError as error:
            refusal = error
            proof_form.add_error(form, error)
        else:
            messages.success(request, gettext("The account is unlinked."))
            return HttpResponseRedirect(reverse("admin:single-sign-on"))
    operation = _describe(account)
    context = {"title": gettext("Single sign-on"), "operation": operation, "form": form}
    response = render(request, "admin/operation.html", {**site.each_context(request), **context})
    provider_session.allow_provider(response)
    return add_refusal(response, refusal) if request.method == "POST" else response


def _describe(account: ProviderAccount | None) -> Operation:
    if account is None:
        says = gettext("Link your account at %(issuer)s to sign in with %(provider)s.")
        values = {"issuer": settings.ADMIN_OIDC.issuer, "provider": settings.ADMIN_OIDC.label}
        return Operation("link", gettext("Link account"), says % values, lambda _: "")
    sentences = (
        gettext("Your account %(subject)s at %(issuer)s is linked since %(time)s."),
        gettext("It was last used on %(used)s.") if account.last_used_at else gettext("It was not used yet."),
        gettext("Without it you sign in with your password. Sessions that it started end."),
    )
    values = {
        "subject": account.subject, "issuer": account.issuer, "time": format_text(account.created_at),
        "used": format_text(account.last_used_at) if account.last_used_at else "",
    }  # fmt: skip
    says = " ".join(sentence % values for sentence in sentences)
    return Operation("unlink", gettext("Unlink account"), says, lambda _: "", is_destructive=True)


def _redirect_to_provider(request: HttpRequest, **purpose: Any) -> HttpResponse:
    url, pending = single_sign_on.begin()
    request.session[_KEY] = {**pending, **purpose}
    return HttpResponseRedirect(url)


def _redirect_back(request: HttpRequest, refusal: ServiceError, url: str) -> HttpResponse:
    messages.error(request, to_sentence(refusal))
    return HttpResponseRedirect(url)


def _get_next_url(request: HttpRequest) -> str:
    next_url = request.POST.get(REDIRECT_FIELD_NAME, "")
    is_own = url_has_allowed_host_and_scheme(next_url, allowed_hosts=None)
    return next_url if is_own else reverse("admin:index")


def _check_configured() -> None:
    if not single_sign_on.is_configured():
        raise Http404
