"""Passkeys of administrators: they sign in to the operators' site without a password and a code.

The checks are those of users' passkeys. The table, the user handles and the challenges are not: a passkey of
a user is unknown here, and one of an administrator is unknown to every tenant.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from audit import log
from audit.events import Event
from identity.core import tenancy
from identity.factors import ceremonies, ceremony_options, credential_json, passkeys
from identity.factors.ceremony_options import Account
from identity.factors.challenges import Binding, Ceremony
from identity.factors.errors import AlreadyEnrolled, FactorError, TooManyFactors
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from identity.limits import rules
from identity.limits import services as limits
from management.administrators import passkey_notices, rights, session_check, sign_in
from management.administrators.models import Administrator, AdministratorPasskey

_HANDLE_BYTES: Final = 32


class NoSuchPasskey(FactorError):
    """The administrator has no passkey with this id."""

    status = 404
    reason = "factor_not_found"
    message = "passkey not found"


def get_sign_in_options(browser: str) -> dict[str, Any]:
    """Return the options to sign in with a passkey. No row of an administrator is read or written."""
    with tenancy.using(tenancy.DEFAULT):
        return ceremony_options.request_options(_bind(Ceremony.SIGN_IN, browser), ())


def authenticate(*, browser: str, credential: object) -> AdministratorPasskey:
    """Verify the answer of a passkey, which must have verified its user, and return the passkey.

    Raises:
        PasskeyRefused: a check failed, or no administrator has this passkey.
        limits.TooMany: too many sign-ins from this network.

    """
    with tenancy.using(tenancy.DEFAULT):
        limits.hit_by_network(rules.SIGN_INS)
        with log.attempt(Event.ADMIN_SIGN_IN, by="passkey") as audited:
            answer = credential_json.read_assertion(credential)
            rows = AdministratorPasskey.objects.select_related("administrator")
            passkey = rows.filter(credential_hash=passkeys.hash_id(answer.id)).first()
            if passkey is None:
                raise PasskeyRefused(Reason.UNKNOWN_CREDENTIAL)
            audited.facts |= {"username": passkey.administrator.username, "passkey": str(passkey.pk)}
            known = passkeys.read_with_handle(passkey, credential_json.decode(passkey.user_handle))
            with _reporting_anomalies(passkey):
                proven = ceremonies.verify_assertion(answer, known, [_bind(Ceremony.SIGN_IN, browser)])
                passkeys.record_use(passkey, proven)
            sign_in.remember_network(passkey.administrator.username)
    return passkey


def new_handle(administrator: Administrator) -> str:
    """Return the user handle of an administrator's passkeys: that of an earlier one, or a random one."""
    earlier = AdministratorPasskey.objects.filter(administrator=administrator).first()
    return earlier.user_handle if earlier else credential_json.encode(secrets.token_bytes(_HANDLE_BYTES))


def get_creation_options(administrator: Administrator, *, browser: str, handle: str) -> dict[str, Any]:
    """Return the options to create a passkey. The caller has re-authenticated the administrator."""
    own = AdministratorPasskey.objects.filter(administrator=administrator)
    site = f"Gatehouse {urlsplit(settings.BASE_URL).hostname}"
    account = Account(credential_json.decode(handle), administrator.username, administrator.username)
    with tenancy.using(tenancy.DEFAULT):
        binding = _bind(Ceremony.SET_UP, browser, administrator, handle)
        return ceremony_options.creation_options(binding, account, site, passkeys.describe(own))


