"""Signing in with an account elsewhere, and linking one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import BoundedSemaphore
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from audit import log
from audit.events import Event
from audit.log import Attempt
from identity.core.errors import Invalid, ServiceError
from identity.encryption import keyring
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import UNKNOWN_AUTH_TIME, Session
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.connectors import relying_party
from interaction.connectors.errors import ProviderError
from interaction.connectors.providers.base import Profile
from interaction.experience import new_emails
from interaction.experience import services as experience
from interaction.journeys.pending import Expired, Pending
from interaction.journeys.sign_in import SignedIn, start
from interaction.social import attempts, offers, same_address
from interaction.social import services as identities
from interaction.social.models import SocialAttempt, SocialIdentity
from interaction.social.offers import NotOffered, Offer

_RECENT: Final = timedelta(minutes=10)
_LONGEST_CODE: Final = 4096

# A provider that answers slowly holds the threads that wait for it: never all of them.
_conversations = BoundedSemaphore(settings.THREADS // 2)


class ProviderFailed(ServiceError):
    """The provider does not answer, or not so that it can be believed."""

    status = 502
    reason = "provider_failed"
    message = "the provider did not say who you are"


class NotAskedAgain(ServiceError):
    """A new sign-in is wanted, and the provider does not say that there was one."""

    status = 502
    reason = "not_asked_again"
    message = "the provider did not say that you signed in just now"


class Declined(ServiceError):
    """The person, or the provider, did not go on."""

    reason = "declined"
    message = "signing in at the provider was not finished"


class Busy(ServiceError):
    """Many people are being sent to providers that answer slowly."""

    status = 503
    reason = "overloaded"
    message = "too many sign-ins at this moment"


class NoAccount(ServiceError):
    """Nobody here has linked that account, and the tenant does not let it make a user."""

    status = 403
    reason = "no_account"
    message = "no user is linked to that account"


class AccountExists(ServiceError):
    """Somebody here has that email address, and it may not be linked by itself."""

    status = 403
    reason = "account_exists"
    message = "there is already a user with that email address: sign in, then link the account"


class SignInAgain(ServiceError):
    """Linking an account is for somebody who signed in a short while ago."""

    status = 403
    reason = "sign_in_again"
    message = "sign in again to do this"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider sends a browser back with (RFC 6749 section 4.1.2, RFC 9207)."""

    code: str
    error: str
    iss: str


def begin(*, connector_id: str, browser: str, pending: Pending | None) -> str:
    """Send a browser to a provider to sign in; return the address it goes to.

    ``browser`` stands for the browser, which has to be the one that comes back.

    Raises:
        NotOffered: there is no such connector, or nothing behind it.
        ProviderFailed: the provider does not say where to go.
        Busy: too many people wait for providers.
        limits.TooMany: too many from this address.

    """
    try:
        return _begun(offers.get_offer(connector_id), browser, pending, None)
    except ProviderFailed as error:
        log.record(
            Event.SIGN_IN_SOCIAL,
            application_id=pending.application.pk if pending else None,
            connector_id=connector_id,
            result="failed",
            error=error.reason,
        )
        raise


def begin_link(*, connector_id: str, browser: str, session: Session) -> str:
    """Send somebody who is signed in to a provider, to link an account there; return the address.

    Raises:
        SignInAgain: the sign-in is more than ten minutes ago.
        NotOffered: there is no such connector, or nothing behind it.
        ProviderFailed: the provider does not say where to go.
        Busy: too many people wait for providers.
        limits.TooMany: too many from this address.

    """
    if timezone.now() - session.auth_time > _RECENT:
        raise SignInAgain
    return _begun(offers.get_offer(connector_id), browser, None, session)


