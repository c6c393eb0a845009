"""Serializers of users."""

from typing import Any, Final

from rest_framework import serializers

from identity.rest.fields import Flag, JSONObject, Line, Text, Timestamp, Url
from identity.rest.serializers import Record

_ALIASES: Final = {"primary_email": "email", "primary_phone": "phone"}


class Password(Text):
    """A password. White space is part of it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False, "max_length": 256, "write_only": True, **options})


class Username(Line):
    """A username, without white space and ``@``."""

    pattern = r"^[^\s@\u0000-\u001f\u007f-\u009f]+$"


class Email(Line):
    """An email address or an empty string."""

    pattern = r"^([^\u0000-\u001f\u007f-\u009f]+@[^@\s\u0000-\u001f\u007f-\u009f]+)?$"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 254, "required": False, "allow_blank": True, **options})


class UserSerializer(Record):
    """A user. ``email`` may also be sent as ``primary_email``, and ``phone`` as ``primary_phone``."""

    username = Username(max_length=128)
    password = Password(required=False)
    password_hash = Password(required=False)
    name = Line(required=False, allow_blank=True)
    email = Email()
    phone = Line(max_length=64, required=False, allow_blank=True)
    avatar = Url(allow_null=True)
    custom_data = JSONObject(required=False)
    is_suspended = serializers.BooleanField(read_only=True)
    email_verified = serializers.BooleanField(read_only=True)
    phone_verified = serializers.BooleanField(read_only=True)
    login_count = serializers.IntegerField(read_only=True)
    last_sign_in_at = Timestamp(read_only=True, allow_null=True)

    not_patched = ("username", "password", "password_hash")
    second_names = _ALIASES
    one_of = ("password", "password_hash")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the fields, with aliases replaced.

        Raises:
            serializers.ValidationError: a field and its alias differ.

        """
        merged = dict(data)
        for alias, name in _ALIASES.items():
            if alias in merged:
                value = merged.pop(alias)
                if merged.setdefault(name, value) != value:
                    raise serializers.ValidationError({name: f"{name} and {alias} differ"})
        fields: dict[str, Any] = super().to_internal_value(merged)
        return fields

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either a password or a hash of a new user, and not both."""
        if self.instance is None and ("password" in attrs) == ("password_hash" in attrs):
            raise serializers.ValidationError({"password": "is required unless password_hash is sent"})
        return super().validate(attrs)


class ImportedUserSerializer(serializers.Serializer[Any]):
    """A user of another system. The operator who runs the import vouches for the data."""

    username = Line(max_length=128, required=False, allow_blank=True)
    password_hash = Password(required=False, allow_blank=True)
    name = Line(required=False, allow_blank=True)
    email = Email()
    email_verified = Flag(required=False)
    phone = Line(max_length=64, required=False, allow_blank=True)
    phone_verified = Flag(required=False)
    avatar = Url(allow_null=True)
    custom_data = JSONObject(required=False)
    is_suspended = Flag(required=False)
    created_at = serializers.DateTimeField(required=False)


class PasswordSerializer(serializers.Serializer[Any]):
    """A new password."""

    password = Password()


class SuspensionSerializer(serializers.Serializer[Any]):
    """Whether a user is suspended."""

    is_suspended = Flag()


class SuspendedSerializer(serializers.Serializer[Any]):
    """The response to a suspension."""

    id = serializers.UUIDField()
    username = serializers.CharField()
    is_suspended = serializers.BooleanField()
    updated_at = Timestamp()
