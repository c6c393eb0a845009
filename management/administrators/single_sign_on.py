"""Sign-in of administrators through the OpenID provider of the installation.

Issuer and subject identify the provider's account. An administrator links it while signed in. An email from
the provider never identifies an administrator.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.crypto import constant_time_compare
from django.utils.module_loading import import_string
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from audit import log
from audit.events import Event
from database.clock import DatabaseNow
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from management.administrators import languages, mail
from management.administrators.models import Administrator, ProviderAccount

PENDING_SECONDS: Final = 600
_MAX_SUBJECT: Final = 255  # OpenID Connect Core, section 2
_MAX_CODE: Final = 4096
_SCOPE: Final = "openid"
_NOTICE: Final = _(
    """Hello,

An account at %(issuer)s was linked to %(name)s, an administrator of %(site)s. It can now be used to sign in.

If it was not you, tell another administrator at once.
"""
)


class NotPending(ServiceError):
    """This browser has no pending sign-in at the provider, or the response is for another sign-in."""

    reason = "not_pending"
    message = gettext_noop(
        "this sign-in was not started in this browser, or took longer than 10 minutes: start again"
    )


class ProviderRefused(ServiceError):
    """The provider responded with an error, usually because the person cancelled."""

    reason = "provider_refused"
    message = gettext_noop("the provider did not sign you in: try again, or use your password")


class NotLinked(ServiceError):
    """No administrator has linked the account of the provider."""

    status = 403
    reason = "not_linked"
    message = gettext_noop(
        "no administrator has linked this account: sign in with your password, and link it"
    )


class AlreadyLinked(ServiceError):
    """Another administrator has linked the account of the provider."""

    status = 409
    reason = "already_linked"
    message = gettext_noop("this account is linked to another administrator")


@dataclass(frozen=True, slots=True)
class SignIn:
    """A linked account that signed in, and whether Gatehouse's second step has to follow."""

    account: ProviderAccount
    has_two_factors: bool
    needs_second_step: bool


@dataclass(frozen=True, slots=True)
class Person:
    """Who signed in at the provider, and whether the provider asked for two factors."""

    issuer: str
    subject: str
    has_two_factors: bool


def is_configured() -> bool:
    """Return whether the installation has a provider."""
    return bool(settings.ADMIN_OIDC.issuer)


def get_redirect_uri() -> str:
    """Return the redirect URI to register with the provider."""
    return f"{settings.BASE_URL}/admin/login/provider/callback/"


def begin() -> tuple[str, dict[str, Any]]:
    """Return the URL of the provider, and what the browser's session keeps until the provider responds.

    Raises:
        ServiceError: the provider does not respond.
        limits.TooMany: too many sign-ins from this network.

    """
    with tenancy.using(tenancy.DEFAULT):
        limits.hit_by_network(rules.SIGN_INS)
    values = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "verifier")}
    build_url = import_string(f"{settings.ADMIN_OIDC_CLIENT}.build_url")
    url = build_url(_get_config(), values, redirect_uri=get_redirect_uri())
    return url, {"secrets": values, "at": int(time.time()), "issuer": settings.ADMIN_OIDC.issuer}


def finish(pending: Mapping[str, Any] | None, query: Mapping[str, str]) -> Person:
    """Return who signed in, from the response to the request of ``begin``.

    Raises:
        NotPending: the response does not belong to a pending request of this browser.
        ProviderRefused: the provider responded with an error.
        ServiceError: the response is not valid.

    """
    if pending is None or time.time() - pending["at"] > PENDING_SECONDS:
        raise NotPending
    is_same = constant_time_compare(query.get("state", ""), pending["secrets"]["state"])
    if not is_same or pending["issuer"] != settings.ADMIN_OIDC.issuer:
        raise NotPending
    code = query.get("code", "")
    if not code or len(code) > _MAX_CODE:
        raise ProviderRefused
    redeem = import_string(f"{settings.ADMIN_OIDC_CLIENT}.redeem")
    claims = redeem(
        _get_config(),
        pending["secrets"],
        redirect_uri=get_redirect_uri(),
        code=code,
        iss=query.get("iss", ""),
    )
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT or "\0" in subject:
        raise ProviderRefused
    return Person(settings.ADMIN_OIDC.issuer, subject, _has_two_factors(claims))


