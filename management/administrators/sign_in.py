"""Sign-in of administrators: a password, and a second step if they have set one up."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from audit.typed_identifiers import TypedIdentifier
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.users import identifiers, passwords, typed_identifiers
from management.administrators import second_step
from management.administrators.models import Administrator


class WrongCredentials(ServiceError):
    """No administrator has this username and password."""

    status = 401
    reason = "invalid_credentials"
    message = gettext_noop("the username or the password is wrong")


class WrongPassword(WrongCredentials):
    """The username exists. The message is the same as for an unknown one; the log keeps the username."""

    identifies_user = True


class Locked(WrongCredentials):
    """Too many attempts failed. The message is the same as for a wrong password."""

    reason = "locked"

    def __init__(self, seconds: int) -> None:
        self.audit_facts = limits.get_lock_facts(seconds)
        super().__init__(headers={"Retry-After": str(seconds)})


def authenticate(*, username: str, password: str, code: str = "") -> Administrator:
    """Verify username, password and, if set up, the second step, and return the administrator.

    Raises:
        WrongCredentials: the username or the password is wrong; the message does not say which.
        Locked: too many attempts failed with this username, from this network or from all networks.
        limits.TooMany: too many sign-ins from this network.
        second_step.CodeNeeded: the password is right, and a code is needed.
        second_step.WrongCode: the password is right, and the code is wrong.
        second_step.SetUpNeeded: the password is right, and a second step has to be set up first.
        passwords.Busy: too many sign-ins at once.

    """
    passwords.check_capacity()  # first, so a flood costs no statement and no log entry
    with log.attempt(Event.ADMIN_SIGN_IN, typed_name(username)) as audited:
        administrator = _verify_password(username, password)
        audited.set_identifier_known(is_known=True)
        if second_step.is_missing(administrator):
            raise second_step.SetUpNeeded
        if administrator.second_step_since:
            if not code:
                raise second_step.CodeNeeded
            audited.facts["second_step"] = second_step.verify(administrator, code)
        remember_network(administrator.username)
    return administrator


def begin(*, username: str, password: str) -> Administrator:
    """Verify username and password, and return the administrator. A second step may have to follow.

    Raises:
        WrongCredentials: the username or the password is wrong; the message does not say which.
        Locked: too many attempts failed with this username, from this network or from all networks.
        limits.TooMany: too many sign-ins from this network.
        passwords.Busy: too many sign-ins at once.

    """
    passwords.check_capacity()  # first: see ``authenticate``
    with log.attempt(Event.ADMIN_SIGN_IN, typed_name(username)) as audited:
        administrator = _verify_password(username, password)
        audited.set_identifier_known(is_known=True)
        if administrator.second_step_since:
            audited.event = Event.ADMIN_PASSWORD_VERIFY
        else:
            remember_network(administrator.username)
    return administrator


def complete(administrator: Administrator, *, code: str) -> None:
    """Verify the second step, and record the sign-in.

    Raises:
        second_step.WrongCode: the code is wrong or was used before, or there were too many wrong codes.

    """
    facts = {"username": administrator.username}
    with tenancy.using(tenancy.DEFAULT), log.attempt(Event.ADMIN_SIGN_IN, **facts) as audited:
        audited.facts["second_step"] = second_step.verify(administrator, code)
        remember_network(administrator.username)


def reauthenticate(administrator: Administrator, *, password: str, code: str | None = None) -> None:
    """Verify the password of an administrator who is signed in, and the code if one is given.

    If the hash of the password is renewed, ``administrator`` gets the new one.

    Raises:
        WrongCredentials: the password is wrong.
        Locked: there were too many wrong passwords from this network.
        second_step.WrongCode: the code is wrong.
        passwords.Busy: too many sign-ins at once.

    """
    facts = {"username": administrator.username}
    with tenancy.using(tenancy.DEFAULT), log.attempt(Event.ADMIN_PASSWORD_VERIFY, **facts):
        administrator.password = _verify_password(administrator.username, password).password
        if code is not None:
            second_step.verify(administrator, code)


def confirm(administrator: Administrator, *, password: str = "", code: str = "") -> None:
    """Verify the code of an administrator who is signed in or, without a second step, the password.

    Raises:
        WrongCredentials: the password is wrong.
        Locked: there were too many wrong passwords from this network.
        second_step.WrongCode: the code is wrong, was used before, or there were too many wrong ones.
        passwords.Busy: too many sign-ins at once.

    """
    if not administrator.second_step_since:
        reauthenticate(administrator, password=password)
        return
    facts = {"username": administrator.username, "by": "second_step"}
    with tenancy.using(tenancy.DEFAULT), log.attempt(Event.ADMIN_PASSWORD_VERIFY, **facts):
        second_step.verify(administrator, code)


def record(administrator: Administrator, *, by: str) -> None:
    """Record a sign-in that needed no password. ``by`` is what replaced the password."""
    with (
        tenancy.using(tenancy.DEFAULT),
        log.attempt(Event.ADMIN_SIGN_IN, username=administrator.username, by=by),
    ):
        remember_network(administrator.username)


def record_sign_out(administrator: Administrator) -> None:
    """Record in the audit log that an administrator signed out of the operators' site."""
    with tenancy.using(tenancy.DEFAULT):
        log.record(Event.ADMIN_SIGN_OUT, username=administrator.username)


