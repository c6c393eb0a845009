"""Signing in with a password or a code."""

from django.db import transaction

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.factors.needed import FirstFactor
from identity.limits import rules
from identity.limits import services as limits
from identity.users import credentials, identifiers, ownership, passwords, sign_in_locks, typed_identifiers
from identity.users.identifiers import Kind
from interaction.journeys import codes, locks
from interaction.journeys.second_factor.sign_ins import Outcome, SignIn, Visit
from interaction.journeys.second_factor.starting import start_session_or_store
from interaction.verification import services as verification
from interaction.verification.models import Purpose


class MethodOff(ServiceError):
    """The tenant does not use this sign-in method for this kind of identifier."""

    reason = "method_off"

    def __init__(self, kind: str, method: str = "password") -> None:
        super().__init__(f"identifier: signing in with {kind} and {method} is switched off")


def sign_in_with_password(
    *, identifier: str, password: str, keep_signed_in: bool = False, visit: Visit
) -> Outcome:
    """Sign a browser in with identifier and password. ``keep_signed_in`` is the choice of the user.

    The browser's present session continues with a new secret for the same user, and ends for another user.

    Raises:
        MethodOff: the tenant does not use passwords for this kind of identifier.
        credentials.InvalidCredentials: identifier or password is wrong. The error does not say which.
        locks.Locked: too many attempts failed before for this identifier, from here or from everywhere.
        limits.TooMany: too many from this network.
        credentials.Suspended: the password is right, but the user is suspended.
        passwords.Busy: too many sign-ins.

    """
    passwords.check_capacity()  # first, so that a flood costs no statement and no log entry
    kind, key = identifiers.parse(identifier)
    device = visit.known.find_device(kind, key)
    group = sign_in_locks.get_group(kind, key)
    login_attempt = limits.login_attempt(
        sign_in_locks.get_network_lock(group, limits.client_network()),
        sign_in_locks.get_browser_lock(group, device) if device else sign_in_locks.get_shared_lock(group),
        failure=credentials.InvalidCredentials,
        within=rules.SIGN_INS,
        group=group,
    )
    log_attempt = log.attempt(Event.SIGN_IN_PASSWORD, typed_identifiers.build(identifier))
    with login_attempt as counted, log_attempt as audited:
        audited.application_id = visit.application_id
        experience = visit.get_experience()
        if not experience.can_use_password(kind):
            raise MethodOff(kind)
        counted.check(locks.Locked)
        try:
            user = credentials.authenticate(identifier=identifier, password=password)
        except credentials.InvalidCredentials:
            if device:
                locks.count_failure_of_unknown_device(kind, key, visit.known, device)
            raise
        if device and not visit.known.is_current(device, user):
            locks.check_shared_lock(kind, key)
        return start_session_or_store(
            user,
            SignIn(way=FirstFactor.PASSWORD, amr=["pwd"], keep_signed_in=keep_signed_in),
            experience=experience,
            visit=visit,
            audited=audited,
            to_succeed=counted,
        )


def sign_in_with_code(
    *, kind: Kind, identifier: str, code: str, keep_signed_in: bool = False, visit: Visit
) -> Outcome:
    """Sign a browser in with a code (``codes``, purpose ``sign_in``).

    Failed passwords do not lock this method. The email or phone is stored as verified.

    Raises:
        MethodOff: the tenant does not use codes for this kind of identifier.
        verification.WrongCode: the code is wrong or has expired, or no user has the identifier.
        credentials.Suspended: the code is right, but the user is suspended.
        limits.TooMany: too many from this network.

    """
    log_attempt = log.attempt(Event.SIGN_IN_CODE, typed_identifiers.build(identifier))
    with codes.code_attempt() as counted, log_attempt as audited:
        audited.application_id = visit.application_id
        experience = visit.get_experience()
        if not experience.can_use_code(kind):
            raise MethodOff(kind, "verification code")
        verified = verification.verify(
            purpose=Purpose.SIGN_IN, kind=kind, identifier=identifier, code=code, browser=visit.browser
        )
        user = ownership.find_by_proof(kind, verified.identifier_key, address=verified.address)
        if user is None or verified.is_outdated(user):
            raise verification.WrongCode
        proven = (kind, verified.identifier_key)
        try:
            with transaction.atomic():
                verification.spend(verified)
                return start_session_or_store(
                    user,
                    SignIn(
                        way=FirstFactor.CODE,
                        amr=codes.METHODS[kind],
                        entered=frozenset((kind,)),
                        keep_signed_in=keep_signed_in,
                        proven=proven,
                    ),
                    experience=experience,
                    visit=visit,
                    audited=audited,
                    to_succeed=counted,
                )
        except (ownership.NotTheOwner, credentials.InvalidCredentials):
            # The account was changed concurrently: another user proved the address, or the password changed.
            raise verification.WrongCode from None
