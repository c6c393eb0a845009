"""All routes. Each tenant has the same routes below ``/t/{slug}``."""

from typing import Any

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from audit.viewsets import EntryViewSet
from identity.organizations.viewsets import (
    MemberRoles,
    MemberViewSet,
    OrganizationPermissionViewSet,
    OrganizationRoleResourceScopes,
    OrganizationRoleScopes,
    OrganizationRoleViewSet,
    OrganizationViewSet,
    UserOrganizations,
)
from identity.resources.viewsets import ResourceViewSet, ScopeViewSet
from identity.rest.viewsets import CrudViewSet
from identity.roles.viewsets import RoleScopes, RoleUsers, RoleViewSet, UserRoles
from identity.sessions.viewsets import UserSessions, UserSignOut
from identity.tenants.viewsets import TenantsViewSet
from identity.users.viewsets import UserRows, UserViewSet
from interaction.api import own_factors
from interaction.api import passkeys as passkeys_api
from interaction.api import second_factor as second_factor_api
from interaction.api import views as interaction
from interaction.api.my_account import OwnGrants, OwnSessions, OwnTrustedDevices
from interaction.api.trusted_devices import UserTrustedDevices
from interaction.api.user_factors import UserFactors, UserFactorSettings, UserRecoveryCodes
from interaction.connectors.viewsets import ConnectorFactories, ConnectorViewSet
from interaction.experience.viewsets import SignInExperienceView
from interaction.pages.views import (
    agreement,
    brand,
    consent,
    forgot_password,
    no_access,
    pictures,
    register,
    second_factor,
    set_up,
    sign_in,
    social,
    well_known,
)
from interaction.pages.views.account import (
    activity,
    applications,
    browsers,
    confirm,
    contact,
    data,
    language,
    linked,
    overview,
    password,
    profile,
    remembered,
    security,
)
from interaction.pages.views.account import passkeys as account_passkeys
from management.administrators import views as administrators
from management.administrators.viewsets import AdministratorViewSet, InvitationViewSet
from management.api.permissions import IsSuperuser
from management.members import viewsets as m2m
from management.observability import views as observability
from management.openapi import views as openapi
from management.site.site import entrance
from oidc.applications.viewsets import (
    ApplicationRoles,
    ApplicationSecrets,
    ApplicationViewSet,
    OrganizationApplicationRoles,
    OrganizationApplicationViewSet,
    RoleApplications,
)
from oidc.context.views import SessionContext
from oidc.grants.viewsets import ApplicationGrants, UserGrants
from oidc.keys.views import jwks
from oidc.keys.viewsets import SigningKeyViewSet
from oidc.provider.discovery import discovery
from oidc.provider.views.authorize import authorize, resume
from oidc.provider.views.claims_preview import ClaimsPreview
from oidc.provider.views.end_session import end_session
from oidc.provider.views.revoke import revoke
from oidc.provider.views.token import token
from oidc.provider.views.userinfo import userinfo
from oidc.settings.viewsets import OidcSettingsView

oidc = [
    path(".well-known/openid-configuration", discovery, name="discovery"),
    path(".well-known/oauth-authorization-server", discovery, name="metadata"),
    path(".well-known/jwks.json", jwks, name="jwks"),
    # For clients that are configured with …/oidc as the provider. The issuer is the same.
    path("oidc/.well-known/openid-configuration", discovery, name="discovery-below"),
    path("oidc/authorize", authorize, name="authorize"),
    path("oidc/authorize/<uuid:request_id>", resume, name="resume"),
    path("oidc/token", token, name="token"),
    path("oidc/revoke", revoke, name="revoke"),
    path("oidc/userinfo", userinfo, name="userinfo"),
    path("oidc/end-session", end_session, name="end-session"),
]


def crud(prefix: str, viewset: type[CrudViewSet], name: str, **options: Any) -> list[URLPattern]:
    """Return the two routes of a resource: its list and an item."""
    collection = viewset.as_view({"get": "list", "post": "create"}, **options)
    methods: dict[str, Any] = {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}
    return [
        path(prefix, collection, name=f"{name}-list"),
        path(f"{prefix}/<str:pk>", viewset.as_view(methods, **options), name=name),
    ]


