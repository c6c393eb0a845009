"""The username, picture and custom data of a user on the operators' site."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from identity.operator_kit.json_field import JSONField
from identity.operator_kit.operations import Operation, Submission, validate
from identity.users import services
from identity.users.models import User
from identity.users.serializers import Username, UserSerializer


class UsernameSerializer(serializers.Serializer[Any]):
    """A new username."""

    username = Username(max_length=128)


class UsernameForm(forms.Form):
    """A new username."""

    username = forms.CharField(
        label=_("Username"),
        max_length=128,
        help_text=_("Without spaces and @, and not in the form of a phone number."),
    )


class DataForm(forms.Form):
    """The picture and the custom data of a user."""

    avatar = forms.CharField(
        label=_("Picture"), required=False, max_length=2048, help_text=_("An https URL. Optional.")
    )
    custom_data = JSONField(
        label=_("Custom data"), required=False,
        help_text=_("A JSON object for applications and custom claims."),
        widget=forms.Textarea({"rows": 10, "spellcheck": "false"}),
    )  # fmt: skip


def _change_username(submission: Submission) -> str:
    fields = validate(UsernameSerializer, submission.fields)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The username is changed.")


def _change_data(submission: Submission) -> str:
    sent = {
        "avatar": submission.fields["avatar"] or None,
        "custom_data": {} if submission.fields["custom_data"] is None else submission.fields["custom_data"],
    }
    fields = validate(UserSerializer, sent, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The picture and custom data are changed.")


def _get_username(user: User) -> dict[str, Any]:
    return {"username": user.username}


def _get_data(user: User) -> dict[str, Any]:
    return {"avatar": user.avatar or "", "custom_data": user.custom_data}


OPERATIONS: Final = (
    Operation(
        "username", _("Change username"),
        _("The user signs in with the new username. Applications get it as preferred_username, so those that "
          "know users by it may take the user for somebody else."),
        _change_username, form=UsernameForm, initial=_get_username,
    ),
    Operation(
        "data", _("Edit picture and data"),
        _("Applications get the picture with the scope profile, and custom data by custom claims."),
        _change_data, form=DataForm, initial=_get_data,
    ),
)  # fmt: skip
