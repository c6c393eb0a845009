"""Making an account of one's own."""

from typing import Final

from django.db import transaction

from audit import log
from audit.events import Event
from identity.core.errors import Invalid, ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import Session
from identity.users import passwords, typed
from identity.users import services as users
from identity.users.identifiers import Kind
from interaction.connectors import captcha
from interaction.experience import policy
from interaction.experience import services as experience
from interaction.experience.models import SignInExperience
from interaction.journeys import sign_in
from interaction.journeys.pending import Pending
from interaction.journeys.sign_in import SignedIn
from interaction.verification import services as verification
from interaction.verification.models import Purpose, VerificationCode

_EVENTS: Final = {
    Kind.USERNAME: Event.REGISTER_USERNAME,
    Kind.EMAIL: Event.REGISTER_EMAIL,
    Kind.PHONE: Event.REGISTER_PHONE,
}


class RegistrationOff(ServiceError):
    """The tenant lets nobody make an account by themselves."""

    reason = "registration_off"
    message = "registration is switched off"


def sign_up(  # noqa: PLR0913 - what a person may say of themselves
    *,
    username: str,
    email: str,
    phone: str,
    name: str,
    password: str,
    captcha_token: str = "",
    browser: str,
    pending: Pending | None,
    current: Session | None,
    without: frozenset[Kind] = frozenset(),
) -> SignedIn:
    """Make an account and sign its owner in. What was not said is an empty text.

    ``without`` are addresses that the hosted page let the person leave out, since no code arrived.

    Where the experience asks for it, email and phone must have been proven with a code in this
    browser (``codes``, purpose ``register``); what was proven is verified from the start.

    Raises:
        RegistrationOff: the tenant lets nobody register.
        captcha.Unavailable: nobody says whether the CAPTCHA was solved.
        Invalid: the CAPTCHA was not solved; something is missing, breaks a rule, or belongs to somebody else.
        policy.PasswordRefused: the password breaks rules of the tenant.
        verification.NotVerified: email or phone has to be proven first.
        limits.TooMany: too many from this address.
        passwords.Busy: too many sign-ins at this moment.

    """
    if password:
        passwords.check_places()  # as in sign_in
    limits.hit_by_address(rules.REGISTRATIONS)
    captcha.check(captcha_token)
    shown = experience.current()
    given = {Kind.USERNAME: username, Kind.EMAIL: email, Kind.PHONE: phone}
    with log.attempt(_event(shown, given), typed.identifier(username or email or phone)) as entry:
        entry.application_id = pending.application.pk if pending else None
        _check_complete(shown, given, password, without)
        if password:
            policy.check(password, shown.password_policy, own=given.values())
        proofs = _proofs(shown, given, browser)
        user = users.registered(
            username=username,
            # As it was when a message to it arrived: another spelling may be another mailbox.
            email=proofs[Kind.EMAIL].address if Kind.EMAIL in proofs else email,
            phone=proofs[Kind.PHONE].address if Kind.PHONE in proofs else phone,
            name=name,
            password=password,
            verified=set(proofs),
        )
        with transaction.atomic():
            for kind, proof in proofs.items():
                verification.spend(proof, field=kind)
            users.add(user)
            amr = (["pwd"] if password else []) + (["otp"] if proofs else [])
            return sign_in.start(user, amr=amr, entry=entry, pending=pending, current=current)


def _event(shown: SignInExperience, given: dict[Kind, str]) -> Event:
    """Return the event of the first identifier that was given and asked for."""
    asked = [kind for kind in Kind if given[kind] and kind in shown.sign_up["identifiers"]]
    return _EVENTS[(asked or [kind for kind in Kind if given[kind]] or [Kind.USERNAME])[0]]


def _check_complete(
    shown: SignInExperience, given: dict[Kind, str], password: str, without: frozenset[Kind]
) -> None:
    if not shown.sign_up["identifiers"]:
        raise RegistrationOff
    for kind in Kind:
        if kind in shown.sign_up["identifiers"] and not given[kind] and kind not in without:
            raise Invalid(kind, "is required")
    if shown.sign_up["password"] and not password:
        raise Invalid("password", "is required")


def _proofs(shown: SignInExperience, given: dict[Kind, str], browser: str) -> dict[Kind, VerificationCode]:
    proofs = {}
    for kind in (Kind.EMAIL, Kind.PHONE):
        if not given[kind]:
            continue
        proof = verification.find_proof(
            purpose=Purpose.REGISTER, kind=kind, identifier=given[kind], browser=browser
        )
        if proof is not None:
            proofs[kind] = proof
        elif shown.sign_up["verify"]:
            raise verification.NotVerified(kind)
    return proofs
