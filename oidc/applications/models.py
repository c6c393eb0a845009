"""The application, which replaces the toolkit's client model."""

import secrets
from typing import Final, Self

from django.db import models

from identity.core.models import EditableModel, Link, TenantManager, TenantModel
from identity.organizations.models import Organization, OrganizationRole
from identity.roles.models import Role

_EMPTY_LIST: Final = models.Value([], models.JSONField())


def new_client_id() -> str:
    """Return a client id: 96 random bits in hexadecimal digits."""
    return secrets.token_hex(12)


class ApplicationQuerySet(models.QuerySet["Application"]):
    """Queries for applications."""

    def with_origin(self, origin: str) -> Self:
        """Return the applications that have a redirect URI with this origin."""
        return self.filter(origins__origin=origin).distinct()


class Application(EditableModel):
    """An OAuth client. Its type says how it may authenticate and what it may ask for."""

    class Type(models.TextChoices):
        """Where the application runs, which decides whether it can keep a secret (RFC 6749 section 2.1)."""

        TRADITIONAL = "Traditional"
        SPA = "SPA"
        NATIVE = "Native"
        MACHINE = "MachineToMachine"

    name = models.CharField(max_length=256)
    description = models.TextField(blank=True)
    type = models.CharField(max_length=16, choices=Type)
    client_id = models.CharField(max_length=64, default=new_client_id, editable=False)
    # Of the first secret. Empty if it was deleted. ``client_secrets`` has the rules.
    secret_digest = models.CharField(max_length=128, editable=False)
    # Null: as the application.
    secret_created_at = models.DateTimeField(null=True, editable=False)
    # There may be rows of ``ApplicationSecret``.
    has_further_secrets = models.BooleanField(default=False, db_default=False, editable=False)
    redirect_uris = models.JSONField(default=list)
    post_logout_redirect_uris = models.JSONField(default=list)
    grant_types = models.JSONField(default=list)
    is_third_party = models.BooleanField(default=False)
    # As an administrator set it. ``must_use_pkce`` is the effective value.
    require_pkce = models.BooleanField(default=False, db_default=False)
    # Algorithms of JWS (RFC 7518). Without one, ID tokens are signed with the tenant's default algorithm,
    # and userinfo is not signed.
    id_token_signed_response_alg = models.CharField(max_length=16, blank=True, default="", db_default="")
    userinfo_signed_response_alg = models.CharField(max_length=16, blank=True, default="", db_default="")
    custom_claims = models.JSONField(default=list, db_default=_EMPTY_LIST)
    # Client metadata of RFC 7591 section 2, and of OpenID Connect Registration section 2.
    client_uri = models.CharField(max_length=2048, blank=True, default="", db_default="")
    logo_uri = models.CharField(max_length=2048, blank=True, default="", db_default="")
    policy_uri = models.CharField(max_length=2048, blank=True, default="", db_default="")
    tos_uri = models.CharField(max_length=2048, blank=True, default="", db_default="")
    initiate_login_uri = models.CharField(max_length=2048, blank=True, default="", db_default="")
    contacts = models.JSONField(default=list, db_default=_EMPTY_LIST)
    default_max_age = models.PositiveIntegerField(null=True)  # seconds
    # Values of ``acr``: the one that every sign-in must have, and those of requests that name none.
    required_acr = models.TextField(blank=True, default="", db_default="")
    default_acr_values = models.JSONField(default=list, db_default=_EMPTY_LIST)
    # As an administrator set them, in seconds. Null: as the tenant.
    refresh_token_idle_seconds = models.PositiveIntegerField(null=True)
    refresh_token_absolute_seconds = models.PositiveIntegerField(null=True)
    # The smaller of the tenant's and its own, so that the token endpoint need not read the tenant's.
    # Null: as the installation.
    effective_refresh_idle_seconds = models.PositiveIntegerField(null=True, editable=False)
    effective_refresh_absolute_seconds = models.PositiveIntegerField(null=True, editable=False)
    # Of the pages during a sign-in to the application: see ``identity.core.branding``.
    branding = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    # Only users with one of ``allowed_roles``, or of ``allowed_organizations``, may sign in.
    is_restricted = models.BooleanField(default=False, db_default=False, editable=False)

    objects = TenantManager.from_queryset(ApplicationQuerySet)()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "client_id"], name="application_client_id_unique"),
        ]
        indexes = [models.Index(fields=["tenant", "-created_at", "-id"], name="application_newest_first")]

    def __str__(self) -> str:
        return self.name

    @property
    def must_present_secret(self) -> bool:
        """Whether it is a confidential client, which must authenticate with its secret."""
        return self.type in {self.Type.TRADITIONAL, self.Type.MACHINE}

    @property
    def must_use_pkce(self) -> bool:
        """Whether the authorization request needs a code challenge (RFC 9700 section 2.1.1)."""
        return self.require_pkce or self.type in PUBLIC_TYPES


# Columns that only pages and the management API read.
PAGE_COLUMNS: Final = (
    *("description", "post_logout_redirect_uris", "contacts"),
    *("client_uri", "logo_uri", "policy_uri", "tos_uri", "initiate_login_uri"),
    *("refresh_token_idle_seconds", "refresh_token_absolute_seconds"),
    "branding",
)
PUBLIC_TYPES: Final = frozenset({Application.Type.SPA, Application.Type.NATIVE})


class ApplicationOrigin(TenantModel):
    """An origin of an application's redirect URIs, for finding applications by origin."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="origins")
    origin = models.CharField(max_length=2048)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "application", "origin"], name="application_origin_unique"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "origin"], name="application_by_origin")]

    def __str__(self) -> str:
        return self.origin


class ApplicationSecret(TenantModel):
    """A secret of a confidential application besides the first one, which is in the application's row."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=256, blank=True)
    digest = models.CharField(max_length=128, editable=False)
    expires_at = models.DateTimeField(null=True)  # null: never

    objects = TenantManager()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "application"], name="secret_of_application"),
            models.Index(
                fields=["expires_at"], name="application_secret_expiry", condition=~models.Q(expires_at=None)
            ),
        ]

    def __str__(self) -> str:
        return self.name or str(self.pk)


class AllowedRole(Link):
    """Users with this role may use the application."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="allowed_roles")
    role = models.ForeignKey(Role, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "application", "role"], name="allowed_role_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.application_id} {self.role_id}"


class AllowedOrganization(Link):
    """Members of this organization may use the application."""

    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="allowed_organizations"
    )
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "application", "organization"], name="allowed_organization_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.application_id} {self.organization_id}"


class ApplicationRole(Link):
    """A machine application has a system role."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="+")
    role = models.ForeignKey(Role, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "application", "role"], name="application_role_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.application_id} {self.role_id}"


class OrganizationApplication(EditableModel):
    """A machine application is bound to an organization, and may request its tokens."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="bindings")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "organization", "application"], name="organization_application_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.application_id} in {self.organization_id}"


class OrganizationApplicationRole(Link):
    """A bound application has a role in the organization of the binding."""

    binding = models.ForeignKey(OrganizationApplication, on_delete=models.CASCADE, related_name="+")
    role = models.ForeignKey(OrganizationRole, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "binding", "role"], name="organization_application_role_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.binding_id} {self.role_id}"
