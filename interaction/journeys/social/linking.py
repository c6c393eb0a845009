"""Linking an account at another provider to the signed-in user."""

from django.urls import reverse

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.sessions.models import Session
from interaction.journeys.pending import Expired
from interaction.journeys.second_factor import reauthentication
from interaction.journeys.social import provider
from interaction.journeys.social.provider import AuthorizationResponse
from interaction.social import offers
from interaction.social import services as identities
from interaction.social.models import SocialAttempt


def must_sign_in_again(session: Session) -> bool:
    """Return whether the sign-in is too long ago to link an account."""
    return session.now - session.auth_time > reauthentication.RECENT


def begin_link(*, connector_id: str, browser: str, session: Session) -> str:
    """Start linking an account at a provider; return the URL of the provider.

    Raises:
        reauthentication.SignInAgain: the sign-in is more than ``CONFIRM_SECONDS`` ago.
        NotOffered: no such connector is enabled, or its provider cannot be used.
        ProviderFailed: the provider's endpoints cannot be discovered.
        Busy: too many requests are waiting for providers.
        limits.TooMany: too many from this network.

    """
    if must_sign_in_again(session):
        raise reauthentication.SignInAgain
    offer = offers.get_offer(connector_id)
    return provider.request_authorization(offer, browser=browser, session=session)


def link(
    attempt: SocialAttempt, *, state: str, answer: AuthorizationResponse, current: Session | None
) -> str:
    """Link the account at the provider to the signed-in user; return the URL of the next page.

    Raises:
        Expired: the browser no longer has the session in which linking began.
        identities.LinkedElsewhere: the account is linked to another user.
        identities.TooManyLinkedAccounts: the user has 50 linked accounts.
        NotOffered: the connector was deleted or disabled meanwhile.
        Declined: the user or the provider stopped the sign-in.
        ProviderFailed: the answer is not valid.
        Busy: too many requests are waiting for providers.

    """
    if current is None or attempt.session_id != current.pk:
        raise Expired
    try:
        offer = offers.get_offer_of(attempt.connector)
        profile, _ = provider.fetch_profile(offer, attempt, state, answer)
        identities.link_from(current, profile, offer.connector, offer.name)
    except ServiceError as error:
        failed = {"result": "failed", "error": error.reason, **error.audit_facts}
        facts = provider.describe(attempt) | failed
        log.record(Event.SOCIAL_IDENTITY_CREATE, user_id=current.user.pk, **facts)
        if isinstance(error, identities.SignedOut):
            raise Expired from None
        raise
    return reverse("pages:account")
