"""The management API, below ``/api/v1``."""

from django.urls import path

from audit.viewsets import EntryViewSet
from config.urls.rows import crud, owned
from identity.organizations.template_viewsets import (
    OrganizationPermissionViewSet,
    OrganizationRoleResourceScopes,
    OrganizationRoleScopes,
    OrganizationRoleViewSet,
)
from identity.organizations.viewsets import (
    MemberRoles,
    MemberViewSet,
    OrganizationViewSet,
    UserOrganizations,
)
from identity.resources.viewsets import ResourceViewSet, ScopeViewSet
from identity.roles.viewsets import RoleScopes, RoleUsers, RoleViewSet, UserRoles
from identity.sessions.viewsets import UserSessions, UserSignOut
from identity.tenants.viewsets import TenantsViewSet
from identity.users.viewsets import UserViewSet
from interaction.api.trusted_devices import UserTrustedDevices
from interaction.api.user_factors import UserFactors, UserFactorSettings, UserRecoveryCodes
from interaction.connectors.viewsets import ConnectorFactories, ConnectorViewSet
from interaction.experience.viewsets import SignInExperienceView
from management.administrators.viewsets import AdministratorViewSet, InvitationViewSet
from management.api.permissions import IsSuperuser
from oidc.applications.viewsets import (
    ApplicationRoles,
    ApplicationSecrets,
    ApplicationViewSet,
    OrganizationApplicationRoles,
    OrganizationApplicationViewSet,
    RoleApplications,
)
from oidc.grants.viewsets import ApplicationGrants, UserGrants
from oidc.keys.viewsets import SigningKeyViewSet
from oidc.provider.views.claims_preview import ClaimsPreview
from oidc.settings.viewsets import OidcSettingsView

