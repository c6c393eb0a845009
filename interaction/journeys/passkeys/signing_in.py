"""Signing in with a passkey alone."""

from typing import Any, Final

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.factors import ceremonies, ceremony_options, credential_json, passkeys
from identity.factors.ceremony_options import Descriptor
from identity.factors.challenges import Binding, Ceremony
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.models import Passkey
from identity.factors.needed import Way
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from identity.limits import rules
from identity.limits import services as limits
from identity.users import identifiers
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.journeys.passkeys import anomalies
from interaction.journeys.passkeys.uses import PasskeyUse
from interaction.journeys.second_factor.sign_ins import Outcome, SignIn, Visit
from interaction.journeys.second_factor.starting import go_on

# Without "hwk", which is for keys in certified hardware: only attestation could prove that.
METHODS: Final = ("pop", "user", "mfa")
_NOBODY: Final = "nobody"


class PasskeySignInOff(ServiceError):
    """The tenant does not let people sign in with a passkey alone."""

    status = 403
    reason = "method_off"
    message = "signing in with a passkey is switched off"
    result = {"reason": "factor_not_allowed"}


def get_options(visit: Visit, *, identifier: str = "") -> dict[str, Any]:
    """Return the options to sign in with a passkey.

    With an identifier, the options name credentials, even if no user has the identifier, so they do not
    reveal whether an account exists. Without an identifier, no user is read and nothing is written, because
    pages with autofill request options at every view.

    Raises:
        PasskeySignInOff: the tenant does not let people sign in with a passkey.
        limits.TooMany: too many sign-ins from this address.

    """
    if not experiences.current().has_passkey_sign_in:
        raise PasskeySignInOff
    if not identifier:
        return ceremony_options.request_options(Binding(Ceremony.SIGN_IN, visit.browser), ())
    limits.hit_by_address(rules.SIGN_INS)
    user, allowed = _find_allowed(identifier)
    binding = Binding(Ceremony.SIGN_IN, visit.browser, user)
    return ceremony_options.request_options(binding, allowed)


def _find_allowed(identifier: str) -> tuple[str, list[Descriptor]]:
    """Return the user to whom the challenge is bound, and the credentials to name."""
    kind, key = identifiers.parse(identifier)
    user = User.objects.filter(**{f"{kind}_key": key}).first()
    # An unknown identifier costs the same statements.
    rows = passkeys.filter_first_factors(passkeys.usable(user or User()))
    own = list(rows.values_list("credential_id", flat=True))
    return str(user.pk) if user and own else _NOBODY, ceremony_options.allowed_for(f"{kind} {key}", own)


def _get_bound_users(passkey: Passkey) -> tuple[str, ...]:
    """Return the users to whom the challenge may be bound. Options without credentials are bound to "".

    If it is unknown whether the browser can find the passkey without its id, only such options prove that.
    """
    return ("",) if passkey.is_discoverable is None else ("", str(passkey.user_id))


def sign_in(visit: Visit, *, credential: object, keep_signed_in: bool = False) -> Outcome:
    """Sign a browser in with the answer of a passkey, which must have verified the user.

    Raises:
        PasskeySignInOff: the tenant does not let people sign in with a passkey.
        PasskeyRefused: a check failed, or no user has this passkey.
        credentials.Suspended: the passkey is right, but the user is suspended.
        limits.TooMany: too many sign-ins from this address.

    """
    limits.hit_by_address(rules.SIGN_INS)
    with log.attempt(Event.SIGN_IN_PASSKEY) as entry:
        entry.application_id = visit.pending.application.pk if visit.pending else None
        experience = experiences.current()
        if not experience.has_passkey_sign_in:
            raise PasskeySignInOff
        answer = credential_json.read_assertion(credential)
        passkey = passkeys.find(answer.id)
        # A security key is a second factor only, also if its PIN has verified the user.
        if passkey is None or passkey.is_discoverable is False:
            raise PasskeyRefused(Reason.UNKNOWN_CREDENTIAL)
        bindings = [Binding(Ceremony.SIGN_IN, visit.browser, user) for user in _get_bound_users(passkey)]
        with anomalies.reported(passkey):
            proven = ceremonies.verify_assertion(answer, passkeys.read(passkey), bindings)
            entry.user_id = passkey.user_id
            return go_on(
                passkey.user,
                SignIn(
                    way=Way.PASSKEY,
                    amr=list(METHODS),
                    level=Level.PHISHING_RESISTANT,
                    second=FactorType.WEBAUTHN,
                    keep_signed_in=keep_signed_in,
                ),
                experience=experience,
                visit=visit,
                entry=entry,
                proof=PasskeyUse(passkey, proven, is_discoverable=True),
            )
