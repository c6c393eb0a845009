"""The reasons of refusals and failures in the audit log, as the second half of a sentence."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.models import Entry
from identity.operator_kit.timestamps import format_text

# Each reason has a sentence of its own. Those of refused changes are here too, because the log keeps entries
# of releases that recorded more of them.
SENTENCES: Final[Mapping[str, Promise]] = {
    # Signing in
    "invalid_credentials": _("the identifier or the password is wrong"),
    "locked": _("too many wrong passwords were entered before"),
    "suspended": _("the user is suspended"),
    "method_off": _("the sign-in experience does not allow this method for this kind of identifier"),
    "rate_limited": _("too many requests came from this network"),
    "overloaded": _("too many sign-ins were in progress"),
    "interaction_expired": _("the pending request of the application had expired"),
    "sign_in_again": _("the user had to sign in again first"),
    "registration_off": _("the sign-in experience does not allow registration"),
    "password_policy": _("the password breaks the rules of the tenant"),
    "not_the_owner": _("the identifier no longer belonged to the user"),
    "captcha_unavailable": _("the provider of the CAPTCHA did not answer"),
    # Second factors
    "already_enrolled": _("the authenticator or passkey was set up before"),
    "bad_factor_policy": _("the settings of second factors contradict each other"),
    "confirm_needed": _("the user had to confirm the sign-in first"),
    "enrolment_expired": _("the set-up had expired"),
    "factor_not_allowed": _("the sign-in experience does not allow this factor"),
    "factor_not_found": _("there is no such second factor"),
    "factor_required": _("the sign-in experience requires a second factor"),
    "no_other_factor": _("backup codes need another second factor"),
    "no_way_in": _("the user had no other way to sign in than this passkey"),
    "nothing_under_way": _("no sign-in was waiting for a second factor"),
    "passkey_refused": _("the passkey was not accepted"),
    "second_factor_missing": _("the user had to prove a second factor first"),
    "second_factor_wrong": _("the code of the second factor was wrong or had expired"),
    "too_many_factors": _("the user had the highest number of such factors"),
    # Codes
    "wrong_code": _("the code was wrong or had expired"),
    "sent_too_often": _("a code was sent to this address a moment before"),
    "not_verified": _("the address was not verified with a code, or too long ago"),
    "no_connector": _("no enabled connector can send codes to this kind of address"),
    "not_delivered": _("the provider did not accept the message"),
    "no_codes": _("no page asks for a code"),
    # Other providers
    "provider_failed": _("the provider did not answer correctly"),
    "not_asked_again": _("the provider did not confirm a new sign-in"),
    "declined": _("the user or the provider stopped the sign-in"),
    "no_account": _("no user is linked to the account at the provider"),
    "account_exists": _("another user already has the email address of the account at the provider"),
    "not_offered": _("the provider has no enabled connector"),
    "linked_elsewhere": _("the account at the provider is linked to another user"),
    "too_many_linked_accounts": _("the user had the highest number of linked accounts, 50"),
    "signed_out": _("the session ended before the account was linked"),
    "wrong_callback": _("the provider's answer arrived at the address of another connector"),
    "last_way_in": _("it was the only way for the user to sign in"),
    # Applications (OAuth 2 and OpenID Connect)
    "invalid_client": _("the client ID is unknown or the client secret is wrong"),
    "invalid_grant": _("the code or refresh token is no longer valid, or belongs to another application"),
    "invalid_request": _("the application's request is malformed"),
    "invalid_scope": _("the application asked for a scope that it may not have, or for too many"),
    "invalid_target": _("the application asked for an API resource or organization that it may not use"),
    "unauthorized_client": _("the application may not use this grant"),
    "unsupported_grant_type": _("there is no such grant"),
    "access_denied": _("the user refused"),
    "no_access": _("the user has no role or organization that the application allows"),
    "login_required": _("the user was not signed in, and the application wanted no page shown"),
    "consent_required": _("the user had not consented, and the application wanted no page shown"),
    "interaction_required": _("the user had to act, and the application wanted no page shown"),
    "unsupported_response_type": _("the application asked for a response type that is not supported"),
    "request_not_supported": _("the application sent a request object, which is not supported"),
    "request_uri_not_supported": _("the application sent the address of a request object: not supported"),
    "unmet_authentication_requirements": _("the application asked for a stronger sign-in than the user has"),
    # The account page
    "contact_taken": _("another user already has this email address or phone number"),
    "nothing_awaited": _("no code was pending for the change of the address"),
    "deletion_off": _("users may not delete their accounts"),
    "nothing_to_agree_to": _("there was no document of terms to which users could agree"),
    "not_confirmed": _("the text that confirms the deletion was wrong"),
    "changed_too_often": _("the user had changed the profile too often"),
    "username_is_fixed": _("users may not change their usernames"),
    "trusted_device_not_found": _("there is no such remembered browser"),
    "session_not_found": _("the session had already ended"),
    "grant_not_found": _("there is no such access of an application to the user's data"),
    "not_signed_in": _("the browser has no session"),
    "application_not_connected": _("the user had not allowed this application"),
    # Administrators
    "invalid_second_step": _("the code of the second step was wrong, or was used before"),
    "second_step_locked": _("too many wrong codes of the second step were entered before"),
    "second_step_needed": _("the code of the second step was missing"),
    "second_step_not_set_up": _("the administrator has to set up a second step first"),
    "proof_needed": _("the administrator's own password was missing"),
    "not_proven": _("the administrator's own password or code was wrong"),
    "not_oneself": _("administrators remove their own second step on another page"),
    "already_invited": _("the address had an invitation"),
    "invitation_ended": _("the invitation was used, was revoked, or expired"),
    "not_pending": _("the sign-in was not started in this browser, or took too long"),
    "provider_refused": _("the provider did not sign the administrator in"),
    "not_linked": _("no administrator had linked the account of the provider"),
    "already_linked": _("another administrator had linked the account of the provider"),
    "link_ended": _("the link was used, or expired"),
    "mail_not_sent": _("the mail server did not accept the message"),
    "last_superuser": _("it was the last administrator of every tenant"),
    "may_not_verify": _("the caller may not mark addresses as verified"),
    "forbidden": _("the caller's role does not allow it"),
    # Changes
    "refused": _("the request was refused"),
    "invalid": _("a value was invalid"),
    "locks_remain": _("the locks stayed, because Redis did not answer"),
    "stale": _("somebody else had changed the object"),
    "idempotency_key_reused": _("the same form was sent again with other values"),
    "gone": _("the object had just been deleted"),
    "no_longer_stored": _("the checked file was no longer stored"),
    "protected": _("built-in roles, API resources and scopes cannot be renamed or deleted"),
    "unknown_ids": _("an ID in the request was unknown"),
    "already_member": _("the user or application was already a member"),
    "organization_not_found": _("there is no such organization"),
    "member_not_found": _("there is no such member"),
    "member_is_admin": _("third-party applications cannot remove administrators of an organization"),
    "resource_not_found": _("there is no such API resource"),
    "role_not_for_users": _("roles of machines cannot be given to users"),
    "not_a_machine": _("only machine-to-machine applications can have system roles"),
    "not_bound": _("the application is not in the organization"),
    "last_allowed": _("no role or organization that may use the application would have been left"),
    "too_many_secrets": _("the application had the highest number of client secrets"),
    "not_confidential": _("this type of application cannot keep a client secret"),
    "last_secret": _("it was the last client secret of the application"),
    "secret_not_found": _("there is no such client secret"),
    "default_tenant": _("the default tenant cannot be deleted"),
    "key_is_active": _("the active signing key cannot be deleted"),
    "too_many_keys": _("the algorithm had the highest number of previous signing keys"),
    "algorithm_in_use": _("tokens are signed with the algorithm, or every tenant has it"),
    "algorithm_just_retired": _("the algorithm was retired at the same moment"),
    "import_running": _("another file of the administrator was being checked or imported"),
    "key_does_not_open": _("the encryption keys do not decrypt the next signing key"),
    "being_sent": _("the message was just being sent"),
    "upgrade_in_progress": _("a node of an older release was still running"),
    "trial_expired": _("the trial was finished before, took too long, or was started in another session"),
    "connector_created": _("this form had created a connector already"),
    "form_expired": _("the form was opened more than a day ago, or in another tenant"),
    "connector_test_failed": _("the provider refused the test"),
    # Commands
    "unreadable": _("the file could not be read"),
    "not_https": _("BASE_URL does not begin with https"),
    "not_in_production": _("made-up data does not belong into production"),
    "only_in_development": _("the demo is for development only"),
    "tenant_in_use": _("the tenant already has users or applications"),
    "server_error": _("an internal error; look for the reference in the server's log"),
}
# What some entries say in addition, in ``reason``.
DETAILS: Final[Mapping[str, Promise]] = {
    "issuer": _("the ID token has another issuer"),
    "audience": _("the ID token is for another client"),
    "signature": _("the signature of the ID token is wrong"),
    "nonce": _("the ID token belongs to another sign-in"),
    "expired": _("the ID token has expired"),
    "missing_claim": _("the ID token lacks a claim"),
    "no_such_key": _("the provider does not have the key of the ID token"),
    "several_keys": _("the provider has several keys for the ID token"),
    "code_refused": _("the provider refused the authorization code"),
    "timed_out": _("the provider did not answer in time"),
    "unreachable": _("the provider could not be reached"),
    "answer": _("the answer was unexpected"),
}


def describe(entry: Entry) -> str:
    """Return the reason for a failure, or that none was recorded."""
    code = str(entry.payload.get("error") or "")
    if code == "invalid_credentials" and (entry.identifier_key or entry.user_id):
        return _describe_credentials(entry)
    text = SENTENCES.get(code) or code.replace("_", " ") or gettext("no reason was recorded")
    more = _get_detail(code, entry.payload)
    return gettext("%(reason)s (%(detail)s)") % {"reason": text, "detail": more} if more else str(text)


def _describe_credentials(entry: Entry) -> str:
    """Return whether the identifier or the password was wrong. The person who signs in does not learn it."""
    if entry.payload.get("reason") == "no_password":
        return gettext("the user has no password")
    # Only an identifier that nobody has is stored with its type, and without its text.
    if "identifier_type" in entry.payload:
        return gettext("nobody has this identifier")
    return gettext("the password is wrong")


def _get_detail(code: str, payload: Mapping[str, Any]) -> str:
    if code == "locked" and (until := _parse_time(payload.get("locked_until"))):
        return gettext("locked until %(time)s") % {"time": format_text(until, "%H:%M:%S")}
    more = str(payload.get("reason") or payload.get("description") or "").rstrip(".")
    return str(DETAILS.get(more, more))


def _parse_time(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
