"""The one place that starts a session, or stores a sign-in whose second factor is not proven yet."""

from dataclasses import replace
from typing import Final

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from audit.log import AuditedOperation
from database.chains import Chain
from identity.factors import metrics, needed
from identity.factors.levels import ACR, Level
from identity.factors.needed import NOTHING, AvailableFactors, FirstFactor, Need, Proven
from identity.sessions import lifetimes, proof_secrets
from identity.sessions import services as sessions
from identity.users import credentials
from identity.users.models import User
from interaction.experience.models import SignInExperience
from interaction.journeys.pending import Pending
from interaction.journeys.second_factor import available_factors, circumstances, demands, first_factor_proofs
from interaction.journeys.second_factor.sign_ins import (
    Outcome,
    SecondFactorNeeded,
    SignIn,
    SignInResult,
    SupportsSucceed,
    Visit,
    get_step_url,
)
from interaction.pending_sign_ins import services as pending_sign_ins
from oidc.grants import requests

_ATTEMPTS: Final = 3  # factors, browser or session may change while the sign-in is judged


def start_session_or_store(  # noqa: PLR0913 - what signing in touches
    user: User,
    sign_in: SignIn,
    *,
    experience: SignInExperience,
    visit: Visit,
    audited: AuditedOperation,
    to_succeed: SupportsSucceed | None = None,
) -> Outcome:
    """Start the session of a user, or store the sign-in until the second factor is proven.

    ``audited`` writes the audit entry. ``to_succeed`` is what succeeds with the sign-in, such as its code and
    the counted attempt. The entry, these successes and all changes of the sign-in are stored atomically.

    Raises:
        credentials.Suspended: the user is suspended, and every factor that is needed was right.
        credentials.InvalidCredentials: the password was changed meanwhile.
        ownership.NotTheOwner: the user no longer owns the proven identifier.
        credentials.FactorsChanged: the user's factors or the browser changed at every attempt.
        pending_sign_ins.NothingPending: another request has finished the sign-in, or what the first factor
            proved can no longer be stored.

    """
    for _ in range(_ATTEMPTS):
        sign_in, need = judge(user, sign_in, experience, visit)
        if user.is_suspended and not need.methods:
            raise credentials.Suspended
        audited.user_id = user.pk
        if not need.is_nothing:
            return _store_pending(user, sign_in, need, experience, visit, audited, to_succeed)
        try:
            with first_factor_proofs.claim(user, sign_in, visit) as (claimed, claimed_visit):
                return _start(user, claimed, experience, claimed_visit, audited, to_succeed)
        except credentials.FactorsChanged:
            user.refresh_from_db(fields=("factors", "two_step"))
        except sessions.Ended:
            visit = replace(visit, current=None)
    raise credentials.FactorsChanged


def judge(user: User, sign_in: SignIn, experience: SignInExperience, visit: Visit) -> tuple[SignIn, Need]:
    """Return a sign-in with its circumstances, and what it still needs."""
    available = available_factors.find(user, experience.factor_policy, sign_in.second)
    sign_in = circumstances.judge(user, available, sign_in, experience, visit)
    return sign_in, find_need(user, sign_in, experience, visit.pending, available)


def find_need(
    user: User,
    sign_in: SignIn,
    experience: SignInExperience,
    pending: Pending | None,
    available: AvailableFactors | None = None,
) -> Need:
    """Return what a sign-in still needs. ``pending`` is its authorization request.

    ``available`` is what the user can prove, if the caller knows it.
    """
    if not experience.has_factors:
        return NOTHING
    policy = experience.factor_policy
    available = available or available_factors.find(user, policy, sign_in.second)
    channels = available_factors.find_used_channels(user, available, policy, sign_in.entered)
    proven = Proven(sign_in.way, sign_in.level, channels, skips=sign_in.skips)
    demanded = replace(demands.find(user, policy, available, proven, pending), risks=sign_in.risks or ())
    return needed.find_need(policy, available, proven, demanded, is_remembered=sign_in.is_remembered)


