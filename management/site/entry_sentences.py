"""Audit entries as sentences."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.models import Entry
from management.site import refusal_sentences

DONE: Final[Mapping[str, Promise]] = {
    Event.SIGN_IN_PASSWORD: _("Sign-in with a password succeeded."),
    Event.SIGN_IN_CODE: _("Sign-in with a code succeeded."),
    Event.SIGN_IN_SOCIAL: _("Sign-in by another provider succeeded."),
    Event.SIGN_IN_PASSKEY: _("Sign-in with a passkey succeeded."),
    Event.PASSKEY_COUNTER_ANOMALY: _("A passkey was refused that may have been copied."),
    Event.REGISTER_USERNAME: _("Registration with a username succeeded."),
    Event.REGISTER_EMAIL: _("Registration with an email address succeeded."),
    Event.REGISTER_PHONE: _("Registration with a phone number succeeded."),
    Event.FORGOT_PASSWORD: _("A forgotten password was replaced by a new one."),
    Event.CODE_SEND: _("A code was sent."),
    Event.MESSAGE_RETRY: _("A message was sent again."),
    Event.MESSAGE_DROP: _("A message that was not delivered was erased."),
    Event.CODE_VERIFY: _("The right code was entered."),
    Event.CODE_ALARM: _("There was an alarm about wrong codes."),
    Event.SOCIAL_IDENTITY_CREATE: _("An account at a provider was linked."),
    Event.SOCIAL_IDENTITY_DELETE: _("An account at a provider was unlinked."),
    Event.TOKEN_EXCHANGE: _("Tokens were issued."),
    Event.TOKEN_REFRESH: _("Tokens were refreshed."),
    Event.CUSTOM_CLAIM_OMIT: _("Custom claims were left out of a token."),
    Event.TOKEN_REVOKE: _("A token was revoked."),
    Event.SESSION_END: _("A session ended."),
    Event.CONSENT_GRANT: _("A user consented to an application."),
    Event.CONSENT_REVOKE: _("The consent to an application was withdrawn."),
    Event.PASSWORD_VERIFY: _("The password was verified again."),
    Event.ADMIN_PASSWORD_VERIFY: _("The password of an administrator was verified."),
    Event.ADMIN_SIGN_IN: _("An administrator signed in."),
    Event.ADMIN_PROVIDER_VERIFY: _("An administrator signed in at the provider."),
    Event.ADMIN_RECOVERY_SEND: _("Someone asked for a new password of an administrator."),
    Event.ADMIN_SIGN_OUT: _("An administrator signed out."),
    Event.SECOND_STEP_CREATE: _("The second step of an administrator was set up."),
    Event.SECOND_STEP_DELETE: _("The second step of an administrator was removed."),
    Event.RECOVERY_CODES_CREATE: _("Recovery codes were created."),
    Event.RECOVERY_CODE_USE: _("A recovery code was used."),
    Event.SIGNING_KEY_PREPARE: _("A signing key was prepared."),
    Event.SIGNING_KEY_ROTATE: _("The signing key was rotated."),
    Event.SIGNING_KEY_RETIRE: _("An algorithm of signing keys was retired."),
    Event.SIGNING_KEY_DELETE: _("A signing key was deleted."),
    Event.SECRET_RESEAL: _("Stored secrets were encrypted with another key."),
    Event.AUDIT_LOG_PURGE: _("Old entries of the audit log were deleted."),
    Event.USER_CREATE: _("A user was created."),
    Event.USER_UPDATE: _("A user was changed."),
    Event.USER_DELETE: _("A user was deleted."),
    Event.USER_EXPORT: _("The data of a user was exported."),
    Event.USER_SIGN_OUT: _("A user was signed out everywhere."),
    Event.USER_UNLOCK: _("A user was unlocked."),
    Event.USER_OWNER_CHANGE: _("An account passed to another person."),
    Event.IDENTIFIER_TAKE: _("A user took over an identifier of another user."),
    Event.IDENTIFIER_REMOVE: _("An identifier was removed from a user."),
    Event.ROLE_CREATE: _("A role was created."),
    Event.ROLE_UPDATE: _("A role was changed."),
    Event.ROLE_DELETE: _("A role was deleted."),
    Event.RESOURCE_CREATE: _("An API resource was created."),
    Event.RESOURCE_UPDATE: _("An API resource was changed."),
    Event.RESOURCE_DELETE: _("An API resource was deleted."),
    Event.SCOPE_CREATE: _("A scope was created."),
    Event.SCOPE_DELETE: _("A scope was deleted."),
    Event.ORGANIZATION_CREATE: _("An organization was created."),
    Event.ORGANIZATION_UPDATE: _("An organization was changed."),
    Event.ORGANIZATION_DELETE: _("An organization was deleted."),
    Event.ORGANIZATION_MEMBER_CREATE: _("A member of an organization was added."),
    Event.ORGANIZATION_MEMBER_UPDATE: _("A member of an organization was changed."),
    Event.ORGANIZATION_MEMBER_DELETE: _("A member of an organization was removed."),
    Event.ORGANIZATION_APPLICATION_CREATE: _("An application was added to an organization."),
    Event.ORGANIZATION_APPLICATION_UPDATE: _("An application of an organization was changed."),
    Event.ORGANIZATION_APPLICATION_DELETE: _("An application was removed from an organization."),
    Event.ORGANIZATION_ROLE_CREATE: _("An organization role was created."),
    Event.ORGANIZATION_ROLE_UPDATE: _("An organization role was changed."),
    Event.ORGANIZATION_ROLE_DELETE: _("An organization role was deleted."),
    Event.ORGANIZATION_PERMISSION_CREATE: _("An organization permission was created."),
    Event.ORGANIZATION_PERMISSION_UPDATE: _("An organization permission was changed."),
    Event.ORGANIZATION_PERMISSION_DELETE: _("An organization permission was deleted."),
    Event.APPLICATION_CREATE: _("An application was created."),
    Event.APPLICATION_UPDATE: _("An application was changed."),
    Event.APPLICATION_DELETE: _("An application was deleted."),
    Event.APPLICATION_SECRET_CREATE: _("A client secret was created."),
    Event.APPLICATION_SECRET_DELETE: _("A client secret was deleted."),
    Event.APPLICATION_TRIAL: _("Trying a sign-in to an application succeeded."),
    Event.APPLICATION_REFUSE: _("A user was not let into an application."),
    Event.CONNECTOR_CREATE: _("A connector was created."),
    Event.CONNECTOR_UPDATE: _("A connector was changed."),
    Event.CONNECTOR_DELETE: _("A connector was deleted."),
    Event.CONNECTOR_TEST: _("The test of a connector succeeded."),
    Event.OIDC_SETTINGS_UPDATE: _("The settings of OpenID Connect were changed."),
    Event.SIGN_IN_EXPERIENCE_UPDATE: _("The sign-in experience was changed."),
    Event.ACCESS_REFUSE: _("Access was refused."),
    Event.TENANT_CREATE: _("A tenant was created."),
    Event.TENANT_UPDATE: _("A tenant was changed."),
    Event.TENANT_DELETE: _("A tenant was deleted."),
    Event.ADMINISTRATOR_CREATE: _("An administrator was created."),
    Event.ADMINISTRATOR_UPDATE: _("An administrator was changed."),
    Event.ADMINISTRATOR_DELETE: _("An administrator was deleted."),
    Event.PROVIDER_ACCOUNT_CREATE: _("An account was linked for single sign-on."),
    Event.PROVIDER_ACCOUNT_DELETE: _("An account was unlinked from single sign-on."),
    Event.INVITATION_CREATE: _("An administrator was invited."),
    Event.INVITATION_RENEW: _("An invitation was sent again."),
    Event.INVITATION_ACCEPT: _("An invitation was accepted."),
    Event.INVITATION_DELETE: _("An invitation was revoked."),
}
# The first halves of sentences; the second is the reason. Other events do not fail in this release.
FAILED: Final[Mapping[str, Promise]] = {
    Event.SIGN_IN_PASSWORD: _("Sign-in with a password failed"),
    Event.SIGN_IN_CODE: _("Sign-in with a code failed"),
    Event.SIGN_IN_SOCIAL: _("Sign-in by another provider failed"),
    Event.SIGN_IN_PASSKEY: _("Sign-in with a passkey failed"),
    Event.REGISTER_USERNAME: _("Registration with a username failed"),
    Event.REGISTER_EMAIL: _("Registration with an email address failed"),
    Event.REGISTER_PHONE: _("Registration with a phone number failed"),
    Event.FORGOT_PASSWORD: _("Replacing a forgotten password failed"),
    Event.CODE_SEND: _("Sending a code failed"),
    Event.CODE_VERIFY: _("Entering a code failed"),
    Event.SOCIAL_IDENTITY_CREATE: _("Linking an account at a provider failed"),
    Event.TOKEN_EXCHANGE: _("Issuing tokens failed"),
    Event.TOKEN_REFRESH: _("Refreshing tokens failed"),
    Event.TOKEN_REVOKE: _("Revoking a token failed"),
    Event.APPLICATION_REFUSE: _("Opening an application failed"),
    Event.CONSENT_GRANT: _("Consent to an application failed"),
    Event.PASSWORD_VERIFY: _("Verifying the password again failed"),
    Event.ADMIN_SIGN_IN: _("Sign-in of an administrator failed"),
    Event.ADMIN_PASSWORD_VERIFY: _("Verifying the password of an administrator failed"),
    Event.ADMIN_PROVIDER_VERIFY: _("Sign-in of an administrator at the provider failed"),
    Event.ADMIN_RECOVERY_SEND: _("Asking for a new password of an administrator failed"),
    Event.CONNECTOR_TEST: _("The test of a connector failed"),
    Event.APPLICATION_TRIAL: _("Trying a sign-in to an application failed"),
    Event.ACCESS_REFUSE: _("Access was refused"),
}


def sentence(entry: Entry) -> str:
    """Return a sentence with what happened and, if it failed, the reason."""
    if entry.payload.get("result") != "failed":
        return str(DONE.get(entry.key, entry.key))
    values = {"failure": describe_failure(entry.key), "reason": refusal_sentences.describe(entry)}
    return gettext("%(failure)s: %(reason)s.") % values


def describe_failure(key: str) -> str:
    """Return what failed, without the reason. The log keeps failures of events of earlier releases."""
    return str(FAILED[key]) if key in FAILED else gettext("%(event)s failed") % {"event": key}
