"""The profile of a user on the operators' site."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.operations import Operation, Submission, validate
from identity.users import services
from identity.users.models import User
from identity.users.profile import ADDRESS, ADDRESS_PARTS, TEXTS
from identity.users.serializers import UserSerializer

_HELP: Final = {
    "profile": _("The address of a page about the user"),
    "birthdate": _("YYYY-MM-DD, YYYY, or 0000-MM-DD without a year"),
    "zoneinfo": _("For example Europe/Berlin"),
    "locale": _("For example en-GB"),
    "formatted": _("The whole address, as on a letter"),
}
_LABELS: Final = {
    "given_name": _("Given name"),
    "family_name": _("Family name"),
    "middle_name": _("Middle name"),
    "nickname": _("Nickname"),
    "profile": _("Profile page"),
    "website": _("Website"),
    "gender": _("Gender"),
    "birthdate": _("Birthdate"),
    "zoneinfo": _("Time zone"),
    "locale": _("Locale"),
    "formatted": _("Address"),
    "street_address": _("Street address"),
    "locality": _("Locality"),
    "region": _("Region"),
    "postal_code": _("Postal code"),
    "country": _("Country"),
}
_MULTILINE: Final = ("formatted", "street_address")


def get_label(name: str) -> str:
    """Return the label of a member of the profile, in the active language."""
    return str(_LABELS[name])


def _build_field(name: str) -> forms.CharField:
    widget = forms.Textarea({"rows": 3}) if name in _MULTILINE else forms.TextInput()
    return forms.CharField(required=False, label=_LABELS[name], help_text=_HELP.get(name, ""), widget=widget)


ProfileForm: Final = type(
    "ProfileForm", (forms.Form,), {name: _build_field(name) for name in (*TEXTS, *ADDRESS_PARTS)}
)


def _get_initial(user: User) -> dict[str, Any]:
    members: dict[str, Any] = user.profile | user.profile.get(ADDRESS, {})
    return members


def _change(submission: Submission) -> str:
    texts = {name: submission.fields[name] for name in TEXTS}
    # Browsers submit line breaks as CR LF.
    address = {name: submission.fields[name].replace("\r\n", "\n") for name in ADDRESS_PARTS}
    fields = validate(UserSerializer, {"profile": texts | {ADDRESS: address}}, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The profile is changed.")


def describe(user: User) -> str:
    """Return the members of a user's profile, one on each line."""
    members = _get_initial(user)
    names = (*TEXTS, *ADDRESS_PARTS)
    return "\n".join(f"{get_label(name)}: {members[name]}" for name in names if name in members)


EDIT: Final = Operation(
    "profile", _("Edit profile"), _("Applications get these claims with the scopes profile and address."),
    _change, form=ProfileForm, initial=_get_initial, sentence=_("Edit profile of {name}"), edits=_("Profile"),
)  # fmt: skip
