"""The sign-in experience: one row a tenant."""

from typing import Any

from django.db import models

from identity.core.models import EditableModel, TenantManager


def default_branding() -> dict[str, str]:
    """No branding: our own quiet look."""
    return {
        "logo_url": "",
        "dark_logo_url": "",
        "favicon": "",
        "primary_color": "",
        "dark_primary_color": "",
    }


def default_sign_in() -> dict[str, Any]:
    """Every identifier with a password; email and phone with a code as well."""
    return {
        "methods": [
            {"identifier": "username", "password": True, "verification_code": False},
            {"identifier": "email", "password": True, "verification_code": True},
            {"identifier": "phone", "password": True, "verification_code": True},
        ],
    }


def default_sign_up() -> dict[str, Any]:
    """Username and password, nothing to verify."""
    return {"identifiers": ["username"], "password": True, "verify": False}


def default_password_policy() -> dict[str, Any]:
    """Eight characters, a lower-case letter and a digit."""
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
    """People keep their username and cannot delete their account; phones of every country are texted."""
    return {
        "username_change": False,
        "deletion": False,
        "non_ascii_email_names": False,
        "sms_countries": [],
    }


def default_social_sign_in() -> dict[str, Any]:
    """Whoever a provider vouches for gets a user here; nobody is taken for somebody who is here."""
    return {
        "automatic_account_linking": False,
        "create_users": True,
        "create_users_while_registration_is_closed": False,
    }


class SignInExperience(EditableModel):
    """What end users of a tenant are offered, and how it looks."""

    branding = models.JSONField(default=default_branding)
    sign_in = models.JSONField(default=default_sign_in)
    sign_up = models.JSONField(default=default_sign_up)
    password_policy = models.JSONField(default=default_password_policy)
    # What people may do by themselves on their account page, and which addresses an account may have.
    account = models.JSONField(default=default_account)
    social_sign_in = models.JSONField(default=default_social_sign_in)
    # Words of the tenant's own for messages; see message_templates.py.
    message_templates = models.JSONField(default=list)
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
    def takes_newcomers_of_providers(self) -> bool:
        """Whether somebody whom another provider vouches for may become a new user.

        Closing registration closes this door too, unless the tenant leaves it open on purpose.
        """
        social = self.social_sign_in
        is_open = bool(self.sign_up["identifiers"])
        return social["create_users"] and (
            is_open or social.get("create_users_while_registration_is_closed", False)
        )

    @property
    def sms_countries(self) -> list[str]:
        """The countries that text messages are sent to (ISO 3166-1); an empty list stands for all."""
        return list(self.account.get("sms_countries", ()))

    def takes_password_for(self, identifier: str) -> bool:
        """Tell whether a kind of identifier may sign in with a password."""
        return self._takes("password", identifier)

    def takes_code_for(self, identifier: str) -> bool:
        """Tell whether a kind of identifier may sign in with a code that is sent to it."""
        return self._takes("verification_code", identifier)

    def _takes(self, way: str, identifier: str) -> bool:
        return any(method["identifier"] == identifier and method[way] for method in self.sign_in["methods"])
