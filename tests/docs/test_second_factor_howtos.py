"""The pages on second factors do what they say: their commands are run in order, as they stand."""

import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from string import Template
from typing import Any

import pytest
from django.conf import settings

from tests.support import factors, management
from tests.support.cast import World
from tests.support.management import result_of

PAGES = settings.BASE_DIR / "docs/how-to"
PASSWORD = "analytical-engine-1843"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Reader:
    """Somebody who follows a page, in a tenant that has the user of the quick start."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.admin = management.superuser(world)
        self.user = world.user("ada", password=PASSWORD)
        self.browser = world.browser()
        self.values = {"ISSUER": "", "USER_ID": str(self.user.pk)}
        self.answers: list[Any] = []

    def follow(self, page: str) -> None:
        """Run the commands of a page, and keep what they print."""
        for words in commands(page):
            self.answers.append(self._run(*(Template(word).substitute(self.values) for word in words)))

    def _run(self, program: str, *arguments: str) -> Any:
        if program == "call":
            method, path, *body = arguments
            options = {"json": json.loads(body[0])} if body else {}
            result = result_of(self.admin.request(method, path, **options))
        else:
            result = self._post(*arguments)
        if isinstance(result, dict) and "code" in result:
            self.values["CODE"] = result["code"]
        return result

    def _post(self, *arguments: str) -> Any:
        path = next(argument for argument in arguments if argument.startswith("/"))
        sent = json.loads(arguments[arguments.index("--json") + 1])
        browser = self.browser if "-b" in arguments or path.endswith("sign-in") else self.world.browser()
        return browser.post(path, json=sent).json()["result"]


def commands(page: str) -> Iterator[list[str]]:
    """The words of each command of a page, without pipes and the definition of ``call``."""
    for language, block in _FENCE.findall((PAGES / page).read_text()):
        if language != "bash":
            continue
        words = shlex.split(re.sub(r"^call\(\) .*$", "", block, flags=re.MULTILINE).replace("|", " | "))
        starts = [index for index, word in enumerate(words) if word in {"call", "curl"}]
        for start, end in pairwise([*starts, len(words)]):
            command = words[start:end]
            yield command[: command.index("|")] if "|" in command else command


@pytest.fixture
def reader(acme):
    return Reader(acme)


def examples(page: str) -> list[Any]:
    """The answers that a page shows."""
    return [
        json.loads(block)
        for language, block in _FENCE.findall((PAGES / page).read_text())
        if language == "json"
    ]


def test_decision_M65_a_second_factor_is_required_as_the_page_says(reader):
    values = reader.values
    values["ORGANIZATION_ID"] = reader.admin.created("/organizations", name="Clinic")["id"]
    values["APPLICATION_ID"] = str(reader.world.application().application.pk)

    reader.follow("require-second-factor.md")

    *_, signed_in, log = reader.answers
    [shown] = examples("require-second-factor.md")
    assert signed_in["next"] == shown | {"redirect_to": signed_in["redirect_to"]}
    assert signed_in["redirect_to"].endswith(shown["redirect_to"])
    assert log["data"][0]["payload"]["needed"] == shown["reasons"]


def test_decision_M65_passkeys_come_first_as_the_page_says(reader):
    reader.follow("passkeys-first.md")

    shown = result_of(reader.browser.get("/api/interaction/sign-in-experience"))
    assert shown["passkey_sign_in"]["enabled"] is True


def test_decision_M65_who_lost_the_phone_gets_in_as_the_page_says(reader):
    factors.switch_on(reader.world, "Totp", "BackupCode")
    factors.enrol(reader.world, reader.user)
    factors.give_backup_codes(reader.world, reader.user)
    path = f"/users/{reader.user.pk}/mfa-verifications"
    [app, backup] = result_of(reader.admin.get(path))
    reader.values["FACTOR_ID"] = app["id"]

    reader.follow("lost-phone.md")

    listed, [*found], issued, _, recovered, *_ = reader.answers
    assert [user["id"] for user in listed["data"]] == [str(reader.user.pk)]
    assert [factor["id"] for factor in found] == [app["id"], backup["id"]]
    assert issued["code"]
    assert recovered["next"]["step"] == "set_up"
    # Each key of the log that the page names has an entry.
    assert all(log["data"] for log in reader.answers[-4:])
    assert result_of(reader.admin.get(path)) == []
