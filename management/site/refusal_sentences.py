"""The reasons of refusals and failures in the audit log, as the second half of a sentence."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from audit.models import Entry
from identity.operator_kit.timestamps import format_text

# Each reason has a sentence of its own. Those of refused changes are here too, because the log keeps entries
# of releases that recorded more of them.
SENTENCES: Final[Mapping[str, str]] = {
    # Signing in
    "invalid_credentials": "the identifier or the password is wrong",
    "locked": "too many wrong passwords were entered before",
    "suspended": "the user is suspended",
    "method_off": "the sign-in experience does not allow this method for this kind of identifier",
    "rate_limited": "too many requests came from this network",
    "overloaded": "too many sign-ins were in progress",
    "interaction_expired": "the pending request of the application had expired",
    "sign_in_again": "the user had to sign in again first",
    "registration_off": "the sign-in experience does not allow registration",
    "password_policy": "the password breaks the rules of the tenant",
    "not_the_owner": "the identifier no longer belonged to the user",
    "captcha_unavailable": "the provider of the CAPTCHA did not answer",
    # Codes
    "wrong_code": "the code was wrong or had expired",
    "sent_too_often": "a code was sent to this address a moment before",
    "not_verified": "the address was not verified with a code, or too long ago",
    "no_connector": "no enabled connector can send codes to this kind of address",
    "not_delivered": "the provider did not accept the message",
    "no_codes": "no page asks for a code",
    # Other providers
    "provider_failed": "the provider did not answer correctly",
    "not_asked_again": "the provider did not confirm a new sign-in",
    "declined": "the user or the provider stopped the sign-in",
    "no_account": "no user is linked to the account at the provider",
    "account_exists": "another user already has the email address of the account at the provider",
    "not_offered": "the provider has no enabled connector",
    "linked_elsewhere": "the account at the provider is linked to another user",
    "signed_out": "the session ended before the account was linked",
    "wrong_callback": "the provider's answer arrived at the address of another connector",
    "last_way_in": "it was the only way for the user to sign in",
    # Applications (OAuth 2 and OpenID Connect)
    "invalid_client": "the client ID is unknown or the client secret is wrong",
    "invalid_grant": "the code or refresh token is no longer valid, or belongs to another application",
    "invalid_request": "the application's request is malformed",
    "invalid_scope": "the application asked for a scope that it may not have",
    "invalid_target": "the application asked for an API resource or organization that it may not use",
    "unauthorized_client": "the application may not use this grant",
    "unsupported_grant_type": "there is no such grant",
    "access_denied": "the user refused",
    "no_access": "the user has no role or organization that the application allows",
    "login_required": "the user was not signed in, and the application wanted no page shown",
    "consent_required": "the user had not consented, and the application wanted no page shown",
    "interaction_required": "the user had to act, and the application wanted no page shown",
    "unsupported_response_type": "the application asked for a response type that is not supported",
    "request_not_supported": "the application sent a request object, which is not supported",
    "request_uri_not_supported": "the application sent the address of a request object: not supported",
    "unmet_authentication_requirements": "the application asked for a stronger sign-in than the user has",
    # The account page
    "contact_taken": "another user already has this email address or phone number",
    "nothing_awaited": "no code was pending for the change of the address",
    "deletion_off": "users may not delete their accounts",
    "nothing_to_agree_to": "there was no document of terms to which users could agree",
    "not_confirmed": "the text that confirms the deletion was wrong",
    "username_is_fixed": "users may not change their usernames",
    "session_not_found": "the session had already ended",
    "grant_not_found": "there is no such access of an application to the user's data",
    "not_signed_in": "the browser has no session",
    "application_not_connected": "the user had not allowed this application",
    # Administrators
    "invalid_second_step": "the code of the second step was wrong, or was used before",
    "second_step_locked": "too many wrong codes of the second step were entered before",
    "second_step_needed": "the code of the second step was missing",
    "second_step_not_set_up": "the administrator has to set up a second step first",
    "proof_needed": "the administrator's own password was missing",
    "not_proven": "the administrator's own password or code was wrong",
    "not_oneself": "administrators remove their own second step on another page",
    "already_invited": "the address had an invitation",
    "invitation_ended": "the invitation was used, was revoked, or expired",
    "not_pending": "the sign-in was not started in this browser, or took too long",
    "provider_refused": "the provider did not sign the administrator in",
    "not_linked": "no administrator had linked the account of the provider",
    "already_linked": "another administrator had linked the account of the provider",
    "link_ended": "the link was used, or expired",
    "mail_not_sent": "the mail server did not accept the message",
    "last_superuser": "it was the last administrator of every tenant",
    "may_not_verify": "the caller may not mark addresses as verified",
    "forbidden": "the caller's role does not allow it",
    # Changes
    "refused": "the request was refused",
    "invalid": "a value was invalid",
    "locks_remain": "the locks stayed, because Redis did not answer",
    "stale": "somebody else had changed the object",
    "idempotency_key_reused": "the same form was sent again with other values",
    "gone": "the object had just been deleted",
    "no_longer_stored": "the checked file was no longer stored",
    "protected": "built-in roles, API resources and scopes cannot be renamed or deleted",
    "unknown_ids": "an ID in the request was unknown",
    "already_member": "the user or application was already a member",
    "organization_not_found": "there is no such organization",
    "member_not_found": "there is no such member",
    "member_is_admin": "third-party applications cannot remove administrators of an organization",
    "resource_not_found": "there is no such API resource",
    "role_not_for_users": "roles of machines cannot be given to users",
    "not_a_machine": "only machine-to-machine applications can have system roles",
    "not_bound": "the application is not in the organization",
    "last_allowed": "no role or organization that may use the application would have been left",
    "too_many_secrets": "the application had the highest number of client secrets",
    "not_confidential": "this type of application cannot keep a client secret",
    "last_secret": "it was the last client secret of the application",
    "secret_not_found": "there is no such client secret",
    "default_tenant": "the default tenant cannot be deleted",
    "key_is_active": "the active signing key cannot be deleted",
    "algorithm_in_use": "tokens are signed with the algorithm, or every tenant has it",
    "algorithm_just_retired": "the algorithm was retired at the same moment",
    "import_running": "another file of the administrator was being checked or imported",
    "key_does_not_open": "the encryption keys do not decrypt the next signing key",
    "upgrade_in_progress": "a node of an older release was still running",
    "trial_expired": "the trial was finished before, took too long, or was started in another session",
    "connector_created": "this form had created a connector already",
    "form_expired": "the form was opened more than a day ago, or in another tenant",
    "connector_test_failed": "the provider refused the test",
    # Commands
    "unreadable": "the file could not be read",
    "not_https": "BASE_URL does not begin with https",
    "not_in_production": "made-up data does not belong into production",
    "only_in_development": "the demo is for development only",
    "tenant_in_use": "the tenant already has users or applications",
    "server_error": "an internal error; look for the reference in the server's log",
}
# What some entries say in addition, in ``reason``.
DETAILS: Final[Mapping[str, str]] = {
    "issuer": "the ID token has another issuer",
    "audience": "the ID token is for another client",
    "signature": "the signature of the ID token is wrong",
    "nonce": "the ID token belongs to another sign-in",
    "expired": "the ID token has expired",
    "missing_claim": "the ID token lacks a claim",
    "no_such_key": "the provider does not have the key of the ID token",
    "several_keys": "the provider has several keys for the ID token",
    "code_refused": "the provider refused the authorization code",
    "timed_out": "the provider did not answer in time",
    "unreachable": "the provider could not be reached",
    "answer": "the answer was unexpected",
}


def describe(entry: Entry) -> str:
    """Return the reason for a failure, or that none was recorded."""
    code = str(entry.payload.get("error") or "")
    if code == "invalid_credentials" and (entry.identifier_key or entry.user_id):
        return _describe_credentials(entry)
    text = SENTENCES.get(code) or code.replace("_", " ") or "no reason was recorded"
    more = _get_detail(code, entry.payload)
    return f"{text} ({more})" if more else text


def _describe_credentials(entry: Entry) -> str:
    """Return which of the two was wrong, which the person who signs in does not learn."""
    if entry.payload.get("reason") == "no_password":
        return "the user has no password"
    # Only an identifier that nobody has is stored with its type, and without its text.
    return "nobody has this identifier" if "identifier_type" in entry.payload else "the password is wrong"


def _get_detail(code: str, payload: Mapping[str, Any]) -> str:
    if code == "locked" and (until := _parse_time(payload.get("locked_until"))):
        return f"locked until {format_text(until, '%H:%M:%S')}"
    more = str(payload.get("reason") or payload.get("description") or "").rstrip(".")
    return DETAILS.get(more, more)


def _parse_time(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
