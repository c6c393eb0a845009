"""Requests and responses of passkeys."""

from typing import Any, Final

from rest_framework import serializers

from identity.factors.challenges import Ceremony
from identity.rest.choices import Choice
from identity.rest.fields import Flag, Line, Text
from interaction.api.serializers import InteractionSerializer, StaySerializer

_CEREMONIES: Final = [ceremony.value for ceremony in Ceremony]
_MEANING: Final = (
    "`sign_in` signs in with a passkey alone, `second_factor` completes a sign-in, `set_up` and "
    "`set_up_security_key` create a passkey or a security key, during a sign-in that needs one or for the "
    "signed-in user, and `confirm` confirms that it is the signed-in user"
)


class PasskeyOptionsSerializer(InteractionSerializer):
    """A ceremony to begin."""

    ceremony = Choice(choices=_CEREMONIES, help_text=_MEANING)
    identifier = Text(
        max_length=254,
        required=False,
        default="",
        allow_blank=True,
        help_text="Ignored: the options name no credentials, and the user chooses a passkey",
    )


class PasskeyChallengeSerializer(serializers.Serializer[Any]):
    """The options of a ceremony."""

    public_key = serializers.DictField(
        help_text="For `parseCreationOptionsFromJSON()` or `parseRequestOptionsFromJSON()` of browsers"
    )


class PasskeySerializer(StaySerializer):
    """The answer of a passkey."""

    ceremony = Choice(choices=_CEREMONIES, help_text=_MEANING)
    credential = serializers.DictField(help_text="What `toJSON()` of the credential returns")
    remember = Flag(
        required=False,
        default=False,
        help_text="For `second_factor`: whether to ask for none in this browser for a while, if the tenant "
        "allows it",
    )
    name = Line(max_length=64, required=False, default="", allow_blank=True, help_text="A name for a new one")
    password = Text(
        max_length=256,
        required=False,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="For a new one of a signed-in user who signed in more than `CONFIRM_SECONDS` ago",
    )
