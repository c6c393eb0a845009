"""A passkey or a security key as the second factor of a pending sign-in."""

from typing import Any

from identity.factors import ceremonies, ceremony_options, credential_json, metrics, passkeys
from identity.factors.challenges import Binding, Ceremony
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from identity.limits import rules
from identity.limits import services as limits
from interaction.journeys.passkeys import anomalies, step_up
from interaction.journeys.passkeys.uses import PasskeyUse
from interaction.journeys.second_factor import current_step, verifying
from interaction.journeys.second_factor.current_step import SecondStep
from interaction.journeys.second_factor.sign_ins import Outcome, Visit


def get_options(visit: Visit) -> dict[str, Any]:
    """Return the options to prove the second factor with a passkey of the user whose first one is proven.

    Raises:
        NothingPending: the browser has no pending sign-in.
        FactorNotAllowed: the user has no passkey, or the tenant does not use them.

    """
    step = _find(visit)
    return ceremony_options.request_options(_bind(step), passkeys.describe(passkeys.usable(step.user)))


def verify(visit: Visit, *, credential: object, remember: bool = False) -> Outcome:
    """Prove the second factor with the answer of a passkey.

    With ``remember``, this browser is remembered if the tenant allows it.

    Raises:
        NothingPending: the browser has no pending sign-in.
        FactorNotAllowed: the user has no passkey, or the tenant does not use them.
        PasskeyRefused: a check failed, or the passkey belongs to another user.
        credentials.Suspended: the passkey is right, but the user is suspended.
        limits.TooMany: too many sign-ins from this network.

    """
    limits.hit_by_network(rules.SIGN_INS)
    step = _find(visit)
    try:
        return _prove(step, credential, remember=remember)
    except PasskeyRefused as refused:
        step_up.record_failure(step.user.pk, refused)
        step.count_try()
        raise


def _prove(step: SecondStep, credential: object, *, remember: bool) -> Outcome:
    answer = credential_json.read_assertion(credential)
    passkey = passkeys.find_usable(step.user, answer.id)
    if passkey is None:
        raise PasskeyRefused(Reason.UNKNOWN_CREDENTIAL)
    with anomalies.reported(passkey):
        proven = ceremonies.verify_assertion(answer, passkeys.read(passkey), [_bind(step)])
        use = PasskeyUse(passkey, proven)
        level = Level.PHISHING_RESISTANT
        outcome = verifying.continue_after_factor(step, FactorType.WEBAUTHN, level, use, remember=remember)
    metrics.count_proof(FactorType.WEBAUTHN, is_right=True)
    return outcome


def _find(visit: Visit) -> SecondStep:
    step = current_step.find(visit)
    step.check_usable(FactorType.WEBAUTHN)
    return step


def _bind(step: SecondStep) -> Binding:
    return Binding(Ceremony.SECOND_FACTOR, step.visit.browser, str(step.user.pk), str(step.id))
