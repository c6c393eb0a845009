"""What a browser has to do next: the second factor, setting one up, or nothing."""

from dataclasses import dataclass
from typing import Any

from identity.factors.kinds import FactorType
from identity.factors.levels import ACR, Level
from identity.factors.needed import Need
from identity.users.models import User
from interaction.journeys.second_factor import available_factors, backup, circumstances, current_step, leaving
from interaction.journeys.second_factor.current_step import NothingToProve, SecondStep
from interaction.journeys.second_factor.sign_ins import Visit, get_step_url
from interaction.pending_sign_ins import services as pending_sign_ins


@dataclass(frozen=True, slots=True)
class Method:
    """A factor that can be used now. ``masked`` is where its code is sent, if it is sent."""

    type: FactorType
    masked: str = ""


def may_remember(step: SecondStep) -> bool:
    """Return whether the user may have this browser remembered: only if the step starts a session."""
    is_sign_in = step.stored is not None and not step.is_reset
    return is_sign_in and circumstances.may_remember(step.experience, step.need)


def get_methods(user: User, need: Need) -> list[Method]:
    """Return the factors that a user can use now, the preferred one first."""
    return [Method(factor, available_factors.mask_address(user, factor)) for factor in need.methods]


def describe(user: User, need: Need, redirect_to: str, *, may_remember: bool) -> dict[str, Any]:
    """Return the next step of a sign-in for a front end."""
    methods = [
        {"type": method.type.value} | ({"masked": method.masked} if method.masked else {})
        for method in get_methods(user, need)
    ]
    if not methods:
        methods = [{"type": factor.value} for factor in need.enrolable]
    return {
        "step": "second_factor" if need.methods else "set_up",
        "methods": methods,
        "preferred": methods[0]["type"] if methods else None,
        "may_remember": may_remember,
        "skippable": need.may_skip,
        "reasons": list(need.reasons),
        "least_acr": ACR[Level(need.least)],
        "redirect_to": redirect_to,
    }


def find_next(visit: Visit) -> dict[str, Any]:
    """Return the next step of a browser: of its pending sign-in, else of its session.

    If the user can prove nothing more, record it, as the page does: the request would lead here again.
    """
    try:
        step = current_step.find(visit)
    except NothingToProve:
        leaving.continue_unfulfilled(visit)
    except pending_sign_ins.NothingPending:
        pass
    else:
        return _describe_step(step, visit)
    if visit.current is None:
        return {"step": "sign_in"}
    if backup.should_offer(visit.current):
        return {"step": "backup_codes", "redirect_to": backup.get_url(visit.pending)}
    return {"step": "done", "redirect_to": visit.next_url}


def _describe_step(step: SecondStep, visit: Visit) -> dict[str, Any]:
    url = get_step_url(step.need, visit.pending)
    found = describe(step.user, step.need, url, may_remember=may_remember(step))
    may_cancel = {"cancellable": True} if step.may_cancel else {}
    return found | may_cancel | ({"step": "sign_in"} if step.is_stale else {})
