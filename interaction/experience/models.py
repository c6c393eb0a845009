"""The sign-in experience of a tenant."""

from typing import Any, Final

from django.db import models

from identity.core.models import EditableModel, TenantManager, TenantModel
from identity.factors import policy
from identity.organizations.models import Organization
from identity.users.identifiers import Kind
from interaction.experience import terms
from interaction.experience.factor_properties import FactorProperties
from oidc.applications.models import Application


def default_branding() -> dict[str, str]:
    """Return empty values, which give the default appearance."""
    return {
        "logo_url": "",
        "dark_logo_url": "",
        "favicon": "",
        "primary_color": "",
        "dark_primary_color": "",
        "layout": "",
    }


def default_sign_in() -> dict[str, Any]:
    """Return password sign-in for every identifier, and codes for email and phone."""
    return {
        "methods": [
            {"identifier": "username", "password": True, "verification_code": False},
            {"identifier": "email", "password": True, "verification_code": True},
            {"identifier": "phone", "password": True, "verification_code": True},
        ],
    }


# A password and a code, in the default order: the sign-in page offers the first way first.
WAYS: Final = ("password", "verification_code")


def default_sign_up() -> dict[str, Any]:
    """Return registration with username and password, without verification."""
    return {
        "identifiers": ["username"],
        "password": True,
        "verify": False,
        "agree_to_terms": terms.AUTOMATIC,
    }


def default_password_policy() -> dict[str, Any]:
    """Return a policy that requires eight characters, a lower-case letter and a digit."""
    return {
        "min_length": 8,
        "require_lowercase": True,
        "require_uppercase": False,
        "require_numbers": True,
        "require_special_chars": False,
        "reject_common": False,
        "reject_breached": False,
        "strength_meter": False,
    }


def default_account() -> dict[str, Any]:
    """Return settings that allow SMS to all countries, but no change of username and no account deletion."""
    return {
        "username_change": False,
        "deletion": False,
        "non_ascii_email_names": False,
        "sms_countries": [],
        "profile_fields": [],
    }


def default_social_sign_in() -> dict[str, Any]:
    """Return settings with which social sign-in creates users, but does not link existing users."""
    return {
        "automatic_account_linking": False,
        "create_users": True,
        "create_users_while_registration_is_closed": False,
    }


class StoredPicture(TenantModel):
    """An uploaded logo or icon, cleaned: see ``images``. A picture that no branding uses is deleted.

    ``digest`` is the hash of content and type, a part of the address.
    """

    digest = models.CharField(max_length=32)
    content_type = models.CharField(max_length=32)
    content = models.BinaryField()

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "digest"], name="stored_picture_once"),
        ]

    def __str__(self) -> str:
        return self.digest


class OwnedPicture(TenantModel):
    """An uploaded logo or icon of the branding of an application or an organization, which deletes it.

    ``digest`` is the hash of owner, content and type, a part of the address.
    """

    application = models.ForeignKey(Application, null=True, on_delete=models.CASCADE, related_name="+")
    organization = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=32)
    content_type = models.CharField(max_length=32)
    content = models.BinaryField()

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "digest"], name="owned_picture_once"),
        ]

    def __str__(self) -> str:
        return self.digest


_NO_MEMBERS: Final = models.Value({}, models.JSONField())


class SignInExperience(FactorProperties, EditableModel):
    """The settings of a tenant's end-user pages, and their appearance."""

    branding = models.JSONField(default=default_branding)
    sign_in = models.JSONField(default=default_sign_in)
    sign_up = models.JSONField(default=default_sign_up)
    password_policy = models.JSONField(default=default_password_policy)
    # What users can do on their account page, and which addresses and countries are allowed.
    account = models.JSONField(default=default_account)
    social_sign_in = models.JSONField(default=default_social_sign_in)
    # See message_templates.py.
    message_templates = models.JSONField(default=list)
    # See page_texts.py.
    page_texts = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    # See identity.factors.policy and factor_settings.py. Empty in rows of earlier releases.
    mfa = models.JSONField(default=policy.default_mfa, db_default=_NO_MEMBERS)
    passkey_sign_in = models.JSONField(default=dict, db_default=_NO_MEMBERS)
    trusted_device_policy = models.JSONField(default=dict, db_default=_NO_MEMBERS)
    adaptive_mfa = models.JSONField(default=dict, db_default=_NO_MEMBERS)
    # When the policy of trusted devices was last switched on, or a factor was removed from ``mfa``: what was
    # remembered before has ended.
    trusted_devices_since = models.DateTimeField(null=True)
    attestation = models.JSONField(default=dict, db_default=_NO_MEMBERS)
    # Whether a forgotten password is replaced only after a second factor, if the user has one.
    forgot_password_requires_factor = models.BooleanField(default=True, db_default=True)
    terms_of_use_url = models.CharField(max_length=2048, blank=True)
    privacy_policy_url = models.CharField(max_length=2048, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="sign_in_experience_one"),
        ]

    def __str__(self) -> str:
        return str(self.tenant_id)

    @property
    def documents_to_agree_to(self) -> list[str]:
        """The URLs of the documents to which new users must explicitly agree; an empty list for none."""
        urls = [url for url in (self.terms_of_use_url, self.privacy_policy_url) if url]
        return urls if self.sign_up.get("agree_to_terms") == terms.MANUAL else []

    @property
    def can_create_social_users(self) -> bool:
        """Whether social sign-in creates users.

        While registration is closed, the tenant has to allow that explicitly.
        """
        social = self.social_sign_in
        is_open = bool(self.sign_up["identifiers"])
        return social["create_users"] and (
            is_open or social.get("create_users_while_registration_is_closed", False)
        )

    @property
    def sms_countries(self) -> list[str]:
        """The countries to which text messages are sent (ISO 3166-1). An empty list allows all countries."""
        return list(self.account.get("sms_countries", ()))

    @property
    def profile_fields(self) -> list[str]:
        """The members of the profile that users see on their pages. Rows of release 0.1.3 have no list."""
        return list(self.account.get("profile_fields", ()))

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of identifier, in the order in which pages name them: that of the methods."""
        listed = [Kind(method["identifier"]) for method in self.sign_in["methods"]]
        return [*listed, *(kind for kind in Kind if kind not in listed)]

    @property
    def ways(self) -> list[str]:
        """A password and a code, in the order in which the pages offer them."""
        return list(self.sign_in.get("ways", WAYS))

    def can_use_password(self, identifier: str) -> bool:
        """Return whether users can sign in with this kind of identifier and a password."""
        return self._is_on(identifier, "password")

    def can_use_code(self, identifier: str) -> bool:
        """Return whether users can sign in with this kind of identifier and a code."""
        return self._is_on(identifier, "verification_code")

    def _is_on(self, identifier: str, name: str) -> bool:
        return any(method["identifier"] == identifier and method[name] for method in self.sign_in["methods"])
