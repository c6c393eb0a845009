"""The circumstances of a sign-in: whether its browser is remembered, and what is unusual."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from django.utils import timezone

from audit import context
from audit.events import Event
from audit.models import Entry
from database.chains import Chain
from database.clock import seconds_ahead
from identity.core import tenancy
from identity.factors import browsers, countries
from identity.factors.browsers import Seen
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.needed import POLICIES, AvailableFactors, FirstFactor, Need
from identity.sessions.known_users import KnownUsers
from identity.users import typed_identifiers
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.experience import factor_settings
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor.sign_ins import SignIn, Visit

_DAY: Final = 24 * 3600
_FAILURES: Final = (Event.SIGN_IN_PASSWORD.value, Event.SIGN_IN_CODE.value)


def judge(
    user: User, available: AvailableFactors, sign_in: SignIn, experience: SignInExperience, visit: Visit
) -> SignIn:
    """Return a sign-in with its circumstances. The risks of a pending sign-in were found when it was stored.

    Nothing is read if the tenant has neither trusted devices nor adaptive factors.
    """
    if not _can_be_asked(available, sign_in, experience):
        return replace(sign_in, is_remembered=False, risks=sign_in.risks or ())
    risks = sign_in.risks
    if risks is None:
        risks = _find_risks(user, experience, visit) if experience.has_adaptive_factors else ()
    asked = set(sign_in.finishing.reasons) if sign_in.finishing else set()
    # A policy that has asked in this sign-in still asks if another tab has the browser remembered meanwhile.
    is_remembered = not asked & POLICIES and _is_remembered(user, experience, visit)
    return replace(sign_in, is_remembered=is_remembered, risks=risks)


def record(
    user: User, sign_in: SignIn, experience: SignInExperience, visit: Visit, chain: Chain
) -> KnownUsers | None:
    """Record the browser and the country of a sign-in, and mail the user about a new browser.

    Return what the browser's cookie holds from now on, or None if the tenant records no browsers.

    Raises (when the chain runs):
        credentials.FactorsChanged: the browser was forgotten meanwhile.

    """
    if not experience.records_browsers:
        return None
    country = context.current().country
    if experience.has_adaptive_factors and country:
        chain.call(partial(countries.record, user, country))
    remember = experience.trusted_devices if _may_remember(sign_in) else None
    skipping = experience.trusted_devices if sign_in.is_remembered else None
    seen = browsers.record(
        user,
        visit.known.browser_secrets,
        remember=remember,
        skipping=skipping,
        level=sign_in.level,
        chain=chain,
    )
    if seen.is_new and _is_mailed(user, sign_in, experience):
        chain.call(partial(notify, user, Notice.NEW_SIGN_IN))
    return _add(visit.known, seen)


def may_remember(experience: SignInExperience, need: Need) -> bool:
    """Return whether the user may have this browser remembered after proving one of the needed factors."""
    return experience.trusted_devices is not None and bool({*need.methods} - {FactorType.BACKUP_CODE})


def _add(known: KnownUsers, seen: Seen) -> KnownUsers:
    return known.with_secret(seen.secret, replaced=seen.replaced)


def _is_mailed(user: User, sign_in: SignIn, experience: SignInExperience) -> bool:
    """Return whether the user gets a mail about a sign-in in a new browser."""
    has_notice = experience.has_sign_in_notice and sign_in.way != FirstFactor.REGISTER
    return has_notice and Kind.EMAIL in user.get_proven_addresses()


def _may_remember(sign_in: SignIn) -> bool:
    """Return whether to remember the browser, as the user wishes. A backup code is for emergencies only."""
    return sign_in.remember and sign_in.second not in {None, FactorType.BACKUP_CODE}


def _can_be_asked(available: AvailableFactors, sign_in: SignIn, experience: SignInExperience) -> bool:
    """Return whether the circumstances may decide that the user is asked for a second factor."""
    if sign_in.level > Level.ONE or sign_in.way in {FirstFactor.REGISTER, FirstFactor.RECOVERY}:
        return False
    if experience.trusted_devices is None and not experience.has_adaptive_factors:
        return False
    return bool(available.get_usable(experience.factor_policy, sign_in.entered))


def _is_remembered(user: User, experience: SignInExperience, visit: Visit) -> bool:
    """Return whether the browser is remembered. A request for a whole new sign-in ignores that."""
    if visit.pending is not None and visit.pending.max_age == 0:
        return False
    return browsers.is_remembered(user, visit.known.browser_secrets, experience.trusted_devices)


def _find_risks(user: User, experience: SignInExperience, visit: Visit) -> tuple[str, ...]:
    settings = factor_settings.complete("adaptive_mfa", experience.adaptive_mfa)
    country = context.current().country
    found = {
        "new_browser": settings["new_browser"] and browsers.find(user, visit.known.browser_secrets) is None,
        "new_country": settings["new_country"] and bool(country) and countries.is_new(user, country),
        "inactive": _is_inactive(user, settings["inactive_days"]),
        "recent_failures": _has_failures(user, settings["recent_failures"]),
    }
    return tuple(risk for risk, is_found in found.items() if is_found)


def _is_inactive(user: User, days: int) -> bool:
    last = user.last_sign_in_at
    return last is not None and last < timezone.now() - timedelta(days=days)


def _has_failures(user: User, number: int) -> bool:
    """Return whether this number of sign-ins with the identifiers of a user failed within a day."""
    keys = typed_identifiers.get_subject([user]).identifier_keys
    failed = Entry.objects.filter(
        tenant_id=tenancy.active_id(),
        identifier_key__in=keys,
        key__in=_FAILURES,
        created_at__gt=seconds_ahead(-_DAY),
        payload__result="failed",
    )
    return len(failed.values_list("pk")[:number]) >= number