def owned(prefix: str, viewset: type[UserRows], item: str, name: str) -> list[URLPattern]:
    """Return the two routes of what belongs to a user: the list, which DELETE ends, and an item."""
    collection = viewset.as_view({"get": "list", "delete": "destroy_all"})
    return [
        path(prefix, collection, name=f"{name}-list"),
        path(f"{prefix}/<str:{item}>", viewset.as_view({"delete": "destroy"}), name=name),
    ]


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

third_parties = [
    path(
        "organizations/<str:organization_pk>/members",
        m2m.MemberViewSet.as_view({"get": "list", "post": "create"}),
        name="m2m-member-list",
    ),
    path(
        "organizations/<str:organization_pk>/members/<str:user_pk>",
        m2m.MemberViewSet.as_view({"delete": "destroy"}),
        name="m2m-member",
    ),
    path(
        "organizations/<str:organization_pk>/members/<str:user_pk>/roles",
        m2m.MemberRoles.as_view({"get": "list", "put": "update"}),
        name="m2m-member-roles",
    ),
]

api: list[URLPattern | URLResolver] = [
    path("api/interaction/sign-in-experience", interaction.Experience.as_view(), name="experience"),
    path("api/interaction/sign-in", interaction.SignIn.as_view(), name="sign-in"),
    path("api/interaction/register", interaction.Register.as_view(), name="register"),
    path("api/interaction/verification-code", interaction.SendCode.as_view(), name="verification-code"),
    path("api/interaction/verify-code", interaction.VerifyCode.as_view(), name="verify-code"),
    path("api/interaction/forgot-password", interaction.ForgotPassword.as_view(), name="forgot-password"),
    path("api/interaction/next", second_factor_api.NextStep.as_view(), name="next-step"),
    path("api/interaction/passkey/options", passkeys_api.PasskeyOptions.as_view(), name="passkey-options"),
    path("api/interaction/passkey/verify", passkeys_api.VerifyPasskey.as_view(), name="passkey-verify"),
    path("api/interaction/mfa/totp", second_factor_api.Totp.as_view(), name="mfa-totp"),
    path("api/interaction/mfa/backup-code", second_factor_api.BackupCode.as_view(), name="mfa-backup-code"),
    path(
        "api/interaction/mfa/recovery-code",
        second_factor_api.RecoveryCode.as_view(),
        name="mfa-recovery-code",
    ),
    path("api/interaction/mfa/code", second_factor_api.SendFactorCode.as_view(), name="mfa-code"),
    path(
        "api/interaction/mfa/code/verify",
        second_factor_api.VerifyFactorCode.as_view(),
        name="mfa-code-verify",
    ),
    path("api/interaction/mfa/skip", second_factor_api.Skip.as_view(), name="mfa-skip"),
    path("api/interaction/mfa/cancel", second_factor_api.Cancel.as_view(), name="mfa-cancel"),
    path("api/interaction/mfa/set-up/totp", second_factor_api.SetUpTotp.as_view(), name="mfa-set-up-totp"),
    path(
        "api/interaction/mfa/set-up/totp/verify",
        second_factor_api.VerifySetUpTotp.as_view(),
        name="mfa-set-up-totp-verify",
    ),
    path(
        "api/interaction/mfa/set-up/backup-codes",
        second_factor_api.SetUpBackupCodes.as_view(),
        name="mfa-set-up-backup-codes",
    ),
    *owned("api/my-account/sessions", OwnSessions, "session_pk", "my-session"),
    *owned("api/my-account/trusted-devices", OwnTrustedDevices, "device_pk", "my-trusted-device"),
    *owned("api/my-account/grants", OwnGrants, "grant_pk", "my-grant"),
    path(
        "api/my-account/mfa-verifications",
        own_factors.OwnFactors.as_view({"get": "list", "post": "create"}),
        name="my-factor-list",
    ),
    path(
        "api/my-account/mfa-verifications/<str:factor_pk>",
        own_factors.OwnFactors.as_view({"patch": "partial_update", "delete": "destroy"}),
        name="my-factor",
    ),
    path(
        "api/my-account/mfa-settings",
        own_factors.OwnFactorSettings.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="my-factor-settings",
    ),
    path(
        "api/my-account/confirm",
        own_factors.OwnConfirmation.as_view({"post": "create"}),
        name="my-confirmation",
    ),
    path("api/admin/sign-in", administrators.SignIn.as_view(), name="admin-sign-in"),
    path("api/admin/me", administrators.Me.as_view(), name="admin-me"),
    path("api/session/context", SessionContext.as_view(), name="session-context"),
    path("api/openapi.json", openapi.Document.as_view(), name="openapi"),
    path("api/docs", openapi.Reference.as_view(), name="docs"),
    path("api/v1/m2m/", include(third_parties)),
    path("api/v1/", include(v1)),
]

