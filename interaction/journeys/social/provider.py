"""The authorization request to a provider, and the exchange of its answer for a profile."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.encryption import keyring
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import UNKNOWN_AUTH_TIME, Session
from interaction.connectors import relying_party
from interaction.connectors.errors import ProviderError, Reason
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import (
    Endpoints,
    OwnProtocolProvider,
    PostingProvider,
    Profile,
    TokenResponse,
)
from interaction.connectors.relying_party import Secrets
from interaction.connectors.slots import PROVIDERS
from interaction.journeys.pending import Expired, Pending
from interaction.journeys.social.errors import Busy, Declined, NotReauthenticated, ProviderFailed
from interaction.social import attempts
from interaction.social.models import SocialAttempt
from interaction.social.offers import NotOffered, Offer

LONGEST_PARAMETER: Final = 4096  # characters, in the answer of a provider
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AuthorizationResponse:
    """The authorization response of a provider (RFC 6749 section 4.1.2, RFC 9207)."""

    code: str
    error: str
    iss: str


def request_authorization(  # noqa: PLR0913 - where the request starts, and what it asks for
    offer: Offer,
    *,
    browser: str,
    pending: Pending | None = None,
    session: Session | None = None,
    keep_signed_in: bool = False,
    signs_in_again: bool = False,
) -> str:
    """Store an attempt and return the URL of the authorization request.

    ``browser`` is the hash of the browser's cookie: only this browser can redeem the attempt.
    ``signs_in_again``: the browser has a session and no pending request, so the provider asks the user again,
    if it can.

    Raises:
        NotOffered: the provider cannot be used, or cannot reauthenticate the user as the request requires.
        ProviderFailed: the provider's endpoints cannot be discovered.
        Busy: too many requests are waiting for providers.
        limits.TooMany: too many from this network.

    """
    max_age = pending.max_age if pending else None
    if signs_in_again and offer.can_reauthenticate:
        max_age = 0
    if offer.provider is None or (max_age is not None and not offer.can_reauthenticate):
        raise NotOffered
    limits.hit_by_network(rules.SIGN_INS)
    secrets = attempts.new_secrets()
    with provider_call():
        endpoints = relying_party.get_endpoints(offer.provider, offer.config)
    interaction = str(pending.row.pk) if pending else ""
    attempts.create(
        secrets,
        browser=browser,
        connector=offer.connector,
        interaction=interaction,
        session=session,
        keep_signed_in=keep_signed_in,
    )
    return build_authorization_url(offer, endpoints, secrets, max_age=max_age)


def build_authorization_url(
    offer: Offer, endpoints: Endpoints, secrets: Secrets, *, max_age: int | None = None
) -> str:
    """Return the URL of an authorization request."""
    if isinstance(offer.provider, OwnProtocolProvider):
        return offer.provider.authorization_url(
            offer.config, state=secrets.state, redirect_uri=offer.redirect_uri
        )
    return relying_party.authorization_url(
        endpoints, offer.config, secrets, redirect_uri=offer.redirect_uri, max_age=max_age
    )


def redeem_attempt(*, state: str, browser: str, callback: UUID | None) -> SocialAttempt:
    """Return and end the attempt to which an authorization response belongs.

    ``callback`` is the connector whose callback received the response; None for the shared callback.
    RFC 9700 section 4.4.2: a response at another provider's callback may contain that provider's code,
    which must not be sent to this one.

    Raises:
        Expired: the attempt belongs to another browser or callback, has expired, or was redeemed before.

    """
    attempt = attempts.redeem(state, browser)
    if attempt is None:
        raise Expired
    connector = attempt.connector
    if connector and callback != (connector.pk if connector.has_own_callback else None):
        log.record(Event.SIGN_IN_SOCIAL, **describe(attempt), result="failed", error="wrong_callback")
        raise Expired
    return attempt


def receive_form(*, state: str, callback: UUID, user: str) -> None:
    """Store the name that a provider posts with its answer. The redirect that follows finishes the sign-in.

    The request comes from the provider's site, so it has no cookies and proves only that it knows the state.
    """
    attempt = attempts.find_at_callback(state, callback)
    if attempt is None or attempt.connector is None:
        return
    if name := read_name(attempt.connector, user):
        with suppress(keyring.UnknownKey):  # the request that follows reports that the sign-in has expired
            attempts.keep_name(attempt, name)


def read_name(connector: Connector, user: str) -> str:
    """Return the name in the form that a provider posts; empty if the provider posts none."""
    found = registry.find(connector.connector_id)
    return found.read_name(user) if isinstance(found, PostingProvider) else ""


def fetch_profile(
    offer: Offer,
    attempt: SocialAttempt,
    state: str,
    answer: AuthorizationResponse,
    max_age: int | None = None,
) -> tuple[Profile, datetime]:
    """Return who signed in at the provider, and when: ``UNKNOWN_AUTH_TIME`` if it does not say.

    Raises:
        NotOffered: the provider cannot be used.
        Declined: the answer has no code.
        ProviderFailed: the answer is not valid.
        NotReauthenticated: the sign-in at the provider is older than ``max_age``, or of unknown age.
        Expired: the key that encrypted the attempt is missing.
        Busy: too many requests are waiting for providers.

    """
    if offer.provider is None:
        raise NotOffered
    with provider_call():
        endpoints = relying_party.get_endpoints(offer.provider, offer.config)
        try:
            secrets = attempts.get_secrets(attempt, state)
        except keyring.UnknownKey:
            raise Expired from None
        tokens = redeem(offer, endpoints, answer, secrets)
        auth_time = relying_party.get_auth_time(tokens)
        if not relying_party.is_recent(auth_time, max_age=max_age, asked_at=attempt.created_at):
            raise NotReauthenticated
        profile = offer.provider.profile(offer.config, endpoints, tokens)
        profile = replace(profile, name=profile.name or attempts.get_name(attempt))
        return profile, auth_time or UNKNOWN_AUTH_TIME


def redeem(
    offer: Offer, endpoints: Endpoints, answer: AuthorizationResponse, secrets: Secrets
) -> TokenResponse:
    """Check an authorization response, and exchange its code for tokens.

    Raises:
        Declined: the answer has no code.
        ProviderError: the answer names another issuer, or the provider's tokens are not valid.

    """
    if not relying_party.is_expected_issuer(endpoints, answer.iss):
        raise ProviderError(
            gettext_noop("the answer names another issuer than the provider's"), Reason.ISSUER
        )
    if answer.error or not 0 < len(answer.code) <= LONGEST_PARAMETER:
        raise Declined
    if isinstance(offer.provider, OwnProtocolProvider):
        return offer.provider.redeem(offer.config, answer.code)
    return relying_party.redeem(
        endpoints, offer.config, code=answer.code, secrets=secrets, redirect_uri=offer.redirect_uri
    )


def describe(attempt: SocialAttempt) -> dict[str, str]:
    """Return the facts about an attempt for the audit log."""
    return {"connector_id": attempt.connector.connector_id if attempt.connector else ""}


@contextmanager
def provider_call() -> Iterator[None]:
    """Call a provider in the block. At most half of the threads do so at the same time.

    Raises:
        Busy: too many requests are waiting for providers.
        ProviderFailed: the block raised a ``ProviderError``.

    """
    try:
        with PROVIDERS.take(Busy(headers={"Retry-After": "2"})):
            yield
    except ProviderError as error:
        _log.warning("a sign-in at a provider failed (%s): %s", error.reason.value, error)
        raise ProviderFailed(error.message, error.reason) from None
