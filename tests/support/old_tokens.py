"""Administrators whose tokens are older or newer than a change of factors asks for (AP47)."""

import time

import httpx
import time_machine
from django.conf import settings

from management.administrators import tokens
from tests.support import management, operators
from tests.support.cast import World
from tests.support.management import Caller, refusal_of

_SECONDS = settings.ADMIN_PROOF_SECONDS
MESSAGE = f"sign in again: this needs a token that is at most {_SECONDS} seconds old"


def new_thief(world: World) -> Caller:
    """Return an administrator of the tenant with a token that is a minute too old."""
    return _of_age(world, _SECONDS + 60)


def new_recent(world: World) -> Caller:
    """Return an administrator of the tenant with a token that is old, but not too old."""
    return _of_age(world, _SECONDS - 600)


def _of_age(world: World, seconds: int) -> Caller:
    who = operators.administrator(tenants=[world.tenant.slug])
    with time_machine.travel(time.time() - seconds):
        token = tokens.issue(who)
    return management.Caller(world, token)


def is_refused(answer: httpx.Response) -> bool:
    """Return whether a change was refused because the token is too old."""
    return refusal_of(answer, 403) == MESSAGE