def add(
    administrator: Administrator, *, browser: str, handle: str, credential: object, name: str = ""
) -> AdministratorPasskey:
    """Store a new passkey and send a notice.

    ``administrator`` must have been read when the request began. The passkey is not stored if the session has
    ended since.

    Raises:
        PasskeyRefused: a check failed.
        AlreadyEnrolled: an administrator has this passkey.
        TooManyFactors: the administrator has 20.
        session_check.SessionEnded: the administrator's credentials or rights have changed since.
        Invalid: the name is too long, or contains a NUL character.

    """
    passkeys.check_name(name)
    with tenancy.using(tenancy.DEFAULT):
        binding = _bind(Ceremony.SET_UP, browser, administrator, handle)
        new = ceremonies.verify_registration(credential_json.read_registration(credential), binding)
        with transaction.atomic():
            passkeys.spend(new.challenge)
            session_check.lock(administrator)
            own = AdministratorPasskey.objects.filter(administrator=administrator)
            if own.count() >= passkeys.MOST:
                raise TooManyFactors(passkeys.MOST)
            passkey = AdministratorPasskey(
                administrator=administrator, user_handle=handle, name=name, **passkeys.get_columns(new)
            )
            try:
                with transaction.atomic():
                    passkey.save(force_insert=True)
            except IntegrityError:
                raise AlreadyEnrolled from None
            _record(Event.ADMINISTRATOR_PASSKEY_CREATE, passkey, name=name)
    passkey_notices.send_added(administrator)
    return passkey


def rename(administrator: Administrator, passkey_id: UUID, name: str) -> None:
    """Rename a passkey.

    Raises:
        NoSuchPasskey: the administrator has no such passkey.
        Invalid: the name is too long, or contains a NUL character.

    """
    passkeys.check_name(name)
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        passkey = find(administrator, passkey_id)
        AdministratorPasskey.objects.filter(pk=passkey.pk).update(name=name)
        _record(Event.ADMINISTRATOR_PASSKEY_RENAME, passkey, name=name)


def remove(administrator: Administrator, passkey_id: UUID) -> None:
    """Remove a passkey and send a notice. Sessions that it started end.

    Raises:
        NoSuchPasskey: the administrator has no such passkey.

    """
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        _delete(find(administrator, passkey_id))
    passkey_notices.send_removed(administrator)


def remove_all(administrator: Administrator, *, by: Administrator) -> None:
    """Remove all passkeys of another administrator and send a notice. Sessions that they started end.

    Raises:
        records.Gone: the administrator was deleted.
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.

    """
    with transaction.atomic():
        rights.lock(administrator, by=by)
        remove_without_notice(administrator)
    passkey_notices.send_removed(administrator)


def remove_without_notice(administrator: Administrator) -> None:
    """Remove all passkeys of an administrator. Sessions that they started end.

    Call it when the password is replaced: a person who knew the old one could have added a passkey.
    """
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        rows = AdministratorPasskey.objects.select_for_update().filter(administrator=administrator)
        for passkey in list(rows):
            _delete(passkey)


def find(administrator: Administrator, passkey_id: UUID) -> AdministratorPasskey:
    """Return a passkey of an administrator.

    Raises:
        NoSuchPasskey: the administrator has no such passkey.

    """
    row = AdministratorPasskey.objects.filter(administrator=administrator, pk=passkey_id).first()
    if row is None:
        raise NoSuchPasskey
    return row


def _delete(passkey: AdministratorPasskey) -> None:
    deleted, _ = AdministratorPasskey.objects.filter(pk=passkey.pk).delete()
    if deleted:
        _record(Event.ADMINISTRATOR_PASSKEY_DELETE, passkey, name=passkey.name)


@contextmanager
def _reporting_anomalies(passkey: AdministratorPasskey) -> Iterator[None]:
    """Record an anomaly of the counter that the block finds, and send a notice. The passkey stays."""
    try:
        yield
    except PasskeyRefused as refused:
        if refused.check is Reason.COUNTER:
            _record(Event.ADMINISTRATOR_PASSKEY_ANOMALY, passkey)
            passkey_notices.send_anomaly(passkey.administrator)
        raise


def _record(event: Event, passkey: AdministratorPasskey, **facts: str) -> None:
    log.record(event, id=passkey.pk, username=passkey.administrator.username, **facts)


def _bind(
    ceremony: Ceremony, browser: str, administrator: Administrator | None = None, handle: str = ""
) -> Binding:
    """Return what a challenge is bound to. No browser of a user has this name, so users' challenges fail."""
    owner = str(administrator.pk) if administrator else ""
    return Binding(ceremony, f"operators' site {browser}", owner, handle)
