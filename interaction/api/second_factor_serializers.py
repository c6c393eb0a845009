"""Requests and responses of the second step of a sign-in."""

from typing import Any, Final

from rest_framework import serializers

from identity.factors.kinds import FactorType
from identity.rest.choices import Choice
from identity.rest.fields import Flag, Line, Text
from interaction.api.serializers import InteractionSerializer, NextSerializer

_SENT: Final = [FactorType.EMAIL_CODE.value, FactorType.PHONE_CODE.value]
_STEPS: Final = ("sign_in", "second_factor", "set_up", "backup_codes", "done")


class FactorCodeSerializer(InteractionSerializer):
    """A code of a second factor."""

    code = Line(max_length=64)
    remember = Flag(
        required=False,
        default=False,
        help_text="Whether to ask for no second factor in this browser for a while. Ignored with a backup "
        "code, and if the tenant does not allow it",
    )


class RecoveryCodeSerializer(FactorCodeSerializer):
    """A recovery code of an administrator."""

    identifier = Text(
        max_length=254,
        required=False,
        default="",
        allow_blank=True,
        help_text="Whose code it is, if no sign-in is pending: for users whose first factor it is",
    )


class SendFactorCodeSerializer(InteractionSerializer):
    """Where to send a code."""

    type = Choice(choices=_SENT)


class SentFactorCodeSerializer(FactorCodeSerializer, SendFactorCodeSerializer):
    """A code that was sent."""


class EnrolmentSerializer(serializers.Serializer[Any]):
    """What an authenticator needs. It is shown only this once."""

    secret = serializers.CharField(help_text="The secret in base32, for typing")
    uri = serializers.CharField(help_text="The `otpauth:` URI of the QR code")
    qr_code = serializers.CharField(help_text="The QR code as an SVG data URL")
    enrolment = serializers.CharField(
        help_text="The sealed secret, to send back with a code within 15 minutes, from the same browser"
    )


class EnrolledCodeSerializer(InteractionSerializer):
    """The first code of an authenticator that is being set up."""

    enrolment = Text(max_length=2048)
    code = Line(max_length=64)
    name = Line(max_length=64, required=False, default="", allow_blank=True)


class BackupCodesSerializer(NextSerializer):
    """Backup codes, which are shown only this once."""

    codes = serializers.ListField(child=serializers.CharField())


class UsableFactorSerializer(serializers.Serializer[Any]):
    """A factor that can be proven or set up now."""

    is_sparse = True

    type = serializers.ChoiceField(choices=[factor.value for factor in FactorType])
    masked = serializers.CharField(required=False, help_text="Where the code is sent, if it is sent")


class NextStepSerializer(serializers.Serializer[Any]):
    """What a browser has to do next. Only `step` is always there."""

    is_sparse = True

    step = serializers.ChoiceField(choices=_STEPS)
    methods = UsableFactorSerializer(many=True, required=False)
    preferred = serializers.CharField(required=False, allow_null=True)
    may_remember = serializers.BooleanField(required=False)
    skippable = serializers.BooleanField(required=False)
    cancellable = serializers.BooleanField(
        required=False,
        help_text="`true` if an application demands the step: see `mfa/cancel`; otherwise missing",
    )
    reasons = serializers.ListField(child=serializers.CharField(), required=False)
    least_acr = serializers.CharField(required=False)
    redirect_to = serializers.CharField(required=False)


class SignedInSerializer(NextSerializer):
    """The URL to open next. With `next`, the sign-in is not finished, and there is no session."""

    is_sparse = True

    next = NextStepSerializer(required=False)
