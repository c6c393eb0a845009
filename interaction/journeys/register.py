"""Registration of new users."""

from typing import Final

from django.db import transaction

from audit import log
from audit.events import Event
from audit.log import AuditedOperation
from identity.core.errors import Invalid, ServiceError
from identity.factors.needed import FirstFactor
from identity.limits import rules
from identity.limits import services as limits
from identity.users import passwords, typed_identifiers
from identity.users import services as users
from identity.users.identifiers import ADDRESS_KINDS, Kind
from identity.users.models import User
from identity.users.profile import Profile, merge
from interaction.connectors import captcha
from interaction.experience import policy
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys import codes
from interaction.journeys.second_factor.sign_ins import Outcome, SignIn, Visit
from interaction.journeys.second_factor.starting import start_session_or_store
from interaction.verification import proofs as code_proofs
from interaction.verification import services as verification
from interaction.verification.models import Purpose, VerificationCode

_EVENTS: Final = {
    Kind.USERNAME: Event.REGISTER_USERNAME,
    Kind.EMAIL: Event.REGISTER_EMAIL,
    Kind.PHONE: Event.REGISTER_PHONE,
}


class RegistrationOff(ServiceError):
    reason = "registration_off"
    message = "registration is switched off"


def sign_up(  # noqa: PLR0913 - the fields of the form, and the browser
    *,
    username: str,
    email: str,
    phone: str,
    name: str,
    password: str,
    captcha_token: str = "",
    visit: Visit,
    skipped: frozenset[Kind] = frozenset(),
    profile: Profile | None = None,
    agreed_to_terms: bool = False,
) -> Outcome:
    """Create a user and sign them in. Fields without a value are empty texts.

    ``skipped`` are kinds of address that the registration page let the user skip. ``agreed_to_terms`` says
    that the user agreed to the tenant's documents. The audit entry names them if the tenant requires it.

    If the tenant requires verification, email and phone need a proof of this browser (``codes``, purpose
    ``register``). Proven addresses are stored as verified.

    Raises:
        RegistrationOff: registration is closed.
        captcha.Unavailable: the CAPTCHA's provider does not answer.
        Invalid: the CAPTCHA is not solved, or a field is missing, breaks a rule, or belongs to another user.
        policy.PasswordRefused: the password breaks the tenant's policy.
        verification.NotVerified: email or phone has to be verified first.
        limits.TooMany: too many from this network.
        passwords.Busy: too many sign-ins.

    """
    if password:
        passwords.check_capacity()  # first, so that a flood costs no statement and no log entry
    limits.hit_by_network(rules.REGISTRATIONS)
    captcha.check(captcha_token)
    experience = experiences.current()
    addresses = {Kind.USERNAME: username, Kind.EMAIL: email, Kind.PHONE: phone}
    typed = typed_identifiers.build(username or email or phone)
    with log.attempt(_event(experience, addresses), typed) as audited:
        audited.application_id = visit.application_id
        _check_complete(experience, addresses, password, skipped)
        _record_agreement(experience, audited, agreed_to_terms=agreed_to_terms)
        if password:
            policy.check(password, experience.password_policy, own=addresses.values())
        proofs = _find_proofs(experience, addresses, visit)
        user = _new_user(addresses, proofs, name=name, password=password)
        user.profile = _select_profile(experience, profile or {})
        with transaction.atomic():
            for kind, proof in proofs.items():
                verification.spend(proof, field=kind)
            users.add(user)
            amr = (["pwd"] if password else []) + [name for kind in proofs for name in codes.METHODS[kind]]
            return start_session_or_store(
                user,
                SignIn(way=FirstFactor.REGISTER, amr=list(dict.fromkeys(amr)), entered=frozenset(proofs)),
                experience=experience,
                visit=visit,
                audited=audited,
            )


def _record_agreement(
    experience: SignInExperience, audited: AuditedOperation, *, agreed_to_terms: bool
) -> None:
    """Name the documents to which the user has to agree in the audit entry.

    Raises:
        Invalid: the user has not agreed to them.

    """
    if documents := experience.documents_to_agree_to:
        if not agreed_to_terms:
            raise Invalid("agreed_to_terms", "must be true: the user has to agree", code="required")
        audited.facts["agreed_to_terms"] = documents


def _new_user(
    addresses: dict[Kind, str], proofs: dict[Kind, VerificationCode], *, name: str, password: str
) -> User:
    """Return the unsaved user, whose proven addresses are verified."""
    # Use the proven spelling, because another spelling may be another mailbox.
    spelled = addresses | {kind: proof.address for kind, proof in proofs.items()}
    return users.new_user(
        username=spelled[Kind.USERNAME],
        email=spelled[Kind.EMAIL],
        phone=spelled[Kind.PHONE],
        name=name,
        password=password,
        verified=set(proofs),
    )


def _select_profile(experience: SignInExperience, entered: Profile) -> Profile:
    """Return the entered members of the profile for which the tenant asks."""
    return merge({}, {name: value for name, value in entered.items() if name in experience.profile_fields})


def _event(experience: SignInExperience, addresses: dict[Kind, str]) -> Event:
    """Return the event of the first required identifier that was entered, else of the first one entered."""
    entered = [kind for kind in Kind if addresses[kind]]
    required = [kind for kind in entered if kind in experience.sign_up["identifiers"]]
    return _EVENTS[(required or entered or [Kind.USERNAME])[0]]


def _check_complete(
    experience: SignInExperience, addresses: dict[Kind, str], password: str, skipped: frozenset[Kind]
) -> None:
    if not experience.sign_up["identifiers"]:
        raise RegistrationOff
    for kind in Kind:
        if kind in experience.sign_up["identifiers"] and not addresses[kind] and kind not in skipped:
            raise Invalid(kind, "is required")
    if experience.sign_up["password"] and not password:
        raise Invalid("password", "is required")


def _find_proofs(
    experience: SignInExperience, addresses: dict[Kind, str], visit: Visit
) -> dict[Kind, VerificationCode]:
    proofs = {}
    for kind in ADDRESS_KINDS:
        if not addresses[kind]:
            continue
        proof = code_proofs.find(
            purpose=Purpose.REGISTER,
            kind=kind,
            identifier=addresses[kind],
            browser=visit.browser,
            proofs=visit.proofs,
        )
        if proof is not None:
            proofs[kind] = proof
        elif experience.sign_up["verify"]:
            raise verification.NotVerified(kind)
    return proofs
