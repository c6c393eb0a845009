"""Checking the code of a second factor, for a sign-in and for a confirmation."""

from contextlib import suppress
from dataclasses import dataclass

from django.db import transaction

from audit import log
from audit.events import Event
from database import chains
from database.chains import Chain
from identity.factors import authenticators, backup_codes, locks, metrics, recovery
from identity.factors.authenticators import ValidCode
from identity.factors.errors import FactorLocked, FactorNotAllowed, WrongFactor
from identity.factors.kinds import FactorType
from identity.limits import rules
from identity.limits import services as limits
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.journeys import codes
from interaction.journeys.second_factor.people import KINDS
from interaction.verification import services as verification
from interaction.verification.models import Purpose


def send(user: User, factor: FactorType, *, binding: str) -> int:
    """Send a code to the verified address of a user, and return how many seconds it is valid.

    Raises:
        FactorNotAllowed: no code is sent for this factor.
        verification.SentTooOften: a code was sent within the pause.
        limits.TooMany: too many from this address.

    """
    if factor not in KINDS:
        raise FactorNotAllowed
    kind = KINDS[factor]
    return codes.send(
        purpose=Purpose.SECOND_FACTOR, kind=kind, identifier=getattr(user, kind), browser=binding
    )


@dataclass(frozen=True, slots=True)
class CheckedCode:
    """A valid code of a second factor. ``unused`` is the code of an authenticator, which is not used yet."""

    factor: FactorType
    unused: ValidCode | None

    def succeed(self, chain: Chain | None = None) -> None:
        """Store that the code is used, in the chain of the changes that it allows.

        Raises:
            WrongFactor: the code was used before.

        """
        with chains.joined(chain) as writes:
            if self.unused is not None:
                self.unused.use(writes)
            writes.then(lambda: metrics.count_proof(self.factor, is_right=True))


def check(user: User, factor: FactorType, code: str, *, binding: str) -> CheckedCode:
    """Check a code of a user's second factor. ``binding`` is what a sent code is bound to.

    The code of an authenticator is used when ``succeed`` is called on the result. Any other code is used
    here.

    Raises:
        WrongFactor: the code is wrong, was used before or has expired.
        FactorNotAllowed: the factor has no codes.

    """
    unused = None
    if factor is FactorType.TOTP:
        unused = authenticators.find_code(user, code)
        is_right = unused is not None
    elif factor is FactorType.BACKUP_CODE:
        is_right = _use_backup_code(user, code)
    elif factor in KINDS:
        is_right = _use_sent_code(user, factor, code, binding)
    else:
        raise FactorNotAllowed
    if not is_right:
        raise WrongFactor
    return CheckedCode(factor, unused)


def check_recovery_code(user: User, code: str, *, keep: bool = False) -> None:
    """Use the recovery code of a user. With ``keep``, it is only compared, and can be used later.

    Raises:
        WrongFactor: the code is wrong, was used before or has expired.

    """
    is_right = recovery.find(user, code) is not None if keep else recovery.redeem(user, code)
    if not is_right:
        raise WrongFactor
    metrics.count_proof("RecoveryCode", is_right=True)


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


@transaction.atomic
def _use_backup_code(user: User, code: str) -> bool:
    left = backup_codes.use(user, code)
    if left is None:
        return False
    notify(user, Notice.BACKUP_CODE_USED, left=str(left))
    return True


def _use_sent_code(user: User, factor: FactorType, code: str, binding: str) -> bool:
    kind = KINDS[factor]
    try:
        proof = verification.verify(
            purpose=Purpose.SECOND_FACTOR,
            kind=kind,
            identifier=getattr(user, kind),
            code=code,
            browser=binding,
        )
        verification.spend(proof)
    except (verification.WrongCode, verification.NotVerified):
        return False
    return not proof.is_outdated(user)