def authenticate(pending: Mapping[str, Any] | None, query: Mapping[str, str]) -> SignIn:
    """Return the linked account of the person who signed in at the provider, with its administrator.

    Raises:
        NotPending, ProviderRefused: as ``finish``.
        NotLinked: no administrator has linked the account.
        ServiceError: the response is not valid.

    """
    with tenancy.using(tenancy.DEFAULT), log.attempt(Event.ADMIN_SIGN_IN, by="provider") as audited:
        person = finish(pending, query)
        audited.facts["subject"] = person.subject
        accounts = ProviderAccount.objects.select_related("administrator")
        account = accounts.filter(issuer=person.issuer, subject=person.subject).first()
        if account is None:
            raise NotLinked
        audited.facts["username"] = account.administrator.username
        needs_second_step = bool(account.administrator.second_step_since) and not person.has_two_factors
        if needs_second_step:
            audited.event = Event.ADMIN_PROVIDER_VERIFY  # the sign-in has an entry of its own
        ProviderAccount.objects.filter(pk=account.pk).update(last_used_at=DatabaseNow())
    return SignIn(account, person.has_two_factors, needs_second_step)


def link(administrator: Administrator, person: Person) -> None:
    """Link the account of a person to an administrator, replace an earlier account, and send a notice.

    ``administrator`` must have been read when the request began. If a change has ended the session since, the
    account is not linked.

    Raises:
        AlreadyLinked: another administrator has linked the account.
        NotPending: the administrator's credentials or rights have changed since.

    """
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        current = Administrator.objects.select_for_update().filter(pk=administrator.pk).first()
        known = administrator.get_session_auth_hash()
        if current is None or not constant_time_compare(current.get_session_auth_hash(), known):
            raise NotPending
        ProviderAccount.objects.filter(administrator=administrator).delete()
        try:
            with transaction.atomic():
                account = ProviderAccount(
                    administrator=administrator, issuer=person.issuer, subject=person.subject
                )
                account.save(force_insert=True)
        except IntegrityError:
            raise AlreadyLinked from None
        log.record(
            Event.PROVIDER_ACCOUNT_CREATE,
            id=account.pk,
            username=administrator.username,
            issuer=person.issuer,
            subject=person.subject,
        )
    if current.has_proven_email:
        with languages.using(current):
            site = mail.get_site_name()
            subject = gettext("An account was linked to yours at %(site)s") % {"site": site}
            body = _NOTICE % {"issuer": person.issuer, "name": current.username, "site": site}
        mail.send_later(current.email, subject, body)


def unlink(administrator: Administrator) -> None:
    """Remove the link of an administrator. Sessions that were started with it end."""
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        accounts = ProviderAccount.objects.filter(administrator=administrator)
        for account in accounts.select_for_update():
            facts = {"username": administrator.username, "issuer": account.issuer, "subject": account.subject}
            log.record(Event.PROVIDER_ACCOUNT_DELETE, id=account.pk, **facts)
        accounts.delete()


def is_linked(pk: str, administrator: Administrator) -> bool:
    """Return whether a session that was started with a linked account may continue."""
    accounts = ProviderAccount.objects.filter(pk=pk, administrator=administrator)
    return accounts.filter(issuer=settings.ADMIN_OIDC.issuer).exists()


def _has_two_factors(claims: Mapping[str, Any]) -> bool:
    """Return whether the sign-in replaces the second step here, by its ``acr`` or ``amr`` (RFC 8176)."""
    provider = settings.ADMIN_OIDC
    if provider.two_step != "provider":
        return False
    methods = claims.get("amr")
    is_named = isinstance(methods, list) and "mfa" in methods
    return is_named or claims.get("acr") in provider.acr_values


def _get_config() -> dict[str, str]:
    provider = settings.ADMIN_OIDC
    return {
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "client_secret": provider.client_secret,
        "scope": _SCOPE,
    }
