"""A passkey that is proven in a session: to confirm a sensitive change, and to reach a higher level."""

from typing import Any
from uuid import UUID

from audit import log
from audit.events import Event
from identity.factors import ceremonies, ceremony_options, credential_json, metrics, passkeys
from identity.factors.challenges import Binding, Ceremony
from identity.factors.errors import FactorNotAllowed
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import Session
from identity.tenants.models import Tenant
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys.passkeys import anomalies
from interaction.journeys.passkeys.uses import PasskeyUse
from interaction.journeys.second_factor import reauthentication, session_proofs
from interaction.journeys.second_factor.session_proofs import Renewed
from interaction.journeys.second_factor.sign_ins import SupportsSucceed


def get_options(session: Session, *, browser: str) -> dict[str, Any]:
    """Return the options to confirm with a passkey that it is the user.

    Raises:
        FactorNotAllowed: the user has no passkey, or the tenant does not use them.

    """
    _check_usable(session, experiences.current())
    own = passkeys.describe(passkeys.usable(session.user))
    return ceremony_options.request_options(_bind(session, browser), own)


def confirm(session: Session, *, credential: object, browser: str) -> Renewed:
    """Confirm with a passkey that it is the user. The session reaches the level of a passkey.

    Raises:
        FactorNotAllowed: the user has no passkey, or the tenant does not use them.
        PasskeyRefused: a check failed, or the passkey belongs to another user.
        reauthentication.SignInAgain: the session has ended.
        limits.TooMany: too many sign-ins from this network.

    """
    limits.hit_by_network(rules.SIGN_INS)
    experience = experiences.current()
    _check_usable(session, experience)
    try:
        return _prove(session, experience.tenant, credential, browser)
    except PasskeyRefused as refused:
        record_failure(session.user_id, refused)
        raise


def _prove(session: Session, tenant: Tenant, credential: object, browser: str) -> Renewed:
    answer = credential_json.read_assertion(credential)
    passkey = passkeys.find_usable(session.user, answer.id)
    if passkey is None:
        raise PasskeyRefused(Reason.UNKNOWN_CREDENTIAL)
    with anomalies.reported(passkey):
        proven = ceremonies.verify_assertion(answer, passkeys.read(passkey), [_bind(session, browser)])
        renewed = record(session, tenant, PasskeyUse(passkey, proven))
    metrics.count_proof(FactorType.WEBAUTHN, is_right=True)
    return renewed


def record(session: Session, tenant: Tenant, to_succeed: SupportsSucceed | None = None) -> Renewed:
    """Store that a passkey was just proven in a session, with the success of ``to_succeed``.

    ``tenant`` is that of the session.

    Raises:
        reauthentication.SignInAgain: the session has ended.
        PasskeyRefused: the passkey or its challenge was used or removed meanwhile.

    """
    return session_proofs.step_up(
        session, FactorType.WEBAUTHN, Level.PHISHING_RESISTANT, tenant=tenant, to_succeed=to_succeed
    )


def record_failure(user_id: UUID, refused: PasskeyRefused) -> None:
    """Write the audit entry of a passkey that was refused as the second factor."""
    log.record(
        Event.MFA_VERIFY,
        user_id=user_id,
        type=FactorType.WEBAUTHN.value,
        result="failed",
        error=refused.reason,
        **refused.audit_facts,
    )
    metrics.count_proof(FactorType.WEBAUTHN, is_right=False)


def _check_usable(session: Session, experience: SignInExperience) -> None:
    if FactorType.WEBAUTHN not in reauthentication.get_factors(session, experience.factor_policy):
        raise FactorNotAllowed("the user has no passkey that can be used here")


def _bind(session: Session, browser: str) -> Binding:
    return Binding(Ceremony.CONFIRM, browser, str(session.user_id), str(session.pk))
