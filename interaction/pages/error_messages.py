"""The error messages of the pages."""

from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from identity.core import durations
from identity.core.errors import Invalid, ServiceError
from interaction.experience.policy import PasswordRefused, Rule
from interaction.pages import password_rules

_MESSAGES: Final = {
    "invalid_credentials": _("Wrong password."),
    "nothing_awaited": _("The code has expired. Get a new one."),
    "sign_in_again": _("Sign in again first. Then you have %(time)s to make this change."),
    "overloaded": _("Many people are signing in right now. Wait a few seconds and try again."),
    "suspended": _("Your account is suspended. Contact the people who run this service."),
    "captcha_unavailable": _("We can't check that you're a person right now. Try again in a minute."),
    "wrong_code": _("This code is wrong or has expired. Check it, or get a new one."),
    "second_factor_wrong": _("This code is wrong, was used before or has expired. Try the next one."),
    "enrolment_expired": _("This page was open for too long. Scan the new picture."),
    "already_enrolled": _("This authenticator is set up already. Add another one, or use this one."),
    "too_many_factors": _("You have set up as many as possible. Remove one first."),
    "factor_required": _("You need a second step to sign in here. Set up another one first."),
    "factor_not_allowed": _("You can't use this way here. Try another way."),
    "factor_not_found": _("This way to confirm sign-ins is already removed."),
    "no_other_factor": _("Set up an authenticator app first. Then you can create backup codes."),
    "not_verified": _("You entered your code too long ago. Get a new one."),
    "no_connector": _("We can't send codes right now. Try another way."),
    "method_off": _("You can't sign in this way here. Try another way."),
    "registration_off": _("You can't create an account here. Ask the people who run this service for one."),
    "stale": _("Your account was changed a moment ago, maybe in another window. Try again."),
    "gone": _("This account is no longer there."),
    "no_way_in": _("This is your only way to sign in. Set up another way first."),
    "last_way_in": _("This is your only way to sign in. Set up another way first."),
    "linked_elsewhere": _("This account is already connected to another user."),
    "too_many_linked_accounts": _("You can connect at most 50 accounts. Disconnect one first."),
    "not_offered": _("You can no longer connect accounts of this provider."),
    "provider_failed": _("The other service isn't responding. Try again later."),
    "contact_taken": _("This is already in use. Choose another."),
    "session_not_found": _("This device is already signed out."),
    "application_not_connected": _("This application is no longer connected."),
    "deletion_off": _("You can't delete your account here. Ask the people who run this service."),
    "username_is_fixed": _("You can't change your username here. Ask the people who run this service."),
    "not_confirmed": _("This doesn't match. Type the text exactly as shown."),
}
_WAITS: Final = {
    "locked": _("Too many attempts. Try again in %(time)s."),
    "rate_limited": _("Too many requests from your network. Try again in %(time)s."),
    "changed_too_often": _("You changed your profile too often. Try again in %(time)s."),
    "sent_too_often": _("We sent a code a moment ago. Use that one, or get a new one in %(time)s."),
}
_LOCKED_WITH_CODE: Final = _(
    "Too many attempts. Try again in %(time)s, or use a code if your account has an email or phone."
)
_FIELDS: Final = {
    "username": _("Use 1 to 128 characters, without spaces or @. A username can't look like a phone number."),
    "email": _("Enter an email address, like name@example.com."),
    "phone": _("Enter a phone number, like +49 170 1234567."),
    "identifier": _("We can't send a code to this address. Check it."),
    "captcha_token": _("Confirm that you're a person, then try again."),
    "agreed_to_terms": _("Tick this box to create an account."),
    "avatar": _("Enter an address that begins with https://."),
}
# A user has one recovery code, so there is no next one to try.
_OF_RECOVERY: Final = _MESSAGES | {"second_factor_wrong": _MESSAGES["wrong_code"]}
_TAKEN: Final = _("This is already in use. Choose another, or sign in if it's yours.")


def get_messages(error: ServiceError, *, can_use_code: bool = False, is_recovery: bool = False) -> list[str]:
    """Return the messages of an error: one for each problem.

    ``can_use_code`` says that a user who is locked out can sign in with a code, and ``is_recovery`` that the
    user has entered a recovery code.
    """
    messages = _OF_RECOVERY if is_recovery else _MESSAGES
    if isinstance(error, PasswordRefused):
        return _describe_broken(error.rules)
    if error.reason in _WAITS:
        with_code = error.reason == "locked" and can_use_code
        message = _LOCKED_WITH_CODE if with_code else _WAITS[error.reason]
        return [gettext(message) % {"time": durations.describe(get_wait(error))}]
    if error.reason in messages:
        return [gettext(messages[error.reason]) % {"time": durations.CONFIRM_TIME}]
    if isinstance(error, Invalid) and error.rule == "already exists":
        return [gettext(_TAKEN)]
    if isinstance(error, Invalid) and error.field in _FIELDS:
        return [gettext(_FIELDS[error.field])]
    return [gettext("Something went wrong. Go back and try again.")]


def get_wait(error: ServiceError) -> int:
    """Return the seconds that an error asks the user to wait."""
    return int(error.headers.get("Retry-After", "1"))


def _describe_broken(rules: Iterable[Rule]) -> list[str]:
    return [gettext("%(sentence)s.") % {"sentence": password_rules.describe(rule)} for rule in rules]
