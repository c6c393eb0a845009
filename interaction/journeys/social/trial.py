"""Trying a social connector: an administrator signs in at the provider, and no user, link or session is made.

The state of a trial begins with ``try.``, which distinguishes it from the state of a user's sign-in without
a query. A trial is stored with ``shown_once``, apart from the attempts of users. A trial can be finished
once, within ten minutes, at its connector, and only by the administrator's session that began it.
"""

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database import ids
from identity.core.errors import ServiceError
from identity.encryption import keyring
from identity.submissions import shown_once
from identity.submissions.shown_once import Viewer
from interaction.connectors import relying_party
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from interaction.connectors.relying_party import Secrets
from interaction.journeys.social import provider, trial_report
from interaction.journeys.social.provider import AuthorizationResponse
from interaction.journeys.social.trial_report import Received
from interaction.social import attempts, offers
from interaction.social.offers import NotOffered, Offer

_PREFIX: Final = "try"
_PARTS: Final = 4
_NAMES: Final = "names of trials"
_LIFETIME: Final = timedelta(minutes=10)


class TrialExpired(ServiceError):
    """The answer belongs to no trial that this session began at this connector."""

    reason = "trial_expired"
    message = gettext_noop(
        "this trial was finished before, took longer than ten minutes, or was started in another browser, "
        "tenant or session: try again"
    )


@dataclass(frozen=True, slots=True)
class TrialState:
    """The parts of a state: the connector, the stored trial, and the value that only the provider returns."""

    connector: UUID
    trial: UUID
    secret: str


def parse_state(state: str) -> TrialState | None:
    """Return the parts of a trial's state; None for the state of a user's sign-in, which has no dot."""
    parts = state.split(".")
    if len(parts) != _PARTS or parts[0] != _PREFIX:
        return None
    connector, trial = ids.parse(parts[1]), ids.parse(parts[2])
    return TrialState(connector, trial, parts[3]) if connector and trial else None


def begin(connector: Connector, viewer: Viewer) -> str:
    """Store a trial and return the URL of the authorization request.

    Raises:
        NotOffered: the provider is not built in, or the configuration cannot be decrypted.
        ProviderFailed: the provider's endpoints cannot be discovered.
        Busy: too many requests are waiting for providers.
        TooMany: the connector or the tenant's connectors were tested too often.

    """
    connectors.count_test(connector)
    offer = offers.new_offer(connector)
    try:
        if offer.provider is None:
            raise NotOffered
        with provider.provider_call():
            endpoints = relying_party.get_endpoints(offer.provider, offer.config)
    except ServiceError as error:
        failed = {"result": "failed", "error": error.reason, **error.audit_facts}
        log.record(Event.CONNECTOR_TEST, **_describe(connector), **failed)
        raise
    unsent = attempts.new_secrets()
    content = [unsent.state, unsent.nonce, unsent.verifier]
    trial = shown_once.create(viewer, _get_page(connector), content, lifetime=_LIFETIME)
    state = f"{_PREFIX}.{connector.pk}.{trial}.{unsent.state}"
    sent = Secrets(state, unsent.nonce, unsent.verifier)
    return provider.build_authorization_url(offer, endpoints, sent)


def seal_name(*, state: str, callback: UUID, user: str) -> str:
    """Return the name that a provider posts with its answer, encrypted; empty if there is none.

    The provider's request has no cookies, so the session is unknown. The request that follows has them, and
    its URL has the encrypted name.
    """
    parts = parse_state(state)
    if parts is None or parts.connector != callback:
        return ""
    connector = Connector.objects.filter(pk=callback).first()
    name = provider.read_name(connector, user) if connector else ""
    return keyring.encrypt(name.encode(), purpose=_NAMES, bound_to=state) if name else ""


def finish(  # noqa: PLR0913 - what an answer has
    connector: Connector,
    viewer: Viewer,
    *,
    state: str,
    answer: AuthorizationResponse,
    is_shared: bool,
    sealed_name: str = "",
) -> dict[str, Any]:
    """End a trial, and return a report of what the provider said, or why the sign-in failed.

    ``is_shared`` says that the answer came to the callback that connectors of release 0.1.0 share.
    ``sealed_name`` is what ``seal_name`` returned.

    Raises:
        TrialExpired: the answer belongs to no trial of this session and connector, or came to the callback
            of another connector.

    """
    stored = _take(connector, viewer, state)
    if stored is None or is_shared is connector.has_own_callback:
        raise TrialExpired
    offer, received = offers.new_offer(connector), Received()
    try:
        with log.attempt(Event.CONNECTOR_TEST, **_describe(connector)):
            _exchange(offer, answer, stored, received)
            _add_name(received, _decrypt_name(sealed_name, state))
    except ServiceError as error:
        return trial_report.build_failure(offer.name, error, answer, received)
    return trial_report.build(offer.name, received)


def _take(connector: Connector, viewer: Viewer, state: str) -> Secrets | None:
    """Delete a trial and return its secrets; None if there is no such trial or the state is wrong."""
    parts = parse_state(state)
    if parts is None or parts.connector != connector.pk:
        return None
    content = shown_once.take(viewer, _get_page(connector), parts.trial)
    if content is None or not secrets.compare_digest(content[0].encode(), parts.secret.encode()):
        return None
    return Secrets(state, content[1], content[2])


def _exchange(offer: Offer, answer: AuthorizationResponse, stored: Secrets, received: Received) -> None:
    """Exchange the code as in a user's sign-in, and store in ``received`` all that the provider returns."""
    if offer.provider is None:
        raise NotOffered
    with provider.provider_call():
        endpoints = relying_party.get_endpoints(offer.provider, offer.config)
        tokens = provider.redeem(offer, endpoints, answer, stored)
        received.claims = dict(tokens.claims)
        try:
            received.profile = offer.provider.profile(offer.config, endpoints, tokens)
        finally:
            received.userinfo = trial_report.fetch_userinfo(endpoints, tokens)


def _decrypt_name(sealed: str, state: str) -> str:
    try:
        return keyring.decrypt(sealed, purpose=_NAMES, bound_to=state).decode() if sealed else ""
    except keyring.UnknownKey:
        return ""


def _add_name(received: Received, name: str) -> None:
    """Add the name that the provider posted, as the sign-in of a user does."""
    if received.profile:
        received.profile = replace(received.profile, name=received.profile.name or name)


def _describe(connector: Connector) -> dict[str, str]:
    return {"id": str(connector.pk), "connector_id": connector.connector_id, "kind": "sign_in"}


def _get_page(connector: Connector) -> str:
    """Return the name under which a trial is stored. No page has this name, so no page shows a trial."""
    return f"trial of {connector.tenant_id}/{connector.pk}"
