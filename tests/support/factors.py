"""Second factors: switching them on in a tenant, setting them up, and signing in with them."""

import time
from typing import Any

import httpx
from django.db import transaction
from django.utils import timezone

from database import chains
from identity.factors import authenticators, backup_codes, totp
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.pending_sign_ins.models import PendingSignIn
from tests.support import authenticator
from tests.support.cast import Browser, World

NEXT = "/api/interaction/next"
TOTP = "/api/interaction/mfa/totp"
BACKUP = "/api/interaction/mfa/backup-code"
SEND = "/api/interaction/mfa/code"
VERIFY = "/api/interaction/mfa/code/verify"
SKIP = "/api/interaction/mfa/skip"
SET_UP = "/api/interaction/mfa/set-up/totp"
SET_UP_VERIFY = "/api/interaction/mfa/set-up/totp/verify"
SET_UP_CODES = "/api/interaction/mfa/set-up/backup-codes"
ALL = ("Totp", "BackupCode", "EmailVerificationCode", "PhoneVerificationCode")


def switch_on(world: World, *factors: str, **mfa: Any) -> World:
    """Give a tenant second factors: all, if none are named."""
    with world.active():
        experiences.change({"mfa": {"factors": list(factors or ALL), **mfa}}, is_proven=True)
    return world


class App:
    """An authenticator of a person. Each of its codes is another one."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.used = 0

    def code(self) -> str:
        """The earliest code that stays good for five seconds and was not given before."""
        now = time.time()
        present = int(now) // 30
        good = present - 1 if now % 30 < 25 else present
        self.used = max(self.used + 1, good)
        if self.used > present + 1:
            time.sleep(30 * (self.used - 1) - now)
        return authenticator.code(self.key, self.used - int(time.time()) // 30)


def enrol(world: World, user: User, *, two_step: bool = True) -> App:
    """Give a user an authenticator, as if it had been set up long ago."""
    secret = totp.new_secret()
    with world.active():
        authenticators.add(user, secret)
        User.objects.filter(pk=user.pk).update(two_step=two_step)
        user.refresh_from_db()
    return App(totp.format_secret(secret))


def give_backup_codes(world: World, user: User) -> list[str]:
    with world.active():
        return backup_codes.renew(user)


def use_backup_code(user: User, code: str) -> None:
    found = backup_codes.find_code(user, code)
    assert found is not None
    with transaction.atomic(), chains.joined(None) as chain:
        found.use(chain)


def half(browser: Browser, user: User, **fields: Any) -> dict[str, Any]:
    """Prove the first factor and return what comes next."""
    answer = browser.sign_in(user, **fields)
    assert answer.status_code == 200, answer.text
    assert not has_session(answer)
    return dict(answer.json()["result"])


def has_session(answer: httpx.Response) -> bool:
    """Whether an answer sets the cookie of a session."""
    return any("gatehouse-session" in line for line in answer.headers.get_list("Set-Cookie"))


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


def signed_in(world: World, user: User, app: App) -> Browser:
    """A browser in which somebody signed in with both factors."""
    browser = world.browser()
    half(browser, user)
    answer = browser.post(TOTP, json={"code": app.code()})
    assert has_session(answer), answer.text
    return browser


def pending(world: World) -> list[PendingSignIn]:
    with world.active():
        return list(PendingSignIn.objects.order_by("created_at"))


def at_the_start_of_a_step() -> None:
    """Wait if the present code is about to change."""
    left = 30 - timezone.now().timestamp() % 30
    if left < 5:
        time.sleep(left)
