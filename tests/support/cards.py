"""Cards of the operators' site that are edited in place: what is typed into each, and what it then shows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from identity.organizations.models import Organization, OrganizationPermission, OrganizationRole
from identity.resources.models import Resource
from identity.roles.models import Role
from interaction.connectors import services as connectors
from interaction.experience import services as experiences
from oidc.settings import services as oidc_settings
from tests.support.cast import PASSWORD, World
from tests.support.operators import administrator


@dataclass
class Card:
    """A card: the page of its row, and the operation that edits it."""

    page: str
    operation: str

    @property
    def url(self) -> str:
        return f"{self.page}change/?edit={self.operation}"

    @property
    def target(self) -> str:
        return f"{self.page}do/{self.operation}/"

    @property
    def anchor(self) -> str:
        return f"{self.page}change/#card-{self.operation}"


def card_of(world: World, kind: str, operation: str) -> Card:
    with world.active():
        row = ROWS[kind](world)
    return Card(f"/admin/{kind}/{row.pk}/", operation)


EXPERIENCE, USER = "experience/signinexperience", "users/user"
ORGANIZATION, APPLICATION = "organizations/organization", "applications/application"
SETTINGS, ROLE, RESOURCE = "oidc_settings/oidcsettings", "roles/role", "resources/resource"
CONNECTOR, TENANT, ADMINISTRATOR = "connectors/connector", "tenants/tenant", "administrators/administrator"
OF_THE_INSTALLATION = {TENANT, ADMINISTRATOR}  # only superusers see them
TEMPLATE, PERMISSION = "organizations/organizationrole", "organizations/organizationpermission"
METADATA: dict[str, Any] = {"redirect_uris": ["https://shop.example/cb"]}
GOOGLE = {"client_id": "shop-1", "client_secret": "GOCSPX-never-shown"}
ROWS: dict[str, Callable[[World], Any]] = {
    EXPERIENCE: lambda _: experiences.current(),
    USER: lambda world: world.user(name="Ada"),
    APPLICATION: lambda world: world.application(name="Shop", **METADATA).application,
    ORGANIZATION: lambda _: Organization.objects.create(name="Chapter"),
    SETTINGS: lambda _: oidc_settings.current(),
    ROLE: lambda _: Role.objects.create(name="Clerk"),
    RESOURCE: lambda _: Resource.objects.create(name="Orders", indicator="https://orders.example"),
    TEMPLATE: lambda _: OrganizationRole.objects.create(name="Editor"),
    CONNECTOR: lambda _: connectors.create(
        connector_id="google", type="Social", config=GOOGLE, is_proven=True
    ),
    TENANT: lambda world: world.tenant,
    ADMINISTRATOR: lambda _: administrator(),
    PERMISSION: lambda _: OrganizationPermission.objects.create(name="edit:page"),
}
LIFETIMES = {
    f"{kind}_{limit}_seconds": "7200"
    for kind in ("session", "refresh_token")
    for limit in ("idle", "absolute")
}
RIGHTS = {"email": "ada@ops.example", "role": "support", "is_superuser": "on", "current_password": PASSWORD}
SALES = {"name": "Sales", "access_token_ttl": "61", "access_token_signing_alg": "RS256"}
# What is typed, what the card then shows, and the audit entry.
FACTORS = {
    "factors": "Totp", "policy": "NoPrompt", "organization_required_mfa_policy": "NoPrompt", "social": "ask",
    "duration_days": "30", "inactive_days": "30", "recent_failures": "5",
}  # fmt: skip
CASES: dict[str, tuple[str, str, dict[str, Any], str, str]] = {
    "branding": (EXPERIENCE, "look", {"primary_color": "#00aa00"}, "#00aa00", "SignInExperience"),
    "methods": (EXPERIENCE, "ways", {"email_password": "on"}, "Email", "SignInExperience"),
    "sign-up": (EXPERIENCE, "registration", {}, "Closed", "SignInExperience"),
    "passwords": (EXPERIENCE, "passwords", {"min_length": "14"}, "<dd>14</dd>", "SignInExperience"),
    "account": (EXPERIENCE, "accounts", {"sms_countries": "DE AT"}, "DE AT", "SignInExperience"),
    "factors": (EXPERIENCE, "factors", FACTORS, "Authenticator app", "SignInExperience"),
    "user": (USER, "change", {"name": "Countess"}, "Countess", "User"),
    "profile": (USER, "profile", {"nickname": "The first"}, "Nickname: The first", "User"),
    "application": (APPLICATION, "change", {"name": "Store"} | METADATA, "Store", "Application"),
    "grants": (APPLICATION, "grant-types", {"grant_types": "authorization_code"}, "code</dd>", "Application"),
    "description": (APPLICATION, "describe", {"client_uri": "https://a.example"}, "a.example", "Application"),
    "lifetimes": (APPLICATION, "lifetimes", {"default_max_age": "61"}, "61 seconds", "Application"),
    "strength": (APPLICATION, "sign-in-strength", {"required_acr": "phr"}, "phr</dd>", "Application"),
    "own branding": (APPLICATION, "branding", {"layout": "plain"}, "Plain: no card", "Application"),
    "organization": (ORGANIZATION, "change", {"name": "Guild"}, "Guild", "Organization"),
    "signing": (SETTINGS, "signing", {"default_signing_alg": "EdDSA"}, "EdDSA", "OidcSettings"),
    "claims": (SETTINGS, "claims", {"groups_claim": "organizations"}, "rganizations", "OidcSettings"),
    "its lifetimes": (SETTINGS, "lifetimes", LIFETIMES, "2 hours at most", "OidcSettings"),
    "role": (ROLE, "change", {"name": "Cashier"}, "Cashier", "Role"),
    "resource": (RESOURCE, "change", SALES, "RS256", "Resource"),
    "its claims": (RESOURCE, "claims", {"claims": "roles"}, "roles", "Resource"),
    "organization role": (TEMPLATE, "change", {"name": "Author"}, "Author", "OrganizationRole"),
    "permission": (PERMISSION, "change", {"name": "edit:x"}, "edit:x", "OrganizationPermission"),
    "connector": (CONNECTOR, "change", {"client_id": "shop-2"}, "shop-2", "Connector"),
    "tenant": (TENANT, "change", {"name": "Acme & Sons"}, "Acme & Sons", "Tenant"),
    "administrator": (ADMINISTRATOR, "change", RIGHTS, "ada@ops.example", "Administrator"),
    "its branding": (ORGANIZATION, "branding", {"layout": "split"}, "Split", "Organization"),
}
