"""The sign-in experience in the management API."""

from typing import Any, Final

from django.utils.translation import gettext_noop
from rest_framework import serializers

from identity.rest.choices import Choice
from identity.rest.fields import Flag, Line, Url, WholeNumber
from identity.rest.serializers import Record
from identity.users.identifiers import Kind
from interaction.experience import breached_passwords, pictures, terms
from interaction.experience.account_settings import AccountSerializer
from interaction.experience.brand import COLOUR, LAYOUTS
from interaction.experience.factor_settings import FactorSettingsSerializer
from interaction.experience.images import BadPictureError, formats
from interaction.experience.message_templates import MessageTemplatesSerializer
from interaction.experience.models import WAYS, default_sign_up
from interaction.experience.page_texts import PageTextsSerializer

_KINDS: Final = [kind.value for kind in Kind]


class Colour(Line):
    """A colour as ``#rgb`` or ``#rrggbb``, or an empty string."""

    pattern = r"^(#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}))?$"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 7, "required": False, "allow_blank": True, **options})

    def to_internal_value(self, data: Any) -> str:
        """Return the validated colour."""
        colour = super().to_internal_value(data)
        if colour and not COLOUR.fullmatch(colour):
            raise serializers.ValidationError(gettext_noop("must be a colour like #0a84ff"))
        return colour


_MAX_DATA_URL: Final = 360_000  # 256 KiB in base64, and the start of the URL


class PictureUrl(Line):
    """An ``https`` URL, or a picture as a data URL, which is stored and gets an address of its own."""

    pattern = r"^((https://|data:image/(png|webp|svg\+xml);base64,)[^\s\"'<>\\\u0000-\u001f\u007f-\u009f]*)?$"

    def __init__(self, **options: Any) -> None:
        text = "An https URL. A picture that is sent as a data URL is stored and gets a URL"
        defaults = {"max_length": _MAX_DATA_URL, "required": False, "allow_blank": True, "help_text": text}
        super().__init__(**{**defaults, **options})

    def to_internal_value(self, data: Any) -> str:
        """Return an ``https`` URL, the path of a stored picture, or the data URL of a cleaned one."""
        url = super().to_internal_value(data)
        if url.startswith(formats.SCHEME):
            return _clean_picture(url)
        return pictures.find_path(url) or Url().run_validation(url)

    def to_representation(self, value: str) -> str:
        """Return the URL, with the tenant's address for a stored picture."""
        return pictures.add_address(value)


def _clean_picture(url: str) -> str:
    try:
        return formats.to_data_url(formats.clean(formats.from_data_url(url)))
    except BadPictureError as error:
        raise serializers.ValidationError(str(error), code="invalid_picture") from None


class BrandingSerializer(serializers.Serializer[Any]):
    """The look of the pages."""

    logo_url = PictureUrl()
    dark_logo_url = PictureUrl()
    favicon = PictureUrl()
    primary_color = Colour()
    dark_primary_color = Colour()
    layout = Choice(
        choices=LAYOUTS,
        required=False,
        allow_blank=True,
        help_text="A card in the middle, a coloured half beside the form, or no card at all. "
        "An empty string means a card",
    )


