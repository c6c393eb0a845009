"""The refusals of social sign-in."""

from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from interaction.connectors.errors import Reason


class ProviderFailed(ServiceError):
    """The provider does not answer, or its answer is not valid."""

    status = 502
    reason = "provider_failed"
    message = gettext_noop("the provider did not say who you are")

    def __init__(self, message: str, cause: Reason) -> None:
        self.audit_facts = {"reason": cause.value}
        super().__init__(message)


class NotReauthenticated(ServiceError):
    """The application requires a recent sign-in, and the provider does not confirm one."""

    status = 502
    reason = "not_asked_again"
    message = gettext_noop("the provider did not confirm that you signed in just now")


class Declined(ServiceError):
    """The user or the provider stopped the sign-in."""

    reason = "declined"
    message = gettext_noop("signing in at the provider was not finished")


class Busy(ServiceError):
    """Too many requests are waiting for providers."""

    status = 503
    reason = "overloaded"
    message = gettext_noop("too many sign-ins right now")


class NoAccount(ServiceError):
    """No user is linked to the account, and the tenant does not let social sign-in create users."""

    status = 403
    reason = "no_account"
    message = gettext_noop("no user is linked to that account")


class AccountExists(ServiceError):
    """A user has that email address, and the account is not linked automatically."""

    status = 403
    reason = "account_exists"
    message = gettext_noop("there is already a user with that email address: sign in, then link the account")
