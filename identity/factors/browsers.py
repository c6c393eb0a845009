"""Browsers in which a user has signed in, and those in which no second factor is asked for a while.

A browser has a secret for each user, in its cookie ``gatehouse-known``. Only a hash of the secret is stored.
``forgetting`` removes browsers. A sign-in and the removal of a browser lock the user's row first, so that
each sees what the other has done.
"""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from uuid import UUID

from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Coalesce

from audit import context, log
from audit.events import Event
from database import chains
from database.chains import Chain
from database.clock import DatabaseNow, seconds_ahead
from database.statements import Insert
from identity.core.tenant_statements import Delete, Select, Update, duration, moment, number, text, uuid
from identity.factors.levels import Level
from identity.factors.models import KnownBrowser
from identity.http import browser_names
from identity.users import credentials
from identity.users.models import User

MOST: Final = 50
_DAY: Final = 24 * 3600

_insert: Final = Insert(KnownBrowser, first_seen_at=DatabaseNow(), last_seen_at=DatabaseNow())
_insert_remembered: Final = Insert(
    KnownBrowser,
    first_seen_at=DatabaseNow(),
    last_seen_at=DatabaseNow(),
    remembered_at=DatabaseNow(),
    remembered_until=DatabaseNow() + duration("remembered_for"),
    remembered_since=DatabaseNow(),
)
_SEEN: Final = {"label": text("label"), "ip": text("ip"), "last_seen_at": DatabaseNow()}
_see_again: Final = Update(lambda: KnownBrowser.objects.filter(pk=uuid("pk")), **_SEEN)
_see_remembered: Final = Update(
    lambda: KnownBrowser.objects.filter(pk=uuid("pk"), remembered_at=moment("remembered_at")), **_SEEN
)
_since: Final = Coalesce("remembered_since", "remembered_at")


def _still_counts(since: object, earliest: object) -> Q:
    """The condition that a row's browser is still remembered, except that of the user's epoch."""
    return Q(
        remembered_until__gt=DatabaseNow(),
        # A sign-in with one factor never lets a browser skip the second, even if a row says so.
        remembered_level__gte=Level.TWO,
        # The policy may have been switched off since, or its number of days reduced.
        remembered_at__gte=since,
        remembered_at__gt=earliest,
    )


_renew: Final = Update(
    lambda: KnownBrowser.objects.filter(pk=uuid("pk")),
    token_hash=text("token_hash"),
    remembered_at=DatabaseNow(),
    remembered_until=DatabaseNow() + duration("remembered_for"),
    remembered_since=Case(
        When(
            _still_counts(moment("rule_since"), DatabaseNow() - duration("remembered_for")),
            remembered_epoch=number("remembered_epoch"),
            then=_since,
        ),
        default=DatabaseNow(),
    ),
    remembered_epoch=number("remembered_epoch"),
    remembered_level=number("remembered_level"),
    **_SEEN,
)
# All but the last ``MOST - 1``: a new browser is stored in the same chain.
_delete_oldest: Final = Delete(
    lambda: KnownBrowser.objects.filter(
        pk__in=KnownBrowser.objects.filter(user_id=uuid("user_id"))
        .order_by("-last_seen_at", "-pk")
        .values("pk")[MOST - 1 :]
    )
)


@dataclass(frozen=True, slots=True)
class TrustedDevices:
    """For how many days a tenant lets users skip the second factor in a browser, and since when it does."""

    days: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Seen:
    """A browser after a sign-in: its secret, the secret that this one replaces, and whether it is new."""

    secret: str
    replaced: str
    is_new: bool


def find(user: User, browser_secrets: Iterable[str]) -> KnownBrowser | None:
    """Return the browser of a user with one of these secrets."""
    hashes = {f"hash{number}": _hash(secret) for number, secret in enumerate(browser_secrets)}
    return _by_hashes(len(hashes)).first(user_id=user.pk, **hashes) if hashes else None


@lru_cache(maxsize=16)
def _by_hashes(count: int) -> Select[KnownBrowser]:
    hashes = [text(f"hash{number}") for number in range(count)]
    return Select(
        lambda: KnownBrowser.objects.filter(user_id=uuid("user_id"), token_hash__in=hashes).order_by(
            "-last_seen_at"
        )[:1]
    )


def get_remembered(user: User, rule: TrustedDevices | None) -> QuerySet[KnownBrowser]:
    """Return the browsers in which a user is not asked for a second factor, the last used first."""
    return _get_remembered(user.pk, rule).order_by("-last_seen_at", "-pk")


