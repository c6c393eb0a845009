"""How often a request for an account page reads the sign-in experience of the tenant."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from interaction.experience.models import SignInExperience
from tests.support import factors
from tests.support.account import NEW, allow
from tests.support.cast import PASSWORD, World
from tests.support.statement_costs import Inside

PAGES = [
    "/account",
    "/account/delete",
    "/account/password",
    "/account/profile",
    "/account/security",
    "/account/security/passkeys",
    "/account/username",
]


def signed_in(world: World) -> Inside:
    browser = Inside(world)
    browser.send("/api/interaction/sign-in", {"identifier": world.user().username, "password": PASSWORD})
    return browser


def count_reads(call: Callable[[], Any], status: int) -> int:
    with CaptureQueriesContext(connection) as captured:
        answer = call()
    assert answer.status_code == status, answer.content
    return sum(f'FROM "{SignInExperience._meta.db_table}"' in query["sql"] for query in captured)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_it_once(acme, page):
    allow(acme, username_change=True, deletion=True)
    factors.switch_on(acme, "Totp", "WebAuthn")
    browser = signed_in(acme)

    assert count_reads(lambda: browser.get(page), 200) == 1


def test_a_new_password_reads_it_once(acme):
    browser = signed_in(acme)
    form = {"password": PASSWORD, "new_password": NEW}

    assert count_reads(lambda: browser.post("/account/password", form), 303) == 1
