"""The keys of audit entries.

A key is ``Subject.Verb``. Keys are part of the interface: new ones may be added, but none is renamed.
"""

from django.db.models import TextChoices


class Event(TextChoices):
    """The keys of audit entries."""

    SIGN_IN_PASSWORD = "SignIn.Password"  # noqa: S105 - a name, not a password
    SIGN_IN_CODE = "SignIn.VerificationCode"
    REGISTER_USERNAME = "Register.Username"
    REGISTER_EMAIL = "Register.Email"
    REGISTER_PHONE = "Register.Phone"
    FORGOT_PASSWORD = "ForgotPassword"  # noqa: S105
    CODE_SEND = "VerificationCode.Send"
    MESSAGE_RETRY = "Message.Retry"
    MESSAGE_DROP = "Message.Drop"
    CODE_VERIFY = "VerificationCode.Verify"
    CODE_ALARM = "VerificationCode.Alarm"
    SIGN_IN_SOCIAL = "SignIn.Social"
    SOCIAL_IDENTITY_CREATE = "SocialIdentity.Create"
    SOCIAL_IDENTITY_DELETE = "SocialIdentity.Delete"
    TOKEN_EXCHANGE = "Token.Exchange"  # noqa: S105
    TOKEN_REFRESH = "Token.Refresh"  # noqa: S105
    TOKEN_REVOKE = "Token.Revoke"  # noqa: S105
    SESSION_END = "Session.End"
    CONSENT_GRANT = "Consent.Grant"
    CONSENT_REVOKE = "Consent.Revoke"
    PASSWORD_VERIFY = "Password.Verify"  # noqa: S105
    ADMIN_PASSWORD_VERIFY = "Admin.VerifyPassword"  # noqa: S105
    ADMIN_SIGN_IN = "Admin.SignIn"
    ADMIN_SIGN_OUT = "Admin.SignOut"
    SECOND_STEP_CREATE = "SecondStep.Create"
    SECOND_STEP_DELETE = "SecondStep.Delete"
    RECOVERY_CODES_CREATE = "RecoveryCodes.Create"
    RECOVERY_CODE_USE = "RecoveryCode.Use"
    SIGNING_KEY_PREPARE = "SigningKey.Prepare"
    SIGNING_KEY_ROTATE = "SigningKey.Rotate"
    SIGNING_KEY_DELETE = "SigningKey.Delete"
    SECRET_RESEAL = "Secret.Reseal"  # noqa: S105
    AUDIT_LOG_PURGE = "AuditLog.Purge"
    USER_CREATE = "User.Create"
    USER_UPDATE = "User.Update"
    USER_DELETE = "User.Delete"
    USER_EXPORT = "User.Export"
    USER_OWNER_CHANGE = "User.OwnerChange"
    IDENTIFIER_TAKE = "Identifier.Take"
    IDENTIFIER_REMOVE = "Identifier.Remove"
    ROLE_CREATE = "Role.Create"
    ROLE_UPDATE = "Role.Update"
    ROLE_DELETE = "Role.Delete"
    RESOURCE_CREATE = "Resource.Create"
    RESOURCE_UPDATE = "Resource.Update"
    RESOURCE_DELETE = "Resource.Delete"
    SCOPE_CREATE = "Scope.Create"
    SCOPE_DELETE = "Scope.Delete"
    ORGANIZATION_CREATE = "Organization.Create"
    ORGANIZATION_UPDATE = "Organization.Update"
    ORGANIZATION_DELETE = "Organization.Delete"
    ORGANIZATION_MEMBER_CREATE = "OrganizationMember.Create"
    ORGANIZATION_MEMBER_UPDATE = "OrganizationMember.Update"
    ORGANIZATION_MEMBER_DELETE = "OrganizationMember.Delete"
    ORGANIZATION_APPLICATION_CREATE = "OrganizationApplication.Create"
    ORGANIZATION_APPLICATION_UPDATE = "OrganizationApplication.Update"
    ORGANIZATION_APPLICATION_DELETE = "OrganizationApplication.Delete"
    ORGANIZATION_ROLE_CREATE = "OrganizationRole.Create"
    ORGANIZATION_ROLE_UPDATE = "OrganizationRole.Update"
    ORGANIZATION_ROLE_DELETE = "OrganizationRole.Delete"
    ORGANIZATION_PERMISSION_CREATE = "OrganizationPermission.Create"
    ORGANIZATION_PERMISSION_DELETE = "OrganizationPermission.Delete"
    APPLICATION_CREATE = "Application.Create"
    APPLICATION_UPDATE = "Application.Update"
    APPLICATION_DELETE = "Application.Delete"
    CONNECTOR_CREATE = "Connector.Create"
    CONNECTOR_UPDATE = "Connector.Update"
    CONNECTOR_DELETE = "Connector.Delete"
    CONNECTOR_TEST = "Connector.Test"
    SIGN_IN_EXPERIENCE_UPDATE = "SignInExperience.Update"
    ACCESS_REFUSE = "Access.Refuse"
    TENANT_CREATE = "Tenant.Create"
    TENANT_UPDATE = "Tenant.Update"
    TENANT_DELETE = "Tenant.Delete"
    ADMINISTRATOR_CREATE = "Administrator.Create"
    ADMINISTRATOR_UPDATE = "Administrator.Update"
    ADMINISTRATOR_DELETE = "Administrator.Delete"
