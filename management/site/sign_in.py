"""Sign-in of administrators in the browser, with the service, locks and audit entries of the API."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.views import LoginView, RedirectURLMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.generic import FormView

from identity.core.errors import ServiceError
from identity.http.responses import add_headers
from identity.operator_kit import form_errors, fresh_proof
from management.administrators import sign_in
from management.administrators.models import Administrator
from management.site import idle_sessions, localized, passkey_session, pending_sign_in, provider_session


class SessionBackend(BaseBackend):
    """Finds the administrator of a session. The service verifies credentials, and not this backend."""

    def get_user(self, user_id: int) -> Administrator | None:
        """Return the administrator, or None if it was deleted."""
        return Administrator.objects.filter(pk=user_id).first()


class SignInForm(forms.Form):
    """Username and password."""

    username = forms.CharField(
        label=_("Username"), max_length=128,
        widget=forms.TextInput({"autocomplete": "username webauthn", "autofocus": True}),
    )  # fmt: skip
    password = forms.CharField(
        label=_("Password"), max_length=256, strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )  # fmt: skip

    def __init__(self, request: HttpRequest, **options: Any) -> None:
        super().__init__(**options)
        self.administrator: Administrator | None = None
        self.refusal: ServiceError | None = None

    def clean(self) -> dict[str, Any]:
        """Verify the credentials, if both fields are valid."""
        fields = self.cleaned_data
        if {"username", "password"} <= fields.keys():
            try:
                self.administrator = sign_in.begin(**fields)
            except ServiceError as refusal:
                self.refusal = refusal
                raise forms.ValidationError(to_sentence(refusal)) from None
        return fields

    def get_user(self) -> Administrator | None:
        """Return the administrator whose credentials were verified."""
        return self.administrator


def to_sentence(refusal: ServiceError) -> str:
    """Return a refusal's message as a sentence, in the language of the administrator."""
    return localized.to_sentence(form_errors.describe(refusal))


class SignIn(LoginView):
    """The sign-in page. Refusals have the status and headers of the API's."""

    authentication_form = SignInForm  # type: ignore[assignment]
    template_name = "admin/login.html"

    def form_valid(self, form: Any) -> HttpResponseRedirect:
        """Start a session with a new key, or ask for the second step. Deletes expired sessions."""
        self.request.session.clear_expired()
        provider_session.forget(self.request)
        passkey_session.forget(self.request)
        administrator = form.get_user()
        if administrator.second_step_since:
            pending_sign_in.begin(self.request, administrator)
            query = urlencode({REDIRECT_FIELD_NAME: self.get_success_url()})
            return HttpResponseRedirect(f"{reverse('admin:second-step')}?{query}")
        idle_sessions.begin(self.request, administrator)
        fresh_proof.record(self.request)
        return HttpResponseRedirect(self.get_success_url())

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again."""
        return add_refusal(super().form_invalid(form), form.refusal)

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        """Return the page. Its forms may redirect to the provider."""
        response = super().render_to_response(context, **options)
        provider_session.allow_provider(response)
        return response


class CodeForm(forms.Form):
    """A code of the authenticator, or a recovery code."""

    code = forms.CharField(
        label=_("Code"),
        max_length=64,
        widget=forms.TextInput({"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )


class SecondStep(RedirectURLMixin, FormView):  # type: ignore[type-arg]  # generic for type checkers alone
    """The page for the second step, after the sign-in page."""

    form_class = CodeForm
    template_name = "admin/second_step.html"
    next_page = "admin:index"

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Redirect to the sign-in page if no sign-in is pending."""
        self.administrator = pending_sign_in.get_administrator(request)
        if self.administrator is None:
            return HttpResponseRedirect(reverse("admin:login"))
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: CodeForm) -> HttpResponse:
        """Verify the code and start a session."""
        assert self.administrator is not None  # noqa: S101 - dispatch checked it
        try:
            sign_in.complete(self.administrator, code=form.cleaned_data["code"])
        except ServiceError as refusal:
            form.add_error(None, to_sentence(refusal))
            return add_refusal(self.render_to_response(self.get_context_data(form=form)), refusal)
        pending_sign_in.end(self.request)
        idle_sessions.begin(self.request, self.administrator)
        fresh_proof.record(self.request)
        return HttpResponseRedirect(self.get_success_url())

    def form_invalid(self, form: CodeForm) -> HttpResponse:
        """Show the form again."""
        return add_refusal(super().form_invalid(form), None)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Return the page's template context."""
        return super().get_context_data(next=self.get_redirect_url(), **context)


def add_refusal(response: HttpResponse, refusal: ServiceError | None) -> HttpResponse:
    """Return the response with the status and the headers of the refusal that it shows."""
    response.status_code = refusal.status if refusal else 400
    return add_headers(response, refusal.headers if refusal else {})
