"""Requests of the signed-in user's second factors."""

from typing import Any, Final

from rest_framework import serializers

from identity.factors.challenges import Ceremony
from identity.factors.kinds import FactorType
from identity.rest.choices import Choice
from identity.rest.fields import Line, Text
from interaction.api.user_factors_serializers import UserFactorSerializer

_ENROLABLE: Final = (FactorType.TOTP, FactorType.WEBAUTHN, FactorType.BACKUP_CODE)
_WITH_CODES: Final = [factor.value for factor in FactorType if factor is not FactorType.WEBAUTHN]
# The members that a type cannot do without.
_NEEDED: Final = {FactorType.TOTP: ("enrolment", "code"), FactorType.WEBAUTHN: ("credential",)}
_PROOFS: Final = ("password", "code", "credential")


def _require(serializer: serializers.Serializer[Any], attrs: dict[str, Any], names: tuple[str, ...]) -> None:
    fields = serializer.fields
    missing = {name: [fields[name].error_messages["required"]] for name in names if name not in attrs}
    if missing:
        raise serializers.ValidationError(missing, code="required")


class NewOwnFactorSerializer(serializers.Serializer[Any]):
    """A factor to set up."""

    type = Choice(
        choices=[factor.value for factor in _ENROLABLE],
        help_text="`Totp` needs `enrolment` and `code`, and `WebAuthn` needs `credential`. `BackupCode` "
        "replaces the codes",
    )
    enrolment = Text(
        max_length=2048, required=False, help_text="That of `POST /api/interaction/mfa/set-up/totp`"
    )
    code = Line(max_length=64, required=False, help_text="A code of the new authenticator")
    credential = serializers.DictField(required=False, help_text="What `toJSON()` of the credential returns")
    ceremony = Choice(
        choices=[ceremony.value for ceremony in Ceremony if ceremony.is_registration],
        required=False,
        default=Ceremony.SET_UP.value,
        help_text="The ceremony of the options that the credential was created with",
    )
    name = Line(max_length=64, required=False, default="", allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that the members of the type are there."""
        _require(self, attrs, _NEEDED.get(FactorType(attrs["type"]), ()))
        return attrs


class CreatedOwnFactorSerializer(UserFactorSerializer):
    """A new factor, or new backup codes, which only this response has."""

    id = serializers.UUIDField(required=False)
    codes = serializers.ListField(child=serializers.CharField(), required=False)


class FactorNameSerializer(serializers.Serializer[Any]):
    """The name of a factor. An empty one removes it."""

    name = Line(max_length=64, allow_blank=True)


class ConfirmSerializer(serializers.Serializer[Any]):
    """A proof: a password, the code of a factor with its type, or the answer of a passkey."""

    password = Text(max_length=256, required=False, trim_whitespace=False)
    code = Line(max_length=64, required=False, help_text="A code of the factor `type`")
    type = Choice(choices=_WITH_CODES, required=False)
    credential = serializers.DictField(
        required=False,
        help_text="What `toJSON()` of a credential returns, for options of the ceremony `confirm`",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that there is exactly one proof."""
        if sum(name in attrs for name in _PROOFS) != 1:
            message = "send exactly one of password, code and credential"
            raise serializers.ValidationError({"password": [message]}, code="invalid")
        if "code" in attrs:
            _require(self, attrs, ("type",))
        return attrs