people = [
    path("sign-in", sign_in.sign_in, name="sign-in"),
    path("sign-in/code", sign_in.code, name="sign-in-code"),
    path("sign-in/second-factor", second_factor.second_factor, name="second-factor"),
    path("sign-in/set-up", set_up.set_up, name="set-up"),
    path("sign-in/backup-codes", set_up.backup_codes, name="backup-codes"),
    path("register", register.register, name="register"),
    path("register/terms/<uuid:pk>", agreement.agree, name="register-terms"),
    path("forgot-password", forgot_password.forgot_password, name="forgot-password"),
    path("social/callback", social.shared_callback, name="social-callback-shared"),
    path("social/callback/<uuid:pk>", social.callback, name="social-callback"),
    path("social/<path:connector_id>", social.start, name="social"),
    path("select-account", consent.select_account, name="select-account"),
    path("continue", consent.confirm, name="continue"),
    path("consent", consent.consent, name="consent"),
    path("no-access", no_access.no_access, name="no-access"),
    path("account", overview.overview, name="account"),
    path("account/profile", profile.profile, name="account-profile"),
    path("account/username", profile.username, name="account-username"),
    path("account/email", contact.email, name="account-email"),
    path("account/email/code", contact.email_code, name="account-email-code"),
    path("account/phone", contact.phone, name="account-phone"),
    path("account/phone/code", contact.phone_code, name="account-phone-code"),
    path("account/password", password.password, name="account-password"),
    path("account/security", security.security, name="account-security"),
    path("account/security/authenticator", security.authenticator, name="account-authenticator"),
    path("account/security/passkeys", account_passkeys.passkeys, name="account-passkeys"),
    path("account/security/codes", security.codes, name="account-backup-codes"),
    path("account/security/browsers", remembered.remembered_browsers, name="account-remembered"),
    path("confirm", confirm.confirm, name="confirm"),
    path("account/language", language.language, name="account-language"),
    path("account/activity", activity.activity, name="account-activity"),
    path("account/browsers", browsers.browsers, name="account-browsers"),
    path("account/applications", applications.applications, name="account-applications"),
    path("account/linked", linked.linked, name="account-linked"),
    path("account/data", data.export, name="account-data"),
    path("account/delete", data.delete, name="account-delete"),
    path("pictures/<str:digest>", pictures.picture, name="picture"),
    path("brand.css", brand.brand, name="brand"),
    path(".well-known/change-password", well_known.change_password, name="change-password"),
    path(".well-known/security.txt", well_known.security_txt, name="security-txt"),
    path("robots.txt", well_known.robots_txt, name="robots-txt"),
    path("favicon.ico", well_known.favicon, name="favicon"),
    path("", overview.home, name="home"),
]

machines = [
    path("healthz", observability.healthz, name="healthz"),
    path("readyz", observability.readyz, name="readyz"),
    path("metrics", observability.prometheus, name="metrics"),
]

# These exist only at the root: management.site.middleware returns 404 below a tenant.
operators = [
    path("admin", entrance, name="site"),
    path("admin/", admin.site.urls),
]

urlpatterns = [
    path("", include((machines, "operations"))),
    path("", include((oidc, "oidc"))),
    path("", include((api, "api"))),
    path("", include((people, "pages"))),
    *operators,
]

handler400 = "config.errors.bad_request"
handler403 = "config.errors.forbidden"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
