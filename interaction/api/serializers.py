"""Requests and responses of the interaction API."""

from typing import Any, Final

from rest_framework import serializers

from identity.rest.choices import Choice
from identity.rest.fields import Flag, Line, Text
from identity.sessions.serializers import SessionSerializer
from identity.users.identifiers import Kind
from identity.users.profile_serializers import ProfileSerializer
from interaction.experience.serializers import ExperienceSerializer
from interaction.verification.models import Purpose

_PURPOSES: Final = [Purpose.SIGN_IN.value, Purpose.REGISTER.value, Purpose.FORGOT_PASSWORD.value]


class InteractionSerializer(serializers.Serializer[Any]):
    """The pending request to which a step belongs."""

    interaction = Text(max_length=36, required=False, default="")


class CaptchaSerializer(InteractionSerializer):
    """The token of the tenant's CAPTCHA."""

    captcha_token = Text(
        max_length=8192,
        required=False,
        default="",
        allow_blank=True,
        help_text="The token from the CAPTCHA's widget. Required if the sign-in experience has a CAPTCHA",
    )


class StaySerializer(InteractionSerializer):
    """A step that signs the user in."""

    keep_signed_in = Flag(
        required=False,
        default=False,
        help_text="Whether the session outlives the browser. It counts only while `keep_signed_in` of the "
        "tenant is on",
    )


class SignInSerializer(StaySerializer):
    """Identifier and password."""

    identifier = Text(max_length=254)
    password = Text(max_length=256, trim_whitespace=False)


class RegisterSerializer(CaptchaSerializer):
    """The new user. Fields that the sign-in experience does not ask for are optional."""

    username = Line(max_length=128, required=False, default="", allow_blank=True)
    email = Line(max_length=254, required=False, default="", allow_blank=True)
    phone = Line(max_length=64, required=False, default="", allow_blank=True)
    name = Line(max_length=256, required=False, default="", allow_blank=True)
    profile = ProfileSerializer(
        required=False, help_text="The members for which the sign-in experience asks; others are ignored"
    )
    password = Text(max_length=256, required=False, default="", allow_blank=True, trim_whitespace=False)
    agreed_to_terms = Flag(
        required=False,
        default=False,
        help_text="Whether the user agreed to the terms of use and the privacy policy. Must be `true` if "
        "`sign_up.agree_to_terms` of the sign-in experience is `manual`",
    )


class CodeAddressSerializer(InteractionSerializer):
    """The recipient and the purpose of a code."""

    identifier = Line(max_length=254)
    identifier_type = Choice(choices=[Kind.EMAIL.value, Kind.PHONE.value])
    interaction_type = Choice(choices=_PURPOSES)


class CodeSerializer(CodeAddressSerializer, CaptchaSerializer):
    """The recipient and the purpose of a code to send."""


class CodeSentSerializer(serializers.Serializer[Any]):
    """The lifetime of a code in seconds."""

    expires_in = serializers.IntegerField()


class EnteredCodeSerializer(CodeAddressSerializer, StaySerializer):
    """An entered code."""

    code = Line(max_length=32)


class NewPasswordSerializer(InteractionSerializer):
    """A new password for the account whose email or phone was verified in this browser."""

    identifier = Text(max_length=254)
    new_password = Text(max_length=256, trim_whitespace=False)


class NextSerializer(serializers.Serializer[None]):
    """The URL to open next."""

    redirect_to = serializers.CharField()


class SocialConnectorSerializer(serializers.Serializer[Any]):
    """A provider for social sign-in."""

    connector_id = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()


class AskedCaptchaSerializer(serializers.Serializer[Any]):
    """The CAPTCHA that is required to register and to have a code sent."""

    connector_id = serializers.CharField()
    site_key = serializers.CharField()


class OfferedExperienceSerializer(ExperienceSerializer):
    """The sign-in experience as a front end needs it."""

    may_be_missing = frozenset({"mfa", "passkey_sign_in", "trusted_device_policy", "keep_signed_in"})

    id = None  # type: ignore[assignment]  # the interface shows no such field
    updated_at = None  # type: ignore[assignment]  # as id
    account = None  # type: ignore[assignment]  # as id
    message_templates = None  # type: ignore[assignment]  # as id
    page_texts = None  # type: ignore[assignment]  # as id
    social_sign_in = None  # type: ignore[assignment]  # as id
    adaptive_mfa = None  # type: ignore[assignment]  # as id
    attestation = None  # type: ignore[assignment]  # as id
    forgot_password_requires_factor = None  # type: ignore[assignment]  # as id
    social_connectors = SocialConnectorSerializer(many=True, default=[])
    keep_signed_in = Flag(
        required=False, help_text="`true` if users choose whether they stay signed in; otherwise missing"
    )
    captcha = AskedCaptchaSerializer(allow_null=True, default=None)


class OwnSessionSerializer(SessionSerializer):
    """A session of the signed-in user."""

    is_current = serializers.BooleanField(help_text="Whether it is the session of this browser")
