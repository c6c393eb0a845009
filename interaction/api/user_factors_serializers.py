"""The second factors of users in the management API."""

from typing import Any, Final

from rest_framework import serializers

from identity.factors import recovery
from identity.factors.kinds import FactorType
from identity.rest.choices import Choice
from identity.rest.fields import Flag, Line, Timestamp, WholeNumber

_TYPES: Final = [factor.value for factor in FactorType]


class UserFactorSerializer(serializers.Serializer[Any]):
    """A second factor of a user. Members that the type does not have are missing."""

    is_sparse = True

    id = serializers.UUIDField(
        allow_null=True, help_text="`null` for codes to a verified address, which have nothing to remove"
    )
    type = serializers.ChoiceField(choices=_TYPES)
    name = serializers.CharField(required=False)
    created_at = Timestamp(required=False)
    last_used_at = Timestamp(required=False, allow_null=True)
    remaining = serializers.IntegerField(required=False, help_text="The number of unused backup codes")
    masked = serializers.CharField(required=False, help_text="Where codes are sent")
    model = serializers.CharField(required=False)
    backed_up = serializers.BooleanField(required=False)
    is_discoverable = serializers.BooleanField(required=False, allow_null=True)
    rp_id = serializers.CharField(required=False)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Return the members that the factor has."""
        shown: dict[str, Any] = super().to_representation(instance)
        return {name: value for name, value in shown.items() if name in instance}


class NewUserFactorSerializer(serializers.Serializer[Any]):
    """A factor to set up for a user."""

    type = Choice(choices=_TYPES, help_text="`Totp` or `BackupCode`. Users set up the others themselves")
    secret = Line(
        max_length=80,
        required=False,
        help_text="The secret of an authenticator that another system set up, in base32, 16 to 64 characters",
    )
    name = Line(max_length=64, required=False, default="", allow_blank=True)


class CreatedUserFactorSerializer(serializers.Serializer[Any]):
    """A new factor. Only this response has its secret or codes."""

    is_sparse = True

    id = serializers.UUIDField(required=False)
    type = serializers.ChoiceField(choices=_TYPES)
    secret = serializers.CharField(required=False, help_text="The secret in base32")
    secret_qr_code = serializers.CharField(required=False, help_text="Its QR code as an SVG data URL")
    codes = serializers.ListField(child=serializers.CharField(), required=False)


class NewRecoveryCodeSerializer(serializers.Serializer[Any]):
    """How long a recovery code works."""

    expires_in = WholeNumber(
        required=False,
        min_value=1,
        max_value=recovery.MOST_SECONDS,
        default=recovery.DEFAULT_SECONDS,
        help_text="Seconds",
    )


class RecoveryCodeSerializer(serializers.Serializer[Any]):
    """A recovery code. Only this response has it."""

    code = serializers.CharField()
    expires_at = Timestamp()


class UserFactorSettingsSerializer(serializers.Serializer[Any]):
    """Whether a user is asked for a second factor."""

    two_step = Flag(
        required=False, help_text="Whether a sign-in asks for a second factor although no policy does"
    )
    prompt_skipped_at = Timestamp(
        read_only=True, allow_null=True, help_text="When the user declined to set up a second factor"
    )
