"""Signing in with a password or a code, and starting the session."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.urls import reverse

from audit import log
from audit.events import Event
from audit.log import Attempt
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.services import LoginAttempt
from identity.sessions import lifetimes
from identity.sessions import services as sessions
from identity.sessions.known_users import KnownUsers
from identity.sessions.models import Session
from identity.tenants.models import Tenant
from identity.users import credentials, identifiers, ownership, passwords, sign_in_locks, typed
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience import services as experience
from interaction.journeys import codes, locks
from interaction.journeys.pending import Pending
from interaction.verification import services as verification
from interaction.verification.models import Purpose
from oidc.grants import requests


class MethodOff(ServiceError):
    """The tenant does not use this sign-in method for this kind of identifier."""

    reason = "method_off"

    def __init__(self, kind: str, method: str = "password") -> None:
        super().__init__(f"identifier: signing in with {kind} and {method} is switched off")


@dataclass(frozen=True, slots=True)
class SignInResult:
    """The URL of the next page, the secret for the browser's session cookie, and the user.

    The cookie lives for ``cookie_seconds``, or until the browser closes if that is None.
    """

    redirect_to: str
    session_token: str
    user: User
    cookie_seconds: int | None


def sign_in_with_password(  # noqa: PLR0913 - the fields of the form, and the browser
    *,
    identifier: str,
    password: str,
    keep_signed_in: bool = False,
    pending: Pending | None,
    current: Session | None,
    known: KnownUsers,
) -> SignInResult:
    """Sign a browser in with identifier and password. ``keep_signed_in`` is the choice of the user.

    ``current`` is the browser's present session: it continues with a new secret for the same user, and
    ends for another user. ``known`` are the users whom the browser signed in before.

    Raises:
        MethodOff: the tenant does not use passwords for this kind of identifier.
        credentials.InvalidCredentials: identifier or password is wrong. The error does not say which.
        locks.Locked: too many attempts failed before for this identifier, from here or from everywhere.
        limits.TooMany: too many from this address.
        credentials.Suspended: the password is right, but the user is suspended.
        passwords.Busy: too many sign-ins.

    """
    passwords.check_capacity()  # first, so that a flood costs no statement and no log entry
    kind, key = identifiers.parse(identifier)
    device = known.find_device(kind, key)
    login_attempt = limits.login_attempt(
        (rules.PAIR, f"{kind} {key} {limits.client_network()}"),
        (rules.KNOWN_BROWSER, f"{kind} {key} {device}") if device else (rules.IDENTIFIER, f"{kind} {key}"),
        failure=credentials.InvalidCredentials,
        within=rules.SIGN_INS,
        group=sign_in_locks.get_group(kind, key),
    )
    with login_attempt as attempt, log.attempt(Event.SIGN_IN_PASSWORD, typed.identifier(identifier)) as entry:
        entry.application_id = pending.application.pk if pending else None
        offered = experience.current()
        if not offered.can_use_password(kind):
            raise MethodOff(kind)
        attempt.check(locks.Locked)
        try:
            user = credentials.authenticate(identifier=identifier, password=password)
        except credentials.InvalidCredentials:
            if device:
                locks.record_unknown_failure(kind, key, known, device)
            raise
        if device and not known.is_current(device, user):
            locks.apply_identifier_lock(kind, key)
        return start_session(
            user,
            tenant=offered.tenant,
            amr=["pwd"],
            keep_signed_in=keep_signed_in,
            entry=entry,
            pending=pending,
            current=current,
            attempt=attempt,
        )


def sign_in_with_code(  # noqa: PLR0913 - what a code is bound to
    *,
    kind: Kind,
    identifier: str,
    code: str,
    browser: str,
    keep_signed_in: bool = False,
    pending: Pending | None,
    current: Session | None,
) -> SignInResult:
    """Sign a browser in with a code (``codes``, purpose ``sign_in``).

    Failed passwords do not lock this method. The email or phone is stored as verified.

    Raises:
        MethodOff: the tenant does not use codes for this kind of identifier.
        verification.WrongCode: the code is wrong or has expired, or no user has the identifier.
        credentials.Suspended: the code is right, but the user is suspended.
        limits.TooMany: too many from this address.

    """
    log_attempt = log.attempt(Event.SIGN_IN_CODE, typed.identifier(identifier))
    with codes.code_attempt() as attempt, log_attempt as entry:
        entry.application_id = pending.application.pk if pending else None
        offered = experience.current()
        if not offered.can_use_code(kind):
            raise MethodOff(kind, "verification code")
        proof = verification.verify(
            purpose=Purpose.SIGN_IN, kind=kind, identifier=identifier, code=code, browser=browser
        )
        user = ownership.find_by_proof(kind, proof.identifier_key, address=proof.address)
        if user is None or proof.is_outdated(user):
            raise verification.WrongCode
        if user.is_suspended:
            raise credentials.Suspended
        proven = (kind, proof.identifier_key)
        try:
            with transaction.atomic():
                verification.spend(proof)
                return start_session(
                    user,
                    tenant=offered.tenant,
                    amr=["otp"],
                    keep_signed_in=keep_signed_in,
                    entry=entry,
                    pending=pending,
                    current=current,
                    proven=proven,
                    attempt=attempt,
                )
        except (ownership.NotTheOwner, credentials.InvalidCredentials):
            # The account was changed concurrently: another user proved the address, or the password changed.
            raise verification.WrongCode from None


def start_session(  # noqa: PLR0913 - what signing in touches
    user: User,
    *,
    tenant: Tenant,
    amr: list[str],
    keep_signed_in: bool = False,
    entry: Attempt,
    pending: Pending | None,
    current: Session | None,
    proven: tuple[Kind, str] | None = None,
    attempt: LoginAttempt | None = None,
    auth_time: datetime | None = None,
) -> SignInResult:
    """Start the session of an authenticated user, with all related changes, atomically.

    ``entry`` is the entry of the sign-in, which succeeds, and ``attempt`` its login attempt. ``proven``
    is the kind and the key of the identifier that the user has just proven. ``auth_time`` is the time of
    the authentication, if it was not now. ``keep_signed_in`` counts only if the tenant lets users choose.

    Raises:
        credentials.Suspended: the user was suspended meanwhile.
        credentials.InvalidCredentials: the password was changed meanwhile.
        ownership.NotTheOwner: the user no longer owns the proven identifier.

    """
    entry.user_id = user.pk
    choice = keep_signed_in if tenant.keep_signed_in else None
    with transaction.atomic():
        credentials.record_sign_in(user)  # lock order: the user's row first, which avoids deadlocks
        if attempt:
            attempt.succeed()
        if proven is not None:
            ownership.accept_proof(user, *proven)
        session, token = sessions.start(
            user,
            amr=amr,
            auth_time=auth_time,
            replacing=current,
            seconds=lifetimes.get_absolute_seconds(tenant),
            keep_signed_in=choice,
        )
        if pending:
            requests.record_sign_in(pending.row, session)
        entry.facts["session_id"] = str(session.pk)
        entry.record_success()
    return SignInResult(
        redirect_to=pending.resume_url if pending else reverse("pages:account"),
        session_token=token,
        user=user,
        cookie_seconds=lifetimes.get_cookie_seconds(tenant, keep_signed_in=choice),
    )
