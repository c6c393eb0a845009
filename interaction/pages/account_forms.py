"""Forms of the account pages."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from identity.core.errors import ServiceError
from identity.rest.fields import Line, Url
from identity.sessions.models import Session
from identity.users.profile_serializers import ProfileSerializer
from interaction.journeys.second_factor import reauthentication

_PASSWORD = {"required": _("Enter your password.")}


class ValidatedField(forms.CharField):
    """A text field with the validation of a serializer field."""

    def __init__(self, rule: serializers.CharField, message: Any, **options: Any) -> None:
        self.rule = rule
        self.message = message
        super().__init__(**options)

    def clean(self, value: Any) -> Any:
        """Return the text if it satisfies ``rule``.

        Raises:
            forms.ValidationError: the text does not satisfy ``rule``.

        """
        text = super().clean(value)
        try:
            self.rule.run_validation(text)
        except serializers.ValidationError:
            raise forms.ValidationError(self.message) from None
        return text


def build_profile_field(name: str) -> ValidatedField:
    """Return the form field of a member of the profile."""
    rule = cast("serializers.CharField", ProfileSerializer().fields[name])
    message = _("Check the format of this value.")
    return ValidatedField(rule, message, max_length=2048, required=False)


def build_name_field(max_length: int) -> ValidatedField:
    """Return the form field of a name, which may be empty and has no control characters."""
    message = _("A name can't contain control characters.")
    return ValidatedField(Line(allow_blank=True), message, max_length=max_length, required=False)


class AccountForm(forms.Form):
    """A form of the account pages. ``refusal`` is the error if the service refused a valid form."""

    refusal: ServiceError | None = None

    @property
    def status(self) -> int:
        """The HTTP status of the page with this form."""
        if self.refusal is not None:
            return self.refusal.status
        return 400 if self.errors else 200


class ConfirmedForm(AccountForm):
    """A form that also asks for the password, if the user has one."""

    password = forms.CharField(max_length=256, strip=False, error_messages=_PASSWORD)

    def __init__(self, session: Session, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not session.user.password:
            del self.fields["password"]

    @property
    def entered_password(self) -> str:
        """The entered password; an empty string if the user has none."""
        return str(self.cleaned_data.get("password", ""))


class ProfileForm(AccountForm):
    """Name, avatar, and the members of the profile that the tenant shows."""

    name = build_name_field(256)
    avatar = ValidatedField(
        Url(), _("Enter an address that begins with https://."), max_length=2048, required=False
    )

    def __init__(self, profile_fields: list[str], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.profile_fields = profile_fields
        for name in profile_fields:
            self.fields[name] = build_profile_field(name)

    @property
    def changes(self) -> dict[str, Any]:
        """The entered fields of the user."""
        fields = {name: value for name, value in self.cleaned_data.items() if name not in self.profile_fields}
        if not self.profile_fields:
            return fields
        return fields | {"profile": {name: self.cleaned_data[name] for name in self.profile_fields}}

    def clean_avatar(self) -> str | None:
        """Return the avatar; None for an empty field."""
        return self.cleaned_data["avatar"] or None


class UsernameForm(ConfirmedForm):
    """A new username."""

    username = forms.CharField(
        max_length=128, strip=False, error_messages={"required": _("Enter a username.")}
    )
    field_order = ("username", "password")


class PasswordForm(ConfirmedForm):
    """The current password and a new one. Spaces around a password are part of it."""

    new_password = forms.CharField(
        max_length=256, strip=False, error_messages={"required": _("Enter a new password.")}
    )


class DeletionForm(ConfirmedForm):
    """The confirmation of a deletion."""

    typed = forms.CharField(max_length=254, error_messages={"required": _("Type the text exactly as shown.")})
    field_order = ("typed", "password")


class ContactForm(ConfirmedForm):
    """A new email or phone."""

    identifier = forms.CharField(
        max_length=254, error_messages={"required": _("Enter an email or phone number.")}
    )
    field_order = ("identifier", "password")


class CodeForm(AccountForm):
    """The code that was sent."""

    code = forms.CharField(max_length=32, error_messages={"required": _("Enter the code.")})


class FactorsForm(ConfirmedForm):
    """A change of the second factors, with the password unless the user has just entered it."""

    def __init__(self, session: Session, *args: Any, **options: Any) -> None:
        super().__init__(session, *args, **options)
        if not reauthentication.must_enter_password(session):
            self.fields.pop("password", None)


class FactorNameForm(FactorsForm):
    """Another name for a passkey or an authenticator. An empty one removes it."""

    name = build_name_field(64)
    field_order = ("name", "password")


class AuthenticatorForm(FactorsForm):
    """The first code of an authenticator, its sealed secret, and a name for it."""

    enrolment = forms.CharField(max_length=2048, widget=forms.HiddenInput)
    name = build_name_field(64)
    code = forms.CharField(max_length=64, error_messages={"required": _("Enter the code.")})
    field_order = ("name", "password", "code")
