"""The checks that sign-ins of the tenant can be as strong as a request or its application demands."""

from collections.abc import Sequence
from typing import Any

from identity.factors.levels import Level
from identity.tenants import services as tenants
from oidc.applications.models import Application
from oidc.provider import acr, claims_request
from oidc.provider.authorization.refusals import UnmetAuthenticationRequirements
from oidc.settings import acr_levels


def check_claims(document: dict[str, Any]) -> None:
    """Check that a sign-in here can have an ``acr`` that the ``claims`` parameter demands.

    Raises:
        UnmetAuthenticationRequirements: none can (Core 5.5.1.1: a failed authentication attempt).

    """
    essential = claims_request.get_essential_acr_values(document)
    if essential is None:
        return
    highest = tenants.get_highest_level()
    if highest <= Level.ONE:
        raise UnmetAuthenticationRequirements("claims must not demand an acr, because no sign-in has one")
    if not _is_reached(essential, highest):
        raise UnmetAuthenticationRequirements("claims must demand an acr that a sign-in here can have")


def check_application(application: Application) -> None:
    """Check that a sign-in here can have the ``acr`` that the application requires.

    Raises:
        UnmetAuthenticationRequirements: none can.

    """
    required = application.required_acr
    if required and not _is_reached([required], tenants.get_highest_level()):
        raise UnmetAuthenticationRequirements("no sign-in here can have the acr of required_acr")


def _is_reached(values: Sequence[str], highest: int) -> bool:
    return (acr.find_least(values) or acr_levels.UNREACHABLE) <= highest
