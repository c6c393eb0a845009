"""Each limit that the table of limits declares is reached over HTTP."""

import base64
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from config.route_limits.kinds import KNOWN_BROWSERS
from config.route_limits.page import RULES
from config.route_limits.routes import ROUTES
from identity.core import tenancy
from identity.limits import rules
from identity.limits.models import Counter
from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors import services as connectors
from management.administrators import second_step
from management.administrators import services as administrators
from management.administrators.models import Administrator
from tests.support import authenticator, codes, factors, second
from tests.support.cast import PASSWORD, World, default_world
from tests.support.limited_routes import DRIVERS, Visit

MOST: Final = 3


# Three quarters of the text messages of a tenant are for strangers.
SMALL: Final = {"LIMIT_TENANT_TEXT_MESSAGES": 4}


METRICS: Final = "a token for the tests of metrics, long enough"


# Pages that send mail to administrators are there only with a mail server.
MAIL: Final = {
    "ADMIN_MAIL_URL": "smtp://127.0.0.1:9?starttls=off",
    "ADMIN_MAIL_FROM": "gatehouse@example.com",
}


@dataclass(frozen=True)
class Server:
    """A server on which the setting of one rule is small."""

    address: str
    file: Path

    def tell(self, kind: str) -> None:
        """Make the setting of a rule small, and no other."""
        setting = RULES[kind][1]
        is_pause = kind == rules.CODE_PAUSE.kind
        self.file.write_text("" if is_pause else f"{setting} {SMALL.get(setting, MOST)}")


@pytest.fixture(scope="module")
def guarded(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    file = tmp_path_factory.mktemp("limits") / "told"
    file.touch()
    told = {"TEST_APPLICATION": "tests.support.changed_limits:application", "TEST_LIMITS": str(file)}
    with second.running(TRUSTED_PROXIES="127.0.0.1", METRICS_TOKEN=METRICS, **MAIL, **told) as served:
        yield Server(served, file)


DECLARED: Final = [(rule.kind, route) for route, limited in ROUTES.items() for rule in limited.rules]


@pytest.fixture
def visit(guarded: Server, acme: World, kind: str, route: str) -> Iterator[Visit]:
    """Somebody at a tenant that has everything which a route may need."""
    guarded.tell(kind)
    rule = next(rule for rule in ROUTES[route].rules if rule.kind == kind)
    world = default_world() if "admin" in route else codes.reachable(acme)
    at = guarded.address
    made = Visit(world.at(at) if "admin" not in route else World(world.tenant, at), rule, route)
    if rule is rules.SECOND_STEP:
        second_step_of(made.person.partition("@")[0])
    if "admin" not in route:
        with world.active():
            config = {"client_id": "x", "client_secret": "x"}
            connectors.create(
                connector_id="github", type="Social", config=config, enabled=True, is_proven=True
            )
        user = world.user(email=made.person, phone=made.phone)
        made.identifier = user.identifier
        if rule in KNOWN_BROWSERS and is_about_factors(route):
            made.sign_in()
            made.browser.http.cookies.delete(f"gatehouse-session.{world.tenant.slug}")
        if is_about_factors(route):
            give_factors(world, user, route)
        codes.experience(world, account={"username_change": True, "deletion": True})
        if "/account" in route or "/confirm" in route or rule in {rules.KNOWN_BROWSER, *KNOWN_BROWSERS}:
            made.sign_in()
        if "/account/security" in route or "my-account" in route:
            prove_long_ago(world)
    yield made
    with tenancy.using(tenancy.DEFAULT):
        Counter.objects.all().delete()


def is_about_factors(route: str) -> bool:
    parts = ("/mfa/", "second-factor", "set-up", "/confirm", "/security", "/recovery")
    return any(part in route for part in parts)


def give_factors(world: World, user: User, route: str) -> None:
    """Give the tenant second factors, and the user all of them, or none where one is set up."""
    is_set_up = "set-up" in route
    factors.switch_on(world, policy="Mandatory" if is_set_up else "NoPrompt")
    with world.active():
        is_asked = "/account" not in route and "/confirm" not in route
        User.objects.filter(pk=user.pk).update(email_verified=not is_set_up, phone_verified=not is_set_up)
    if not is_set_up:
        factors.enrol(world, user, two_step=is_asked)
        factors.give_backup_codes(world, user)


def prove_long_ago(world: World) -> None:
    """Let the password be given some time ago, and the second factor just now."""
    with world.active():
        now = timezone.now()
        Session.objects.update(auth_time=now - timedelta(minutes=6), level=2, second_factor_at=now)


def second_step_of(username: str) -> None:
    with tenancy.using(tenancy.EVERYWHERE):
        administrators.create(username=username, password=PASSWORD)
    secret = secrets.token_bytes(20)
    code = authenticator.code(base64.b32encode(secret).decode())
    second_step.set_up(Administrator.objects.get(username=username), secret=secret, code=code)


@pytest.mark.parametrize(("kind", "route"), DECLARED)
def test_decision_N11_each_declared_limit_refuses(guarded, visit, kind, route):
    """It refuses after as many as its setting says, says when to come back, and is the one that refused."""
    before = refusals(guarded.address, kind)
    most = {rules.CODE_PAUSE: 1, rules.TEXT_MESSAGES: 4}.get(visit.rule, MOST)
    for visit.number in range(most + 1):
        if visit.rule is not rules.CODE_PAUSE:
            with visit.world.active():
                Counter.objects.filter(kind=rules.CODE_PAUSE.kind).delete()
        answer = DRIVERS[route](visit)
        if visit.number < most:
            assert "Retry-After" not in answer.headers, (visit.number, answer.text)

    # Pages that send codes show the field for the code that was sent before, with the header.
    again = {200} if visit.rule.kind.startswith("code") and "/api/" not in route else set()
    assert answer.status_code in {400, 401, 429} | again, answer.text
    assert 0 < int(answer.headers["Retry-After"]) <= 24 * 3600 + 1
    assert refusals(guarded.address, kind) > before


def test_decision_N11_each_rule_has_the_number_of_its_setting():
    """The server above sets the numbers itself."""
    settings_of_rules = sorted({setting for _, setting in RULES.values()})
    numbers = {setting: 1000 + 8 * place for place, setting in enumerate(settings_of_rules)}
    script = (
        "import django; django.setup(); from identity.limits import rules\n"
        "for name, rule in vars(rules).items():\n"
        "    if isinstance(rule, rules.Limit | rules.Lock):\n"
        "        most = rule.max_hits if isinstance(rule, rules.Limit) else rule.failures\n"
        "        print(name, most, rule.seconds, rule.kind, sep='\\t')"
    )

    printed = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ
        | {"DJANGO_SETTINGS_MODULE": "config.settings"}
        | {name: str(number) for name, number in numbers.items()},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    seen = set()
    for name, most, seconds, kind in (line.split("\t") for line in printed.splitlines()):
        if kind not in RULES:
            continue
        seen.add(kind)
        expected = numbers[RULES[kind][1]]
        if name == "TENANT_TEXT_CODES":
            assert int(most) == expected * 3 // 4
        else:
            assert int(seconds if name == "CODE_PAUSE" else most) == expected, name
    assert seen == set(RULES)


def refusals(server: str, kind: str) -> float:
    """How often the server says that a rule refused."""
    lines = httpx.get(f"{server}/metrics", headers={"Authorization": f"Bearer {METRICS}"}).text.splitlines()
    told = [line for line in lines if line.startswith("gatehouse_limits_refused_total")]
    return sum(float(line.split()[-1]) for line in told if f'limit="{kind}"' in line)
