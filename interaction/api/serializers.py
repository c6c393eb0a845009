"""What the interaction API takes and shows."""

from typing import Any, Final

from rest_framework import serializers

from identity.rest.fields import Line, Text
from identity.users.identifiers import Kind
from interaction.experience.serializers import ExperienceSerializer
from interaction.verification.models import Purpose

_PURPOSES: Final = [Purpose.SIGN_IN.value, Purpose.REGISTER.value, Purpose.FORGOT_PASSWORD.value]


class InteractionSerializer(serializers.Serializer[Any]):
    """What every step may say: which pending request is meant."""

    interaction = Text(max_length=36, required=False, default="")


class CaptchaSerializer(InteractionSerializer):
    """What is asked for besides where the tenant wants a CAPTCHA."""

    captcha_token = Text(
        max_length=8192,
        required=False,
        default="",
        allow_blank=True,
        help_text="What the widget of the CAPTCHA gave, where the experience names one",
    )


class SignInSerializer(InteractionSerializer):
    """Identifier and password, for the request that waits."""

    identifier = Text(max_length=254)
    password = Text(max_length=256, trim_whitespace=False)


class RegisterSerializer(CaptchaSerializer):
    """Who somebody says they are. What the experience does not ask for may be left out."""

    username = Line(max_length=128, required=False, default="", allow_blank=True)
    email = Line(max_length=254, required=False, default="", allow_blank=True)
    phone = Line(max_length=64, required=False, default="", allow_blank=True)
    name = Line(max_length=256, required=False, default="", allow_blank=True)
    password = Text(max_length=256, required=False, default="", allow_blank=True, trim_whitespace=False)


class CodeAddressSerializer(InteractionSerializer):
    """Whom a code goes to, and what for."""

    identifier = Line(max_length=254)
    identifier_type = serializers.ChoiceField(choices=[Kind.EMAIL.value, Kind.PHONE.value])
    interaction_type = serializers.ChoiceField(choices=_PURPOSES)


class CodeSerializer(CodeAddressSerializer, CaptchaSerializer):
    """Whom a code is to be sent to, and what for."""


class CodeSentSerializer(serializers.Serializer[Any]):
    """How long the code is good for."""

    expires_in = serializers.IntegerField()


class EnteredCodeSerializer(CodeAddressSerializer):
    """A code, as a person typed it."""

    code = Line(max_length=32)


class NewPasswordSerializer(InteractionSerializer):
    """A new password for the account whose email or phone was verified in this browser."""

    identifier = Text(max_length=254)
    new_password = Text(max_length=256, trim_whitespace=False)


class NextSerializer(serializers.Serializer[None]):
    """Where the browser goes next."""

    redirect_to = serializers.CharField()


class SocialConnectorSerializer(serializers.Serializer[Any]):
    """A button that leads to another provider."""

    connector_id = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()


class AskedCaptchaSerializer(serializers.Serializer[Any]):
    """The CAPTCHA that registering and having a code sent ask for."""

    connector_id = serializers.CharField()
    site_key = serializers.CharField()


class OfferedExperienceSerializer(ExperienceSerializer):
    """The experience as a front end needs it to draw its pages."""

    id = None  # type: ignore[assignment]  # the interface shows no such field
    updated_at = None  # type: ignore[assignment]  # as id
    account = None  # type: ignore[assignment]  # as id
    message_templates = None  # type: ignore[assignment]  # as social_sign_in
    social_sign_in = None  # type: ignore[assignment]  # what a front end need not know
    social_connectors = SocialConnectorSerializer(many=True, default=[])
    captcha = AskedCaptchaSerializer(allow_null=True, default=None)