def _begun(offer: Offer, browser: str, pending: Pending | None, session: Session | None) -> str:
    max_age = pending.max_age if pending else None
    if offer.provider is None or (max_age is not None and not offer.can_reauthenticate):
        raise NotOffered
    limits.hit_by_address(rules.SIGN_INS)
    secrets = attempts.new_secrets()
    with _conversation():
        endpoints = relying_party.get_endpoints(offer.provider, offer.config)
    interaction = str(pending.parked.pk) if pending else ""
    attempts.create(
        secrets, browser=browser, connector=offer.connector, interaction=interaction, session=session
    )
    return relying_party.authorization_url(
        endpoints,
        offer.config,
        secrets,
        redirect_uri=offer.redirect_uri,
        max_age=max_age,
    )


def come_back(*, state: str, browser: str, callback: UUID | None) -> SocialAttempt:
    """Return the trip that a browser comes back from. It is over with this.

    ``callback`` is the connector whose callback the browser came to; none for the shared one.
    RFC 9700 section 4.4.2: an answer that arrives where another provider's answers arrive
    may hold that provider's code, which must not be handed to this one.

    Raises:
        Expired: it was begun in another browser, too long ago, is over already, or belongs elsewhere.

    """
    attempt = attempts.redeem(state, browser)
    if attempt is None:
        raise Expired
    connector = attempt.connector
    if connector and callback != (connector.pk if connector.has_own_callback else None):
        log.record(Event.SIGN_IN_SOCIAL, **_named(attempt), result="failed", error="wrong_callback")
        raise Expired
    return attempt


def sign_in(
    attempt: SocialAttempt, *, state: str, answer: Answer, pending: Pending | None, current: Session | None
) -> SignedIn:
    """Sign a browser in as the person whom the provider vouches for.

    That is who linked the account. Else it is who has the very email address, where the
    tenant wants that, the provider says it is verified and so do we: a user who never proved
    to own an address gains nothing by having entered it. Else it is a new user.

    Raises:
        NotOffered: the connector was deleted or switched off meanwhile.
        Declined: the person did not go on at the provider.
        ProviderFailed: the answer is not to be believed.
        NotAskedAgain: the application wants a new sign-in, and the provider does not date this one.
        NoAccount: the tenant lets no new users in like this.
        AccountExists: somebody else has the email address.
        credentials.Suspended: the user is suspended.
        Busy: too many people wait for providers.

    """
    with log.attempt(Event.SIGN_IN_SOCIAL, **_named(attempt)) as entry:
        entry.application_id = pending.application.pk if pending else None
        offer = offers.get_offer_of(attempt.connector)
        profile, auth_time = _profile(offer, attempt, state, answer, pending)
        entry.facts |= {"provider": profile.provider, "subject": profile.subject}
        try:
            return _signed_in(offer, profile, auth_time, pending, current, entry)
        except (identities.LinkedElsewhere, Invalid):
            # Another tab was faster by a moment and made the user: now there is one to be found.
            return _signed_in(offer, profile, auth_time, pending, current, entry)


def link(attempt: SocialAttempt, *, state: str, answer: Answer, current: Session | None) -> str:
    """Link an account elsewhere to who is signed in; return where to go on.

    Raises:
        Expired: the session it was begun in is not this browser's any more, or ended meanwhile.
        identities.LinkedElsewhere: the account is somebody else's.
        NotOffered: the connector was deleted or switched off meanwhile.
        Declined: the person did not go on at the provider.
        ProviderFailed: the answer is not to be believed.
        Busy: too many people wait for providers.

    """
    if current is None or attempt.session_id != current.pk:
        raise Expired
    try:
        offer = offers.get_offer_of(attempt.connector)
        profile, _ = _profile(offer, attempt, state, answer, None)
        identities.link_from(current, profile, offer.connector, offer.name)
    except ServiceError as error:
        failed = {"result": "failed", "error": error.reason}
        log.record(Event.SOCIAL_IDENTITY_CREATE, user_id=current.user.pk, **_named(attempt), **failed)
        if isinstance(error, identities.SignedOut):
            raise Expired from None
        raise
    return reverse("pages:account")