def _verify_password(username: str, password: str) -> Administrator:
    """Verify username and password. An unknown username takes the same time.

    Raises:
        WrongCredentials: the username or the password is wrong.

    """
    with _login_attempt(username):
        administrator = find(username)
        is_right, renewed = passwords.verify(password, administrator.password if administrator else None)
        if administrator is None:
            raise WrongCredentials
        if not is_right:
            raise WrongPassword
        if renewed is not None:
            # The filter keeps a password that was changed meanwhile.
            Administrator.objects.filter(pk=administrator.pk, password=administrator.password).update(
                password=renewed
            )
            administrator.password = renewed
        if administrator.username_key is None:
            _store_key(administrator)
    return administrator


def _store_key(administrator: Administrator) -> None:
    """Store the username's key for an administrator of an older release, unless another has this key."""
    keyless = Administrator.objects.filter(pk=administrator.pk, username_key=None)
    with suppress(IntegrityError), transaction.atomic():
        keyless.update(username_key=identifiers.fold(administrator.username))


def find(username: str) -> Administrator | None:
    """Return the administrator with a username, which may differ in spelling. An exact match comes first."""
    key = identifiers.fold(username)
    found = list(Administrator.objects.filter(Q(username_key=key) | Q(username=username))[:2])
    found.sort(key=lambda administrator: administrator.username != username)
    return found[0] if found else None


def typed_name(name: str) -> TypedIdentifier:
    """Return a username or email as the audit log stores it."""
    with tenancy.using(tenancy.DEFAULT):
        return typed_identifiers.build(name)


@contextmanager
def _login_attempt(username: str) -> Iterator[None]:
    """Count a login attempt of an administrator, in the default tenant.

    Attempts from many networks lock the username, except in networks from which the administrator signed in
    recently. So an attacker cannot lock an administrator out.
    """
    key = identifiers.fold(username)
    here = f"{key} {limits.client_network()}"
    with tenancy.using(tenancy.DEFAULT):
        locks = [(rules.ADMINISTRATOR, here)]
        if limits.test((rules.ADMINISTRATOR_NETWORK, here)):
            locks.append((rules.ADMINISTRATOR_FROM_ANYWHERE, key))
        with limits.login_attempt(*locks, failure=WrongCredentials, locked=Locked, within=rules.SIGN_INS):
            yield


def remember_network(username: str) -> None:
    """Store that an administrator signed in from the client's network: see ``_login_attempt``."""
    with tenancy.using(tenancy.DEFAULT):
        limits.increment(
            rules.ADMINISTRATOR_NETWORK, f"{identifiers.fold(username)} {limits.client_network()}"
        )
