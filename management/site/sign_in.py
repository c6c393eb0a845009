"""How administrators come in by browser: the same service, locks and audit entries as by the API."""

from typing import Any

from django import forms
from django.contrib.auth import login
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from identity.core.errors import ServiceError
from management.administrators import services
from management.administrators.models import Administrator


class SessionBackend(BaseBackend):
    """Finds the administrator of a session. It proves nobody: that is what the service is for."""

    def get_user(self, user_id: int) -> Administrator | None:
        """Return the administrator, if there still is one."""
        return Administrator.objects.filter(pk=user_id).first()


class SignInForm(forms.Form):
    """Username and password."""

    username = forms.CharField(
        max_length=128, widget=forms.TextInput({"autocomplete": "username", "autofocus": True})
    )
    password = forms.CharField(
        max_length=256, strip=False, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )

    def __init__(self, request: HttpRequest, **options: Any) -> None:
        super().__init__(**options)
        self.administrator: Administrator | None = None
        self.refusal: ServiceError | None = None

    def clean(self) -> dict[str, Any]:
        """Ask the service, once both were given."""
        given = self.cleaned_data
        if {"username", "password"} <= given.keys():
            try:
                self.administrator = services.authenticate(**given)
            except ServiceError as refusal:
                self.refusal = refusal
                raise forms.ValidationError(f"{refusal.message[0].upper()}{refusal.message[1:]}.") from None
        return given

    def get_user(self) -> Administrator | None:
        """Return who was proven."""
        return self.administrator


class SignIn(LoginView):
    """The sign-in page. A refusal has the status and the headers that it has in the API."""

    authentication_form = SignInForm  # type: ignore[assignment]
    template_name = "admin/login.html"

    def form_valid(self, form: Any) -> HttpResponseRedirect:
        """Begin a session under a new key, and forget those that are over."""
        self.request.session.clear_expired()
        login(self.request, form.get_user())
        return HttpResponseRedirect(self.get_success_url())

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again."""
        response = super().form_invalid(form)
        refusal = form.refusal
        response.status_code = refusal.status if refusal else 400
        for name, value in (refusal.headers if refusal else {}).items():
            response[name] = value
        return response
