"""A user at the account pages, and the rows and audit entries that follow."""

from datetime import timedelta
from typing import Any

import httpx
from django.utils import timezone

from audit.models import Entry
from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experiences
from tests.support import codes
from tests.support.cast import Browser, World
from tests.support.forms import form

NEW = "a new password, 1 of many"


def send(browser: Browser, page: str, **typed: Any) -> httpx.Response:
    """Open a page of the account and send its form."""
    path = f"/account/{page}"
    return form(browser.get(path)).submit(Sender(browser, path), **typed)


class Sender(Browser):
    """A browser that sends a form without an action to the page of the form."""

    def __init__(self, browser: Browser, path: str) -> None:
        super().__init__(browser.world, browser.http)
        self.path = path

    def post(self, address: str, **options: Any) -> httpx.Response:
        return super().post(address or self.path, **options)


def is_signed_in(browser: Browser) -> bool:
    answer = browser.get("/account")
    assert answer.status_code in {200, 303}
    return answer.status_code == 200


def allow(world: World, **account: bool) -> None:
    codes.reachable(world)
    with world.active():
        experiences.change({"account": account}, is_proven=True)


def change(world: World, user: User, **columns: Any) -> None:
    with world.active():
        User.objects.filter(pk=user.pk).update(**columns)


def age_sign_in(world: World, by: timedelta) -> None:
    with world.active():
        Session.objects.update(auth_time=timezone.now() - by)


def entries(world: World, key: str) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("-created_at", "-id"))


def stored(world: World, user: User) -> User:
    with world.active():
        return User.objects.get(pk=user.pk)


def enter(browser: Browser, kind: str, code: str) -> httpx.Response:
    return send(browser, f"{kind}/code", code=code)
