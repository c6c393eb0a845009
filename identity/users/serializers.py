"""Serializers of users."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from rest_framework import serializers

from identity.core.errors import FieldError
from identity.rest.fields import ClearableFlag, Flag, JSONObject, Line, Text, Timestamp, Url
from identity.rest.serializers import Record, refuse_first
from identity.users import addresses, factor_bits, identifiers, imported_hashes, ownership
from identity.users.credentials import clean_password
from identity.users.identifiers import ADDRESS_KINDS, Kind
from identity.users.models import User
from identity.users.profile_serializers import ProfileSerializer, take_top_level

_ONE_IS_REQUIRED: Final = "is required unless password_hash is sent"
_ONLY_ONE: Final = "cannot be sent together with password_hash"
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
    """A user. ``email`` may also be sent as ``primary_email``, and ``phone`` as ``primary_phone``.

    ``given_name`` and ``family_name`` are those of ``profile``.
    """

    username = Username(max_length=128)
    password = Password(required=False)
    password_hash = Password(required=False)
    name = Line(required=False, allow_blank=True)
    given_name = Line(required=False, allow_blank=True)
    family_name = Line(required=False, allow_blank=True)
    email = Email()
    phone = Line(max_length=64, required=False, allow_blank=True)
    avatar = Url(allow_null=True)
    profile = ProfileSerializer(required=False)
    custom_data = JSONObject(required=False)
    is_suspended = serializers.BooleanField(read_only=True)
    email_verified = ClearableFlag()
    phone_verified = ClearableFlag()
    login_count = serializers.IntegerField(read_only=True)
    last_sign_in_at = Timestamp(read_only=True, allow_null=True)
    mfa_factors = serializers.ListField(
        child=serializers.ChoiceField(choices=list(factor_bits.NAMES)),
        read_only=True,
        help_text="The kinds of second factors that the user has set up",
    )
    two_step = serializers.BooleanField(
        read_only=True, help_text="Whether a sign-in asks for a second factor although no policy does"
    )

    not_patched = ("username", "password", "password_hash", "is_suspended", "two_step")
    second_names = _ALIASES
    one_of = ("password", "password_hash")
    rules = {
        "username": identifiers.clean_username,
        "password": clean_password,
        "password_hash": imported_hashes.normalize,
        "email": addresses.check_email,
        "phone": identifiers.clean_phone,
    }
    unique = {
        "username": lambda name: User.objects.filter(username_key=identifiers.fold(name)),
        "email": lambda email: ownership.get_holders(Kind.EMAIL, identifiers.fold(email)),
        "phone": lambda phone: ownership.get_holders(
            Kind.PHONE, identifiers.phone_key(identifiers.clean_phone(phone))
        ),
    }

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
                    raise serializers.ValidationError({name: f"{name} and {alias} differ"}, code="conflict")
        return take_top_level(super().to_internal_value(merged))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either a password or a hash of a new user, and not both."""
        refuse_first(self._find_password_conflict())
        return super().validate(attrs)

    def find_conflicts(self, values: Mapping[str, Any]) -> Iterator[FieldError]:
        """Return the errors of a missing or second password, and of verified flags without an address."""
        yield from super().find_conflicts(values)
        yield from self._find_password_conflict()
        for kind in ADDRESS_KINDS:
            is_missing = not values.get(kind, getattr(self.instance, kind, ""))
            if values.get(f"{kind}_verified") and is_missing and kind not in self.initial_data:
                yield FieldError(f"{kind}_verified", addresses.WITHOUT_ADDRESS[kind], "conflict")

    def _find_password_conflict(self) -> Iterator[FieldError]:
        sent = self.initial_data.keys() & set(self.one_of)
        if self.instance is None and not sent:
            yield FieldError("password", _ONE_IS_REQUIRED, "required")
        elif self.instance is None and len(sent) > 1:
            yield FieldError("password", _ONLY_ONE, "conflict")


class ImportedUserSerializer(serializers.Serializer[Any]):
    """A user of another system. The operator who runs the import vouches for the data."""

    username = Line(max_length=128, required=False, allow_blank=True)
    password_hash = Password(required=False, allow_blank=True)
    name = Line(required=False, allow_blank=True)
    given_name = Line(required=False, allow_blank=True)
    family_name = Line(required=False, allow_blank=True)
    email = Email()
    email_verified = Flag(required=False)
    phone = Line(max_length=64, required=False, allow_blank=True)
    phone_verified = Flag(required=False)
    avatar = Url(allow_null=True)
    profile = ProfileSerializer(required=False)
    custom_data = JSONObject(required=False)
    is_suspended = Flag(required=False)
    created_at = serializers.DateTimeField(required=False)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the fields, with those of the profile in ``profile``."""
        return take_top_level(super().to_internal_value(data))


class PasswordSerializer(serializers.Serializer[Any]):
    """A new password."""

    password = Password()
    remove_linked_accounts_and_passkeys = Flag(
        default=False, help_text="Whether the password becomes the only way to sign in, besides codes"
    )

    rules: ClassVar = {"password": clean_password}


class SuspensionSerializer(serializers.Serializer[Any]):
    """Whether a user is suspended."""

    is_suspended = Flag()


class SuspendedSerializer(serializers.Serializer[Any]):
    """The response to a suspension."""

    id = serializers.UUIDField()
    username = serializers.CharField()
    is_suspended = serializers.BooleanField()
    updated_at = Timestamp()