v1 = [
    *crud("users", UserViewSet, "user"),
    path("users/<str:pk>/password", UserViewSet.as_view({"patch": "password"}), name="user-password"),
    path("users/<str:pk>/suspend", UserViewSet.as_view({"patch": "suspend"}), name="user-suspend"),
    path("users/<str:pk>/locks", UserViewSet.as_view({"delete": "locks"}), name="user-locks"),
    path("users/<str:pk>/roles", UserRoles.as_view(), name="user-roles"),
    path(
        "users/<str:pk>/mfa-verifications",
        UserFactors.as_view({"get": "list", "post": "create", "delete": "destroy_all"}),
        name="user-factor-list",
    ),
    path(
        "users/<str:pk>/mfa-verifications/<str:factor_pk>",
        UserFactors.as_view({"delete": "destroy"}),
        name="user-factor",
    ),
    path(
        "users/<str:pk>/recovery-codes",
        UserRecoveryCodes.as_view({"post": "create"}),
        name="user-recovery-code-list",
    ),
    path(
        "users/<str:pk>/mfa-settings",
        UserFactorSettings.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="user-factor-settings",
    ),
    path(
        "users/<str:pk>/organizations",
        UserOrganizations.as_view({"get": "list"}),
        name="user-organizations",
    ),
    *owned("users/<str:pk>/sessions", UserSessions, "session_pk", "user-session"),
    *owned("users/<str:pk>/trusted-devices", UserTrustedDevices, "device_pk", "user-trusted-device"),
    *owned("users/<str:pk>/grants", UserGrants, "grant_pk", "user-grant"),
    path("users/<str:pk>/sign-out", UserSignOut.as_view({"post": "sign_out"}), name="user-sign-out"),
    *crud("roles", RoleViewSet, "role"),
    path("roles/<str:pk>/scopes", RoleScopes.as_view(), name="role-scopes"),
    path("roles/<str:pk>/users", RoleUsers.as_view(), name="role-users"),
    path("roles/<str:pk>/applications", RoleApplications.as_view(), name="role-applications"),
    *crud("resources", ResourceViewSet, "resource"),
    path(
        "resources/<str:resource_pk>/scopes",
        ScopeViewSet.as_view({"get": "list", "post": "create"}),
        name="scope-list",
    ),
    path(
        "resources/<str:resource_pk>/scopes/<str:pk>",
        ScopeViewSet.as_view({"delete": "destroy"}),
        name="scope",
    ),
    *crud("organizations", OrganizationViewSet, "organization"),
    path(
        "organizations/<str:pk>/users",
        MemberViewSet.as_view({"get": "list", "post": "create"}),
        name="member-list",
    ),
    path(
        "organizations/<str:pk>/users/<str:user_pk>",
        MemberViewSet.as_view({"patch": "partial_update", "delete": "destroy"}),
        name="member",
    ),
    path("organizations/<str:pk>/users/<str:user_pk>/roles", MemberRoles.as_view(), name="member-roles"),
    path(
        "organizations/<str:pk>/applications",
        OrganizationApplicationViewSet.as_view({"get": "list", "post": "create"}),
        name="organization-application-list",
    ),
    path(
        "organizations/<str:pk>/applications/<str:application_pk>",
        OrganizationApplicationViewSet.as_view({"delete": "destroy"}),
        name="organization-application",
    ),
    path(
        "organizations/<str:pk>/applications/<str:application_pk>/roles",
        OrganizationApplicationRoles.as_view(),
        name="organization-application-roles",
    ),
    *crud("organization-roles", OrganizationRoleViewSet, "organization-role"),
    path(
        "organization-roles/<str:pk>/scopes",
        OrganizationRoleScopes.as_view(),
        name="organization-role-scopes",
    ),
    path(
        "organization-roles/<str:pk>/resource-scopes",
        OrganizationRoleResourceScopes.as_view(),
        name="organization-role-resource-scopes",
    ),
    path(
        "organization-permissions",
        OrganizationPermissionViewSet.as_view({"get": "list", "post": "create"}),
        name="organization-permission-list",
    ),
    path(
        "organization-permissions/<str:pk>",
        OrganizationPermissionViewSet.as_view({"delete": "destroy"}),
        name="organization-permission",
    ),
    *crud("applications", ApplicationViewSet, "application"),
    path(
        "applications/<str:pk>/secret",
        ApplicationViewSet.as_view({"post": "secret"}),
        name="application-secret",
    ),
    path(
        "applications/<str:pk>/secrets",
        ApplicationSecrets.as_view({"get": "list", "post": "create"}),
        name="application-secret-list",
    ),
    path(
        "applications/<str:pk>/secrets/<str:secret_pk>",
        ApplicationSecrets.as_view({"delete": "destroy"}),
        name="application-one-secret",
    ),
    path(
        "applications/<str:pk>/claims-preview",
        ClaimsPreview.as_view(),
        name="application-claims-preview",
    ),
    path(
        "applications/<str:pk>/grants",
        ApplicationGrants.as_view({"delete": "destroy_all"}),
        name="application-grant-list",
    ),
    path("applications/<str:pk>/roles", ApplicationRoles.as_view(), name="application-roles"),
    path("signing-keys", SigningKeyViewSet.as_view({"get": "list"}), name="signing-key-list"),
    path(
        "signing-keys/prepare",
        SigningKeyViewSet.as_view({"post": "prepare"}),
        name="signing-key-prepare",
    ),
    path(
        "signing-keys/rotate",
        SigningKeyViewSet.as_view({"post": "rotate"}),
        name="signing-key-rotate",
    ),
    path(
        "signing-keys/retire",
        SigningKeyViewSet.as_view({"post": "retire"}),
        name="signing-key-retire",
    ),
    path(
        "signing-keys/<str:pk>",
        SigningKeyViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
        name="signing-key",
    ),
    *crud("connectors", ConnectorViewSet, "connector"),
    path("connectors/<str:pk>/test", ConnectorViewSet.as_view({"post": "test"}), name="connector-test"),
    path("connector-factories", ConnectorFactories.as_view(), name="connector-factories"),
    path("oidc-settings", OidcSettingsView.as_view(), name="oidc-settings"),
    path("sign-in-experience", SignInExperienceView.as_view(), name="sign-in-experience"),
    path("logs", EntryViewSet.as_view({"get": "list"}), name="log-list"),
    path("logs/<str:pk>", EntryViewSet.as_view({"get": "retrieve"}), name="log"),
    *crud("tenants", TenantsViewSet, "tenant", permission_classes=(IsSuperuser,)),
    *crud("administrators", AdministratorViewSet, "administrator", permission_classes=(IsSuperuser,)),
    path(
        "administrator-invitations",
        InvitationViewSet.as_view({"get": "list", "post": "create"}, permission_classes=(IsSuperuser,)),
        name="administrator-invitation-list",
    ),
    path(
        "administrator-invitations/<str:pk>",
        InvitationViewSet.as_view(
            {"get": "retrieve", "delete": "destroy"}, permission_classes=(IsSuperuser,)
        ),
        name="administrator-invitation",
    ),
]