def _profile(
    offer: Offer, attempt: SocialAttempt, state: str, answer: Answer, pending: Pending | None
) -> tuple[Profile, datetime]:
    """Return who signed in there, and when: ``UNKNOWN_AUTH_TIME`` if the provider does not say."""
    if offer.provider is None:
        raise NotOffered
    with _conversation():
        endpoints = relying_party.get_endpoints(offer.provider, offer.config)
        if not relying_party.is_expected_issuer(endpoints, answer.iss):
            raise ProviderFailed
        if answer.error or not 0 < len(answer.code) <= _LONGEST_CODE:
            raise Declined
        try:
            secrets = attempts.get_secrets(attempt, state)
        except keyring.UnknownKey:
            raise Expired from None
        granted = relying_party.redeem(
            endpoints, offer.config, code=answer.code, secrets=secrets, redirect_uri=offer.redirect_uri
        )
        max_age = pending.max_age if pending else None
        auth_time = relying_party.get_auth_time(granted)
        if not relying_party.is_recent(auth_time, max_age=max_age, asked_at=attempt.created_at):
            raise NotAskedAgain
        return offer.provider.profile(offer.config, endpoints, granted), auth_time or UNKNOWN_AUTH_TIME


@transaction.atomic
def _signed_in(  # noqa: PLR0913, PLR0917 - what a sign-in touches
    offer: Offer,
    profile: Profile,
    auth_time: datetime,
    pending: Pending | None,
    current: Session | None,
    entry: Attempt,
) -> SignedIn:
    known, user = _known_or_new(profile, offer.name)
    entry.user_id, entry.facts["username"] = user.pk, user.identifier
    identity = known or identities.link(user, profile, offer.connector, offer.name)
    identities.record_use(identity, profile)
    return start(user, amr=[], auth_time=auth_time, entry=entry, pending=pending, current=current)


def _known_or_new(profile: Profile, provider_name: str) -> tuple[SocialIdentity | None, User]:
    """Return the identity, if it is known, and its user, or who is to have it from now on.

    Raises:
        AccountExists: somebody else has the address, and it may not be linked by itself.
        NoAccount: there is no such user, and none may be made.

    """
    known = identities.find_by_profile(profile)
    if known:
        return known, known.user
    try:
        return None, _linkable(profile, provider_name) or _new(profile)
    except AccountExists:
        # Another tab of the same person may have made that user since.
        known = identities.find_by_profile(profile)
        if known is None:
            raise
        return known, known.user


def _linkable(profile: Profile, provider_name: str) -> User | None:
    """Return who has the very address that the provider verified, and tell them of the link.

    Raises:
        AccountExists: somebody has it, or one that is easily taken for it, and it may not be linked.

    """
    if not profile.email_verified:
        return None
    found = User.objects.filter(email_key__in=same_address.lookup_keys(profile.email))
    # An address that nobody proved goes to whom a provider vouches for: see identity.users.ownership.
    similar = [user for user in found if user.has_proven(Kind.EMAIL)]
    if similar and experience.current().social_sign_in["automatic_account_linking"]:
        for user in similar:
            if user.email_verified and same_address.is_same_address(user.email, profile.email):
                notify(user, Notice.ACCOUNT_LINKED, provider=provider_name)
                return user
    if similar:
        raise AccountExists
    return None


def _new(profile: Profile) -> User:
    if not experience.current().can_create_social_users:
        raise NoAccount
    return users.create_vouched_for(
        name=profile.name,
        email=profile.email if profile.email_verified and new_emails.is_allowed(profile.email) else "",
        avatar=profile.avatar or None,
    )


def _named(attempt: SocialAttempt) -> dict[str, str]:
    return {"connector_id": attempt.connector.connector_id if attempt.connector else ""}


@contextmanager
def _conversation() -> Iterator[None]:
    """Talk to a provider, unless too many do; what goes wrong there becomes a refusal."""
    if not _conversations.acquire(blocking=False):
        raise Busy(headers={"Retry-After": "2"})
    try:
        yield
    except ProviderError as error:
        raise ProviderFailed(str(error)) from None
    finally:
        _conversations.release()
