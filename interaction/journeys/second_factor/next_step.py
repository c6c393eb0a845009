"""What a browser has to do next: the second factor, setting one up, or nothing."""

from dataclasses import dataclass
from typing import Any, Final

from django.urls import reverse

from identity.factors.kinds import FactorType
from identity.factors.levels import ACR, Level
from identity.factors.needed import Need
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.journeys.second_factor import people

KINDS: Final = {FactorType.EMAIL_CODE: Kind.EMAIL, FactorType.PHONE_CODE: Kind.PHONE}


@dataclass(frozen=True, slots=True)
class Method:
    """A factor that can be used now. ``masked`` is where its code is sent, if it is sent."""

    type: FactorType
    masked: str = ""


def get_methods(user: User, need: Need) -> list[Method]:
    """Return the factors that a user can use now, the preferred one first."""
    return [
        Method(factor, people.mask(KINDS[factor], getattr(user, KINDS[factor])) if factor in KINDS else "")
        for factor in need.methods
    ]


def describe(user: User, need: Need, redirect_to: str) -> dict[str, Any]:
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
        "may_remember": False,
        "skippable": need.may_skip,
        "reasons": list(need.reasons),
        "least_acr": ACR[Level(need.least)],
        "redirect_to": redirect_to,
    }


def get_url(need: Need, interaction: str) -> str:
    """Return the URL of the page for what is needed. ``interaction`` is the pending request, if any."""
    url = reverse("pages:second-factor" if need.methods else "pages:set-up")
    return f"{url}?interaction={interaction}" if interaction else url