def _start(  # noqa: PLR0913, PLR0917 - as start_session_or_store
    user: User,
    sign_in: SignIn,
    experience: SignInExperience,
    visit: Visit,
    audited: AuditedOperation,
    to_succeed: SupportsSucceed | None,
) -> SignInResult:
    tenant = experience.tenant
    choice = sign_in.keep_signed_in if tenant.keep_signed_in else None
    pending = visit.pending
    chain = Chain()
    credentials.record_sign_in(user, chain)  # lock order: the user's row first, which avoids deadlocks
    if sign_in.finishing:
        pending_sign_ins.finish(sign_in.finishing, chain)
    if to_succeed:
        to_succeed.succeed(chain)
    first_factor_proofs.record(user, sign_in, chain)
    session, token = sessions.start(
        user,
        amr=sign_in.amr,
        auth_time=sign_in.auth_time,
        replacing=visit.current,
        seconds=lifetimes.get_absolute_seconds(tenant),
        keep_signed_in=choice,
        level=sign_in.level,
        has_second_factor=sign_in.second is not None,
        is_remembered=sign_in.is_remembered,
        # A request with max_age asks for the whole sign-in, as prompt=login does.
        replaces_level=pending is not None and pending.max_age is not None,
        chain=chain,
    )
    if pending:
        requests.record_sign_in(pending.row, session, chain)
    known = circumstances.record(user, sign_in, experience, visit, chain)
    facts = _describe(sign_in) if experience.has_factors else {}
    audited.record_success(chain, session_id=str(session.pk), **facts)
    chain.run()
    metrics.count_sign_in(sign_in.level)
    return SignInResult(
        redirect_to=visit.next_url,
        session_token=token,
        user=user,
        cookie_seconds=lifetimes.get_cookie_seconds(tenant, keep_signed_in=choice),
        session=session,
        known=known,
    )


def _describe(sign_in: SignIn) -> dict[str, object]:
    """Return for the audit log what was proven."""
    factors = [sign_in.second.value] if sign_in.second else []
    return {"factors": factors, "acr": ACR[Level(sign_in.level)], "remembered": sign_in.is_remembered}


def _store_pending(  # noqa: PLR0913, PLR0917 - as start_session_or_store
    user: User,
    sign_in: SignIn,
    need: Need,
    experience: SignInExperience,
    visit: Visit,
    audited: AuditedOperation,
    to_succeed: SupportsSucceed | None,
) -> SecondFactorNeeded:
    """Store the sign-in until its second factor is proven. The browser's present session does not change."""
    secret, pending = proof_secrets.new(), visit.pending
    browser = visit.browser or secret.hash  # a new browser: see ``cookies.add_proof``
    with transaction.atomic():
        credentials.lock_for_sign_in(user)
        if to_succeed:
            to_succeed.succeed()
        first_factor_proofs.take_over(user, sign_in)
        stored = pending_sign_ins.store(
            user,
            browser=browser,
            secret_hash=secret.hash,
            proofs=visit.proofs,
            request_id=pending.row.pk if pending else None,
            way=sign_in.way,
            amr=sign_in.amr,
            level=sign_in.level,
            auth_time=sign_in.auth_time or timezone.now(),
            channels=sorted(sign_in.entered),
            reasons=list(need.reasons),
            must_enrol=not need.methods,
            keep_signed_in=sign_in.keep_signed_in,
            proven_key=sign_in.proven[1] if sign_in.proven else "",
            social_id=first_factor_proofs.keep_account(user, sign_in, browser),
        )
        if sign_in.risks and sign_in.finishing is None:
            log.record(Event.RISK_DETECTED, user_id=user.pk, id=user.pk, reasons=list(sign_in.risks))
        _record_first_factor(sign_in, need, audited)
    url = get_step_url(need, pending)
    may_remember = circumstances.may_remember(experience, need)
    return SecondFactorNeeded(url, secret, need, stored, may_remember=may_remember)


def _record_first_factor(sign_in: SignIn, need: Need, audited: AuditedOperation) -> None:
    """Record that the first factor is proven. A registration has created the user, and is recorded too."""
    facts: dict[str, object] = {"way": sign_in.way, "needed": list(need.reasons)}
    if sign_in.way == FirstFactor.REGISTER and not sign_in.finishing:
        audited.record_success()
        log.record(
            Event.SIGN_IN_FIRST_FACTOR,
            user_id=audited.user_id,
            application_id=audited.application_id,
            result="success",
            **facts,
        )
        return
    audited.event = Event.SIGN_IN_FIRST_FACTOR
    audited.facts |= facts
    audited.record_success()
