"""Signing in with an account at another provider."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Event
from audit.log import AuditedOperation
from identity.core.errors import Invalid
from identity.factors.needed import FirstFactor
from identity.sessions import proof_secrets
from identity.sessions.proof_secrets import ProofSecret
from identity.users import services as users
from identity.users.models import User
from interaction.connectors.providers.base import Profile
from interaction.experience import services as experiences
from interaction.journeys import provider_accounts
from interaction.journeys.pending import Expired, Pending
from interaction.journeys.second_factor import available_factors
from interaction.journeys.second_factor.sign_ins import Outcome, SignIn, Visit
from interaction.journeys.second_factor.starting import start_session_or_store
from interaction.journeys.social import matching, provider
from interaction.journeys.social.errors import AccountExists, NoAccount, ProviderFailed
from interaction.journeys.social.provider import AuthorizationResponse
from interaction.social import agreements, attempts, offers
from interaction.social import services as identities
from interaction.social.models import SocialAttempt, SocialIdentity
from interaction.social.offers import Offer
from interaction.social.proven_accounts import ProvenAccount


def begin(
    *,
    connector_id: str,
    browser: str,
    pending: Pending | None,
    keep_signed_in: bool = False,
    signs_in_again: bool = False,
) -> str:
    """Start a sign-in at a provider; return the URL of the provider. ``keep_signed_in`` is the user's choice.

    ``browser`` is the hash of the browser's cookie: only this browser can finish the sign-in.
    ``signs_in_again``: the browser has a session and no pending request, so the provider asks the user again,
    if it can.

    Raises:
        NotOffered: no such connector is enabled, or its provider cannot be used.
        ProviderFailed: the provider's endpoints cannot be discovered.
        Busy: too many requests are waiting for providers.
        limits.TooMany: too many from this network.

    """
    offer = offers.get_offer(connector_id)
    try:
        return provider.request_authorization(
            offer,
            browser=browser,
            pending=pending,
            keep_signed_in=keep_signed_in,
            signs_in_again=signs_in_again,
        )
    except ProviderFailed as error:
        log.record(
            Event.SIGN_IN_SOCIAL,
            application_id=pending.application.pk if pending else None,
            connector_id=connector_id,
            result="failed",
            error=error.reason,
            **error.audit_facts,
        )
        raise


@dataclass(frozen=True, slots=True)
class AwaitedAgreement:
    """A new user has to agree to the terms first. ``sign_up`` then finishes this attempt.

    The browser needs the new ``secret`` for that.
    """

    attempt_id: UUID
    secret: ProofSecret


class _AgreementRequired(Exception):
    """A new user has to agree first. The exception rolls the transaction back; ``sign_in`` catches it."""


def sign_in(
    attempt: SocialAttempt, *, state: str, answer: AuthorizationResponse, visit: Visit
) -> Outcome | AwaitedAgreement:
    """Sign a browser in as the user of the account at the provider.

    First choice is the user to whom the account is linked. Second is the user with the same email address,
    if the tenant allows linking by address and both sides have verified the address. Third is a new user,
    who may have to agree to the terms first: see ``sign_up``.

    Raises:
        NotOffered: the connector was deleted or disabled meanwhile.
        Declined: the user or the provider stopped the sign-in.
        ProviderFailed: the answer is not valid.
        NotReauthenticated: the application requires a recent sign-in, and the provider confirms none.
        NoAccount: the tenant does not let social sign-in create users.
        AccountExists: another user has the email address.
        credentials.Suspended: the user is suspended.
        Busy: too many requests are waiting for providers.

    """
    with log.attempt(Event.SIGN_IN_SOCIAL, **provider.describe(attempt)) as audited:
        audited.application_id = visit.application_id
        offer = offers.get_offer_of(attempt.connector)
        max_age = visit.pending.max_age if visit.pending else None
        profile, auth_time = provider.fetch_profile(offer, attempt, state, answer, max_age)
        audited.facts |= {"provider": profile.provider, "subject": profile.subject}
        person = _Person(profile, auth_time, has_agreed=False)
        try:
            return _start_session_or_retry(person, offer, attempt, audited, visit)
        except _AgreementRequired:
            audited.postpone()
            secret = proof_secrets.new()
            return AwaitedAgreement(agreements.keep(attempt, profile, auth_time, secret.hash), secret)


def sign_up(attempt: SocialAttempt, *, visit: Visit) -> Outcome:
    """Finish the sign-in of a new user who has agreed to the terms, and end the attempt.

    Raises:
        Expired: the attempt has ended.
        NotOffered: the connector was deleted or disabled meanwhile.
        NoAccount: the tenant no longer lets social sign-in create users.
        AccountExists: another user has the email address.

    """
    kept = agreements.read(attempt)
    if kept is None or not attempts.end(attempt):
        raise Expired
    with log.attempt(Event.SIGN_IN_SOCIAL, **provider.describe(attempt)) as audited:
        audited.application_id = visit.application_id
        profile, auth_time = kept
        audited.facts |= {"provider": profile.provider, "subject": profile.subject}
        offer = offers.get_offer_of(attempt.connector)
        person = _Person(profile, auth_time, has_agreed=True)
        return _start_session_or_retry(person, offer, attempt, audited, visit)


@dataclass(frozen=True, slots=True)
class _Person:
    """Who signed in at the provider, when, and whether they agreed to the terms."""

    profile: Profile
    auth_time: datetime
    has_agreed: bool


def _start_session_or_retry(
    person: _Person, offer: Offer, attempt: SocialAttempt, audited: AuditedOperation, visit: Visit
) -> Outcome:
    try:
        return _start_session(person, offer, attempt, audited, visit)
    except (identities.LinkedElsewhere, provider_accounts.AccountChanged, Invalid):
        # A concurrent sign-in of the same person may have created the user or the link: the retry finds it.
        # An address that breaks a rule is refused again.
        return _start_session(person, offer, attempt, audited, visit)


@transaction.atomic
def _start_session(
    person: _Person, offer: Offer, attempt: SocialAttempt, audited: AuditedOperation, visit: Visit
) -> Outcome:
    profile = person.profile
    linked, user = _find_or_create_user(person, offer, audited)
    audited.user_id, audited.facts["username"] = user.pk, user.identifier
    experience = experiences.current()
    return start_session_or_store(
        user,
        SignIn(
            way=FirstFactor.SOCIAL if linked else FirstFactor.LINKING,
            amr=[],
            entered=available_factors.find_mailbox_of_account(user, experience.factor_policy),
            auth_time=person.auth_time,
            keep_signed_in=attempt.keep_signed_in,
            account=ProvenAccount(profile, offer.connector, offer.name, linked),
        ),
        experience=experience,
        visit=visit,
        audited=audited,
    )


def _find_or_create_user(
    person: _Person, offer: Offer, audited: AuditedOperation
) -> tuple[SocialIdentity | None, User]:
    """Return the linked account, if there is one, and the user. A new user is linked at once.

    Raises:
        AccountExists: another user has the address, and the account is not linked automatically.
        NoAccount: there is no such user, and social sign-in may not create one.
        _AgreementRequired: there is no such user, and a new one has to agree to the terms.

    """
    profile = person.profile
    linked = identities.find_by_profile(profile)
    if linked:
        return linked, linked.user
    try:
        if user := _find_by_email(profile):
            return None, user
        user = _create_user(person, audited)
        return identities.link(user, profile, offer.connector, offer.name), user
    except AccountExists:
        # A concurrent sign-in of the same person may have created the user and linked the account.
        linked = identities.find_by_profile(profile)
        if linked is None:
            raise
        return linked, linked.user


def _find_by_email(profile: Profile) -> User | None:
    """Return the user with the email address that the provider verified.

    Raises:
        AccountExists: a user has that address or a similar one, and it is not linked automatically.

    """
    similar = matching.find_similar(profile)
    for user in similar:
        if provider_accounts.may_link(user, profile):
            return user
    if similar:
        raise AccountExists
    return None


def _create_user(person: _Person, audited: AuditedOperation) -> User:
    experience, profile = experiences.current(), person.profile
    if not experience.can_create_social_users:
        raise NoAccount
    if documents := experience.documents_to_agree_to:
        if not person.has_agreed:
            raise _AgreementRequired
        audited.facts["agreed_to_terms"] = documents
    return users.create_from_provider(
        name=profile.name,
        email=matching.get_email_of_new_user(profile),
        avatar=profile.avatar or None,
    )
