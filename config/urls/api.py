"""The APIs: sign-in, account, administrators, members and management."""

from django.urls import URLPattern, URLResolver, include, path

from config.urls.management_api import v1
from config.urls.rows import owned
from interaction.api import own_factors
from interaction.api import passkeys as passkeys_api
from interaction.api import second_factor as second_factor_api
from interaction.api import views as interaction
from interaction.api.my_account import OwnGrants, OwnSessions, OwnTrustedDevices
from management.administrators import views as administrators
from management.members import viewsets as m2m
from management.openapi import views as openapi
from oidc.context.views import SessionContext

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
