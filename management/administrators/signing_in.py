"""How administrators prove who they are: a password, and a second step where they set one up."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import IntegrityError, transaction
from django.db.models import Q

from audit import log
from audit.events import Event
from audit.typed import Typed
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.users import identifiers, passwords, typed
from management.administrators import second_step
from management.administrators.models import Administrator


class WrongCredentials(ServiceError):
    """No administrator has this username and password."""

    status = 401
    reason = "invalid_credentials"
    message = "the username or the password is wrong"


class WrongPassword(WrongCredentials):
    """There is an administrator of this username. Told in the same words; the log keeps the username."""

    names_somebody = True


class Locked(WrongCredentials):
    """Too many failed before. Told in the same words, whatever the password was."""

    reason = "locked"

    def __init__(self, seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(seconds)})


def authenticate(*, username: str, password: str, code: str = "") -> Administrator:
    """Return the administrator whom username, password and second step prove, where there is one.

    Raises:
        WrongCredentials: username or password is wrong: never told which.
        Locked: too many failed before, with this username from this address, or from everywhere.
        limits.TooMany: too many sign-ins from this address.
        second_step.CodeNeeded: the password is right, and there is a second step.
        second_step.WrongCode: the password is right, and the code is wrong.
        second_step.SetUpNeeded: the password is right, and there should be a second step.
        passwords.Busy: too many sign-ins at this moment.

    """
    passwords.check_capacity()  # a flood costs no statement, and is not in the log
    with log.attempt(Event.ADMIN_SIGN_IN, _typed(username)) as entry:
        administrator = _proven(username, password)
        entry.names_somebody(is_known=True)
        if second_step.is_missing(administrator):
            raise second_step.SetUpNeeded
        if administrator.second_step_since:
            if not code:
                raise second_step.CodeNeeded
            entry.facts["second_step"] = second_step.prove(administrator, code)
        _remember_address(administrator.username)
    return administrator


def begin(*, username: str, password: str) -> Administrator:
    """Return the administrator whom username and password prove. With a second step, that is half of it.

    Raises:
        WrongCredentials: one of them is wrong: never told which.
        Locked: too many failed before, with this username from this address, or from everywhere.
        limits.TooMany: too many sign-ins from this address.
        passwords.Busy: too many sign-ins at this moment.

    """
    passwords.check_capacity()  # as above
    with log.attempt(Event.ADMIN_SIGN_IN, _typed(username)) as entry:
        administrator = _proven(username, password)
        entry.names_somebody(is_known=True)
        if administrator.second_step_since:
            entry.event = Event.ADMIN_PASSWORD_VERIFY
        else:
            _remember_address(administrator.username)
    return administrator


def complete(administrator: Administrator, *, code: str) -> None:
    """Take the second step of signing in.

    Raises:
        second_step.WrongCode: it is wrong, or was used before, or too many were.

    """
    facts = {"username": administrator.username}
    with tenancy.using(tenancy.DEFAULT), log.attempt(Event.ADMIN_SIGN_IN, **facts) as entry:
        entry.facts["second_step"] = second_step.prove(administrator, code)
        _remember_address(administrator.username)


def prove_again(administrator: Administrator, *, password: str, code: str | None = None) -> None:
    """Ask somebody who is signed in for the password once more, and for a code where one is given.

    Raises:
        WrongCredentials: the password is wrong.
        Locked: too many were, from this address.
        second_step.WrongCode: the code is.
        passwords.Busy: too many sign-ins at this moment.

    """
    facts = {"username": administrator.username}
    with tenancy.using(tenancy.DEFAULT), log.attempt(Event.ADMIN_PASSWORD_VERIFY, **facts):
        _proven(administrator.username, password)
        if code is not None:
            second_step.prove(administrator, code)


def signed_out(administrator: Administrator) -> None:
    """Write down that somebody left the operators' site."""
    with tenancy.using(tenancy.DEFAULT):
        log.record(Event.ADMIN_SIGN_OUT, username=administrator.username)


def _proven(username: str, password: str) -> Administrator:
    """Return the administrator whom username and password prove. Takes the same time for nobody."""
    with _guarded(username):
        administrator = find(username)
        right, renewed = passwords.verify(password, administrator.password if administrator else None)
        if administrator is None:
            raise WrongCredentials
        if not right:
            raise WrongPassword
        if renewed is not None:
            # Unless it was changed meanwhile: the new one stays.
            Administrator.objects.filter(pk=administrator.pk, password=administrator.password).update(
                password=renewed
            )
            administrator.password = renewed
        if administrator.username_key is None:
            _give_key(administrator)
    return administrator


def _give_key(administrator: Administrator) -> None:
    """Give somebody whom an older release made the key of the username, if nobody else has it."""
    keyless = Administrator.objects.filter(pk=administrator.pk, username_key=None)
    with suppress(IntegrityError), transaction.atomic():
        keyless.update(username_key=identifiers.fold(administrator.username))


def find(username: str) -> Administrator | None:
    """Return the administrator of a username, however it is spelled. The very spelling comes first."""
    key = identifiers.fold(username)
    found = list(Administrator.objects.filter(Q(username_key=key) | Q(username=username))[:2])
    found.sort(key=lambda one: one.username != username)
    return found[0] if found else None


def _typed(username: str) -> Typed:
    """Return a username as the log keeps it. Administrators stand above tenants."""
    with tenancy.using(tenancy.DEFAULT):
        return typed.identifier(username)


@contextmanager
def _guarded(username: str) -> Iterator[None]:
    """Count the tries at an administrator, who stands above tenants, in one place.

    Who guesses from everywhere locks the username, but not at an address from which the administrator
    signed in lately: nobody can lock an administrator out from outside.
    """
    key = identifiers.fold(username)
    here = f"{key} {limits.client_network()}"
    with tenancy.using(tenancy.DEFAULT):
        locks = [(rules.ADMINISTRATOR, here)]
        if limits.test((rules.ADMINISTRATOR_ADDRESS, here)):
            locks.append((rules.ADMINISTRATOR_FROM_ANYWHERE, key))
        with limits.login_attempt(*locks, failure=WrongCredentials, locked=Locked, within=rules.SIGN_INS):
            yield


def _remember_address(username: str) -> None:
    with tenancy.using(tenancy.DEFAULT):
        limits.increment(
            rules.ADMINISTRATOR_ADDRESS, f"{identifiers.fold(username)} {limits.client_network()}"
        )