def was_remembered(user_id: UUID, rule: TrustedDevices | None, *, at: datetime) -> bool:
    """Return whether one of a user's browsers was remembered at a time, and still is by this rule."""
    # A node of 0.5.0 that renews a browser after a gap leaves ``remembered_since`` as it was before the gap.
    if rule is None or at < rule.since:
        return False
    return _get_remembered(user_id, rule).alias(since=_since).filter(since__lte=at).exists()


def _get_remembered(user_id: UUID, rule: TrustedDevices | None) -> QuerySet[KnownBrowser]:
    if rule is None:
        return KnownBrowser.objects.none()
    return KnownBrowser.objects.filter(
        _still_counts(rule.since, seconds_ahead(-rule.days * _DAY)),
        user=user_id,
        user__epoch=F("remembered_epoch"),
    )


def is_remembered(user: User, browser_secrets: Sequence[str], rule: TrustedDevices | None) -> bool:
    """Return whether a user has chosen to skip the second factor in the browser with these secrets."""
    if rule is None or not browser_secrets:
        return False
    return _find_remembered(user, browser_secrets, rule) is not None


def record(  # noqa: PLR0913 - what a sign-in tells about its browser
    user: User,
    browser_secrets: Sequence[str],
    *,
    remember: TrustedDevices | None = None,
    skipping: TrustedDevices | None = None,
    level: int = 0,
    chain: Chain | None = None,
) -> Seen:
    """Record that a user signs in with the browser that has these secrets. The user's row is locked.

    With ``remember``, no second factor is asked for in this browser from now on. The browser then gets a new
    secret, which makes earlier copies of its cookie useless. ``level`` is the level of the sign-in.
    ``skipping`` is the rule by which no second factor was asked for, if the browser is remembered.

    Raises:
        credentials.FactorsChanged: the browser was forgotten meanwhile.

    """
    found = _find_remembered(user, browser_secrets, skipping) if skipping else find(user, browser_secrets)
    if skipping and found is None:
        raise credentials.FactorsChanged
    with chains.joined(chain) as writes:
        if found is not None and remember is None:
            seen = {"pk": found.pk, "remembered_at": found.remembered_at, **_describe()}
            writes.add(_see_remembered if skipping else _see_again, seen, refusal=credentials.FactorsChanged)
            return Seen(_get_secret(browser_secrets, found), "", is_new=False)
        secret = secrets.token_urlsafe(32)
        if found is not None and remember is not None:
            _renew_secret(user, found, secret, remember, level, writes)
        pk = found.pk if found else _store(user, secret, remember, level, writes)
        if remember is not None:
            event, days = Event.TRUSTED_DEVICE_CREATE, remember.days
            log.record(event, writes, user_id=user.pk, id=user.pk, device_id=pk, days=days)
    return Seen(secret, _get_secret(browser_secrets, found) if found else "", is_new=found is None)


def _find_remembered(user: User, browser_secrets: Sequence[str], rule: TrustedDevices) -> KnownBrowser | None:
    hashes = [_hash(secret) for secret in browser_secrets]
    return get_remembered(user, rule).filter(token_hash__in=hashes).first()


def _store(user: User, secret: str, remember: TrustedDevices | None, level: int, chain: Chain) -> UUID:
    """Store a new browser, and delete the oldest ones of the user beyond the limit."""
    browser = KnownBrowser(user=user, token_hash=_hash(secret), **_describe())
    chain.add(_delete_oldest, {"user_id": user.pk})
    if remember is None:
        chain.insert(_insert, browser)
    else:
        browser.remembered_epoch, browser.remembered_level = user.epoch, level
        chain.insert(_insert_remembered, browser, {"remembered_for": timedelta(days=remember.days)})
    return browser.pk


def _renew_secret(  # noqa: PLR0913, PLR0917 - what a browser has
    user: User, browser: KnownBrowser, secret: str, rule: TrustedDevices, level: int, chain: Chain
) -> None:
    """Remember a known browser, with a new secret."""
    values = {
        "pk": browser.pk,
        "token_hash": _hash(secret),
        "remembered_for": timedelta(days=rule.days),
        "rule_since": rule.since,
        "remembered_epoch": user.epoch,
        "remembered_level": level,
        **_describe(),
    }
    chain.add(_renew, values, refusal=credentials.FactorsChanged)


def _describe() -> dict[str, str]:
    origin = context.current()
    return {"label": browser_names.get_name(origin.user_agent), "ip": origin.ip}


def _get_secret(browser_secrets: Iterable[str], browser: KnownBrowser) -> str:
    return next(secret for secret in browser_secrets if _hash(secret) == browser.token_hash)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
