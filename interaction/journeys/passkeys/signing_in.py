"""Signing in with a passkey alone."""

from typing import Any, Final

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.factors import ceremonies, ceremony_options, credential_json, passkeys
from identity.factors.challenges import Binding, Ceremony
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.needed import FirstFactor
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from identity.limits import rules
from identity.limits import services as limits
from interaction.experience import services as experiences
from interaction.journeys.passkeys import anomalies
from interaction.journeys.passkeys.uses import PasskeyUse
from interaction.journeys.second_factor.sign_ins import Outcome, SignIn, Visit
from interaction.journeys.second_factor.starting import start_session_or_store

# Without "hwk", which is for keys in certified hardware: only attestation could prove that.
METHODS: Final = ("pop", "user", "mfa")


class PasskeySignInOff(ServiceError):
    """The tenant does not let users sign in with a passkey alone."""

    status = 403
    reason = "method_off"
    message = "signing in with a passkey is switched off"
    result = {"reason": "factor_not_allowed"}


def get_options(visit: Visit) -> dict[str, Any]:
    """Return the options to sign in with a passkey.

    They name no credentials, so they do not reveal which accounts and passkeys exist: every passkey that
    signs in alone is discoverable. No user is read and nothing is written, because pages with autofill
    request options at every view.

    Raises:
        PasskeySignInOff: the tenant does not let users sign in with a passkey.

    """
    if not experiences.current().has_passkey_sign_in:
        raise PasskeySignInOff
    return ceremony_options.request_options(_bind(visit), ())


def _bind(visit: Visit) -> Binding:
    return Binding(Ceremony.SIGN_IN, visit.browser)


def sign_in(visit: Visit, *, credential: object, keep_signed_in: bool = False) -> Outcome:
    """Sign a browser in with the answer of a passkey, which must have verified the user.

    Raises:
        PasskeySignInOff: the tenant does not let users sign in with a passkey.
        PasskeyRefused: a check failed, or no user has this passkey.
        credentials.Suspended: the passkey is right, but the user is suspended.
        limits.TooMany: too many sign-ins from this network.

    """
    limits.hit_by_network(rules.SIGN_INS)
    with log.attempt(Event.SIGN_IN_PASSKEY) as audited:
        audited.application_id = visit.application_id
        experience = experiences.current()
        if not experience.has_passkey_sign_in:
            raise PasskeySignInOff
        answer = credential_json.read_assertion(credential)
        passkey = passkeys.find(answer.id)
        # A security key is a second factor only, also if its PIN has verified the user.
        if passkey is None or passkey.is_discoverable is False:
            raise PasskeyRefused(Reason.UNKNOWN_CREDENTIAL)
        with anomalies.reported(passkey):
            proven = ceremonies.verify_assertion(answer, passkeys.read(passkey), [_bind(visit)])
            audited.user_id = passkey.user_id
            return start_session_or_store(
                passkey.user,
                SignIn(
                    way=FirstFactor.PASSKEY,
                    amr=list(METHODS),
                    level=Level.PHISHING_RESISTANT,
                    second=FactorType.WEBAUTHN,
                    keep_signed_in=keep_signed_in,
                ),
                experience=experience,
                visit=visit,
                audited=audited,
                to_succeed=PasskeyUse(passkey, proven, is_discoverable=True),
            )