class MethodSerializer(serializers.Serializer[Any]):
    """The sign-in methods of one kind of identifier."""

    identifier = Choice(choices=_KINDS)
    password = Flag()
    verification_code = Flag()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that all members are present, in a PATCH too, and that codes are not sent to usernames."""
        if missing := [name for name in self.get_fields() if name not in attrs]:
            raise serializers.ValidationError(
                dict.fromkeys(missing, gettext_noop("is required")), code="required"
            )
        if attrs["identifier"] == Kind.USERNAME and attrs["verification_code"]:
            raise serializers.ValidationError(
                {"verification_code": gettext_noop("a code cannot be sent to a username")}
            )
        return attrs


class SignInMethodsSerializer(serializers.Serializer[Any]):
    """The sign-in methods, at most one entry for each kind of identifier. The pages keep their order."""

    methods = MethodSerializer(many=True, required=False)
    ways = serializers.ListField(
        child=Choice(choices=WAYS),
        default=lambda: list(WAYS),
        help_text="The way that the sign-in page offers first, then the other",
    )

    def validate_methods(self, methods: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Check that no kind of identifier is listed twice."""
        kinds = [method["identifier"] for method in methods]
        if len(kinds) != len(set(kinds)):
            raise serializers.ValidationError(
                gettext_noop("an identifier is listed more than once"), code="repeated"
            )
        return methods

    def validate_ways(self, ways: list[str]) -> list[str]:
        """Check that each way is listed once."""
        if sorted(ways) != sorted(WAYS):
            raise serializers.ValidationError(
                gettext_noop("must list password and verification_code, each once"), code="invalid"
            )
        return ways


class SignUpSerializer(serializers.Serializer[Any]):
    """The fields of the registration page."""

    identifiers = serializers.ListField(child=Choice(choices=_KINDS), required=False, max_length=3)
    password = Flag(required=False)
    verify = Flag(required=False)
    agree_to_terms = Choice(
        choices=terms.CHOICES,
        required=False,
        help_text="How new users agree to the terms of use and the privacy policy: `automatic` shows a "
        "sentence with links, `manual` a checkbox that they must tick. `manual` requires a "
        "`terms_of_use_url` or a `privacy_policy_url`",
    )

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Return the settings. Rows of release 0.2.0 do not have all of them."""
        shown: dict[str, Any] = super().to_representation(default_sign_up() | instance)
        return shown

    def validate_identifiers(self, identifiers: list[str]) -> list[str]:
        """Remove repeated identifiers."""
        return list(dict.fromkeys(identifiers))


class PasswordPolicySerializer(serializers.Serializer[Any]):
    """The rules for passwords that users choose."""

    min_length = WholeNumber(required=False, min_value=6, max_value=32)
    require_lowercase = Flag(required=False)
    require_uppercase = Flag(required=False)
    require_numbers = Flag(required=False)
    require_special_chars = Flag(required=False)
    reject_common = Flag(required=False, help_text="Whether the 20,000 most common passwords are refused")
    reject_breached = Flag(
        required=False,
        help_text="Whether passwords on the list of the setting BREACHED_PASSWORDS are refused",
    )
    strength_meter = Flag(
        required=False,
        help_text="Whether pages show the strength of a password during typing. No password is refused",
    )

    def validate_reject_breached(self, reject: bool) -> bool:  # noqa: FBT001 - called so by the library
        """Check that a list of breached passwords is configured."""
        if reject and not breached_passwords.is_available():
            raise serializers.ValidationError(gettext_noop("requires the setting BREACHED_PASSWORDS"))
        return reject


class SocialSignInSerializer(serializers.Serializer[Any]):
    """The settings for social sign-in with an account that is not linked to a user."""

    automatic_account_linking = Flag(
        required=False,
        help_text="Whether the account is linked to the user with the same email address, if both sides have "
        "verified the address",
    )
    create_users = Flag(required=False, help_text="Whether a new user is created while registration is open")
    create_users_while_registration_is_closed = Flag(
        required=False,
        help_text="Whether a new user is created while `sign_up.identifiers` is empty. "
        "Requires `create_users`",
    )


class ExperienceSerializer(FactorSettingsSerializer, Record):
    """The sign-in experience."""

    branding = BrandingSerializer(required=False)
    sign_in = SignInMethodsSerializer(required=False)
    sign_up = SignUpSerializer(required=False)
    password_policy = PasswordPolicySerializer(required=False)
    account = AccountSerializer(required=False)
    social_sign_in = SocialSignInSerializer(required=False)
    message_templates = MessageTemplatesSerializer(required=False)
    page_texts = PageTextsSerializer(required=False)
    terms_of_use_url = Url()
    privacy_policy_url = Url()
    created_at = None  # type: ignore[assignment]  # not part of the interface
