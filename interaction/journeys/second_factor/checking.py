"""Sending and checking the codes of second factors.

``verifying``, ``recovering`` and ``session_proofs`` decide what a right code allows. This module changes
no sign-in and no session.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from django.db import transaction

from audit import log
from audit.events import Event
from database import chains
from database.chains import Chain
from identity.factors import authenticators, backup_codes, locks, metrics, recovery
from identity.factors.errors import FactorLocked, FactorNotAllowed, WrongFactor
from identity.factors.kinds import ADDRESS_OF_FACTOR, RECOVERY_CODE, FactorType
from identity.factors.models import Authenticator
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.known_users import KnownUsers
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.journeys import codes
from interaction.verification import services as verification
from interaction.verification.models import Purpose, VerificationCode


def send(user: User, factor: FactorType, *, binding: str, known: KnownUsers) -> int:
    """Send a code to the verified address of a user, and return how many seconds it is valid.

    ``known`` are the users whom the browser signed in before.

    Raises:
        FactorNotAllowed: no code is sent for this factor.
        verification.SentTooOften: a code was sent within the pause.
        limits.TooMany: too many from this network.

    """
    if factor not in ADDRESS_OF_FACTOR:
        raise FactorNotAllowed("type: no code is sent for this factor")
    kind = ADDRESS_OF_FACTOR[factor]
    return codes.send(
        purpose=Purpose.SECOND_FACTOR,
        kind=kind,
        identifier=getattr(user, kind),
        browser=binding,
        known=known,
        owner=user,
    )


class UnusedCode(Protocol):
    """A valid code, which counts once."""

    def use(self, chain: Chain) -> None:
        """Store that the code is used, in the chain of the changes that it allows."""


@dataclass(frozen=True, slots=True)
class _EnteredProof:
    """A code that was sent and entered."""

    proof: VerificationCode

    def use(self, chain: Chain) -> None:
        """Store that the code is used."""
        verification.spend(self.proof, chain=chain)


@dataclass(frozen=True, slots=True)
class CheckedCode:
    """A valid code of a second factor. ``unused`` is None if the code stays valid."""

    factor: str
    unused: UnusedCode | None

    def succeed(self, chain: Chain | None = None) -> None:
        """Store that the code is used, in the chain of the changes that it allows.

        Raises:
            WrongFactor: the code was used before.

        """
        with chains.joined(chain) as writes:
            if self.unused is not None:
                self.unused.use(writes)
            writes.then(lambda: metrics.count_proof(self.factor, is_right=True))


def check(
    user: User,
    factor: FactorType,
    code: str,
    *,
    binding: str,
    own: Iterable[Authenticator] | None = None,
) -> CheckedCode:
    """Check a code of a user's second factor. ``binding`` is what a sent code is bound to.

    ``own`` are the authenticators of the user, if they were read.

    The code is used when ``succeed`` is called on the result. A code that was sent can only be entered once.

    Raises:
        WrongFactor: the code is wrong, was used before or has expired.
        FactorNotAllowed: the factor has no codes.

    """
    unused: UnusedCode | None
    if factor is FactorType.TOTP:
        unused = authenticators.find_code(user, code, own)
    elif factor is FactorType.BACKUP_CODE:
        unused = backup_codes.find_code(user, code)
    elif factor in ADDRESS_OF_FACTOR:
        unused = _enter_sent_code(user, factor, code, binding)
    else:
        raise FactorNotAllowed("type: this factor has no codes")
    if unused is None:
        raise WrongFactor
    return CheckedCode(factor, unused)


def check_recovery_code(user: User, code: str, *, keep: bool = False) -> CheckedCode:
    """Check the recovery code of a user. With ``keep``, it is not used and can be entered again.

    Raises:
        WrongFactor: the code is wrong, was used before or has expired.

    """
    unused = recovery.find_code(user, code)
    if unused is None:
        raise WrongFactor
    return CheckedCode(RECOVERY_CODE, None if keep else unused)


def record_failure(user: User, factor: str, error: WrongFactor) -> None:
    """Write the audit entry of a wrong code, and tell the user if it locked the codes."""
    facts = {"type": str(factor), "result": "failed", "error": error.reason, **error.audit_facts}
    log.record(Event.MFA_VERIFY, user_id=user.pk, **facts)
    metrics.count_proof(factor, is_right=False)
    if isinstance(error, FactorLocked) or not locks.is_locked(user.pk):
        return
    with suppress(limits.TooMany), transaction.atomic():
        limits.hit((rules.FACTOR_LOCK_NOTICES, str(user.pk)))
        notify(user, Notice.FACTOR_LOCKED)


def _enter_sent_code(user: User, factor: FactorType, code: str, binding: str) -> _EnteredProof | None:
    kind = ADDRESS_OF_FACTOR[factor]
    try:
        proof = verification.verify(
            purpose=Purpose.SECOND_FACTOR,
            kind=kind,
            identifier=getattr(user, kind),
            code=code,
            browser=binding,
        )
    except verification.WrongCode:
        return None
    return None if proof.is_outdated(user) else _EnteredProof(proof)
