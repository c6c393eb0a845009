"""Forms of the sign-in and registration pages."""

from collections.abc import Iterable

from django import forms
from django.utils.translation import gettext_lazy as _

from identity.users.identifiers import Kind
from interaction.pages import labels
from interaction.pages.account_forms import build_name_field, build_profile_field

_PASSWORD_LENGTH = 256


class SignInForm(forms.Form):
    """Identifier and password. Spaces around a password are part of it."""

    identifier = forms.CharField(
        max_length=254, error_messages={"required": _("Enter your username, email or phone.")}
    )
    password = forms.CharField(
        max_length=_PASSWORD_LENGTH, strip=False, error_messages={"required": _("Enter your password.")}
    )
    keep_signed_in = forms.BooleanField(required=False)


class AddressForm(forms.Form):
    """The email or phone to which a code is sent."""

    identifier = forms.CharField(max_length=254)

    def __init__(self, *args: object, kinds: Iterable[Kind], **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.fields["identifier"].error_messages["required"] = labels.identifier_required(kinds)


class CodeForm(forms.Form):
    """The entered code."""

    identifier = forms.CharField(max_length=254, widget=forms.HiddenInput)
    code = forms.CharField(max_length=64, error_messages={"required": _("Enter the code.")})


class SetUpForm(forms.Form):
    """The first code of an authenticator, and its sealed secret."""

    enrolment = forms.CharField(max_length=2048, widget=forms.HiddenInput)
    code = forms.CharField(max_length=64, error_messages={"required": _("Enter the code.")})


class NewPasswordForm(forms.Form):
    """A new password."""

    new_password = forms.CharField(
        max_length=_PASSWORD_LENGTH, strip=False, error_messages={"required": _("Choose a password.")}
    )


class RegisterForm(forms.Form):
    """The identifiers, the name, members of the profile and, if required, the password of a new user."""

    def __init__(
        self,
        *args: object,
        kinds: Iterable[Kind],
        password: bool,
        profile_fields: Iterable[str] = (),
        agreement: bool = False,
        **options: object,
    ) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        for kind in kinds:
            self.fields[kind] = forms.CharField(
                max_length=254, error_messages={"required": labels.identifier_required([kind])}
            )
        self.fields["name"] = build_name_field(256)
        self.profile_fields = list(profile_fields)
        for name in self.profile_fields:
            self.fields[name] = build_profile_field(name)
        if password:
            self.fields["password"] = forms.CharField(
                max_length=_PASSWORD_LENGTH,
                strip=False,
                error_messages={"required": _("Choose a password.")},
            )
        if agreement:
            self.fields["agreed_to_terms"] = _agreement_field()


class AgreementForm(forms.Form):
    """The checkbox of a new user who signs in with another provider."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.fields["agreed_to_terms"] = _agreement_field()


def _agreement_field() -> forms.BooleanField:
    return forms.BooleanField(error_messages={"required": _("Tick this box to create an account.")})
