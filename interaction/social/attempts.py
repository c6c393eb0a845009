"""Pending sign-ins at external providers, single-use and bound to one browser."""

import hashlib
import secrets
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import Q

from database.clock import DatabaseNow, seconds_ahead
from identity.encryption import keyring
from identity.sessions import proof_secrets
from identity.sessions.models import Session
from interaction.connectors.models import Connector
from interaction.connectors.relying_party import Secrets
from interaction.social.models import SocialAttempt

_LIFETIME_SECONDS: Final = 600
_MOST_PER_BROWSER: Final = 20
PURPOSE: Final = "social attempts"


def new_secrets() -> Secrets:
    """Return state, nonce and verifier, 256 random bits each."""
    return Secrets(*(secrets.token_urlsafe(32) for _ in range(3)))


@transaction.atomic
def create(  # noqa: PLR0913 - one parameter a column
    secrets: Secrets,
    *,
    browser: str,
    connector: Connector,
    interaction: str,
    session: Session | None,
    keep_signed_in: bool = False,
    person: list[str] | None = None,
    secret_hash: str | None = None,
    lifetime_seconds: int = _LIFETIME_SECONDS,
) -> SocialAttempt:
    """Store and return an attempt, for ten minutes by default. ``person`` says who signed in already.

    ``secret_hash`` is of the secret that the browser needs to find the attempt by its id. Expired attempts,
    and the browser's oldest beyond twenty, are deleted.
    """
    SocialAttempt.objects.filter(expires_at__lt=DatabaseNow()).delete()
    attempts = SocialAttempt.objects.filter(browser=browser).order_by("-created_at", "-pk")
    if stale := list(attempts.values_list("pk", flat=True)[_MOST_PER_BROWSER - 1 :]):
        SocialAttempt.objects.filter(pk__in=stale).delete()
    attempt = SocialAttempt(
        state_hash=_hash(secrets.state),
        browser=browser,
        secret_hash=secret_hash,
        connector=connector,
        session=session,
        interaction=interaction,
        keep_signed_in=keep_signed_in,
        expires_at=seconds_ahead(lifetime_seconds),
    )
    texts = [secrets.nonce, secrets.verifier]
    attempt.sealed_secrets = _encrypt(attempt, texts if person is None else [*texts, "", *person])
    attempt.save(force_insert=True)
    return attempt


@transaction.atomic
def redeem(state: str, browser: str) -> SocialAttempt | None:
    """Delete and return this browser's attempt with this state. Of concurrent calls, one returns it."""
    attempt = _find(browser, state_hash=_hash(state))
    return attempt if attempt and end(attempt) else None


def find(attempt_id: UUID, browser: str, proofs: Sequence[str]) -> SocialAttempt | None:
    """Return this browser's pending attempt with this id, without ending it.

    ``proofs`` are the hashes of its secrets.
    """
    return _find(browser, proof_secrets.opened_by(proofs), pk=attempt_id)


def end(attempt: SocialAttempt) -> bool:
    """Delete an attempt. Of concurrent calls, one returns true."""
    deleted, _ = SocialAttempt.objects.filter(pk=attempt.pk).delete()
    return bool(deleted)


def _find(browser: str, *conditions: Q, **lookup: object) -> SocialAttempt | None:
    if not browser:
        return None
    pending = SocialAttempt.objects.filter(
        *conditions, browser=browser, expires_at__gt=DatabaseNow(), **lookup
    )
    return pending.select_related("connector", "session").first()


def get_secrets(attempt: SocialAttempt, state: str) -> Secrets:
    """Return the decrypted secrets of an attempt.

    Raises:
        keyring.UnknownKey: the key that encrypted them is missing.

    """
    nonce, verifier, *_ = _decrypt(attempt)
    return Secrets(state, nonce, verifier)


def find_at_callback(state: str, connector_id: UUID) -> SocialAttempt | None:
    """Return the pending attempt with this state at the callback of a connector, without ending it."""
    pending = SocialAttempt.objects.filter(state_hash=_hash(state), expires_at__gt=DatabaseNow())
    return pending.filter(connector=connector_id).select_related("connector").first()


@transaction.atomic
def keep_name(attempt: SocialAttempt, name: str) -> None:
    """Store the name that a provider posted, together with the secrets of the attempt.

    Raises:
        keyring.UnknownKey: the key that encrypted the secrets is missing.

    """
    nonce, verifier, *_ = _decrypt(attempt)
    SocialAttempt.objects.filter(pk=attempt.pk).update(
        sealed_secrets=_encrypt(attempt, [nonce, verifier, name])
    )


def get_name(attempt: SocialAttempt) -> str:
    """Return the name that a provider posted; an empty string without one.

    Raises:
        keyring.UnknownKey: the key that encrypted it is missing.

    """
    _, _, *names = _decrypt(attempt)
    return names[0] if names else ""


def get_person(attempt: SocialAttempt) -> list[str] | None:
    """Return who signed in, as ``create`` stored it; None for an attempt that waits for its provider.

    Raises:
        keyring.UnknownKey: the key that encrypted it is missing.

    """
    return _decrypt(attempt)[3:] or None


def _encrypt(attempt: SocialAttempt, texts: list[str]) -> str:
    return keyring.encrypt(orjson.dumps(texts), purpose=PURPOSE, bound_to=_binding(attempt))


def _decrypt(attempt: SocialAttempt) -> list[str]:
    """Return nonce and verifier, then the name that a provider posted, then who signed in, if known."""
    plaintext = keyring.decrypt(attempt.sealed_secrets, purpose=PURPOSE, bound_to=_binding(attempt))
    texts: list[str] = orjson.loads(plaintext)
    return texts


def _binding(attempt: SocialAttempt) -> str:
    return f"{attempt.tenant_id}/{attempt.pk}"


def _hash(state: str) -> str:
    return hashlib.sha256(state.encode(errors="replace")).hexdigest()
