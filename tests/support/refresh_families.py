"""Families of refresh tokens: their age, and whether their tokens are refused."""

from typing import Any

from django.db.models import F

from oidc.grants.models import RefreshFamily
from tests.support.cast import RelyingParty
from tests.support.refusals import refusal

GONE = (400, "invalid_grant")


def aged(client: RelyingParty, **fields: Any) -> None:
    """Move times of the application's only family, as if time had passed."""
    with client.world.active():
        RefreshFamily.objects.filter(application=client.application).update(
            **{name: F(name) - passed for name, passed in fields.items()}
        )


def family_of(client: RelyingParty) -> RefreshFamily:
    """The only family of an application."""
    with client.world.active():
        return RefreshFamily.objects.get(application=client.application)


def is_dead(client: RelyingParty, *token_sets: dict[str, str]) -> bool:
    """Return whether all these refresh tokens and access tokens are refused."""
    return all(
        refusal(client.refresh(tokens["refresh_token"])) == GONE
        and client.userinfo(tokens["access_token"]).status_code == 401
        for tokens in token_sets
    )
