"""Verification codes: requesting one, finding it among the messages, and entering it."""

import os
import secrets
import time
from collections import defaultdict
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import orjson
from django.conf import settings

from identity.limits.models import Counter
from interaction.connectors import services as connectors
from interaction.experience.models import SignInExperience
from interaction.verification.models import VerificationCode
from tests.support.cast import Browser, World

SEND = "/api/interaction/verification-code"
VERIFY = "/api/interaction/verify-code"
REGISTER = "/api/interaction/register"
RESET = "/api/interaction/forgot-password"


def new_email() -> str:
    """An address that no other test has, so that its messages can be told apart."""
    return f"{secrets.token_hex(6)}@example.com"


def new_phone() -> str:
    return f"+49151{secrets.randbelow(10**8):08d}"


def rows_of(world: World) -> list[VerificationCode]:
    """Return the codes of a tenant, the oldest first."""
    with world.active():
        return list(VerificationCode.objects.order_by("created_at"))


def age(world: World, **columns: timedelta) -> None:
    """Make codes older than they are."""
    with world.active():
        for code in VerificationCode.objects.all():
            changes = {column: getattr(code, column) - by for column, by in columns.items()}
            VerificationCode.objects.filter(pk=code.pk).update(**changes)


def reachable(world: World) -> World:
    """Let a tenant send emails and SMS, into files."""
    with world.active():
        for name, type_ in (("outbox-email", "Email"), ("outbox-sms", "Sms")):
            connectors.create(connector_id=name, type=type_, config={}, enabled=True, is_proven=True)
    return world


def experience(world: World, **fields: Any) -> None:
    """Change objects of the sign-in experience, one level deep."""
    with world.active():
        shown = SignInExperience.objects.get()
        for name, value in fields.items():
            setattr(shown, name, getattr(shown, name) | value)
        shown.save()


def messages_to(to: str) -> list[dict[str, Any]]:
    """Return the messages to an address, the oldest first."""
    folder = settings.OUTBOX_DIR
    if not folder.exists():
        return []
    names = {entry.name for entry in os.scandir(folder) if entry.name.endswith(".json")}
    sent = _sent_to(folder)
    for name in names - _known(folder):
        message: dict[str, Any] = orjson.loads((folder / name).read_bytes())
        sent[message["to"]][name] = message
        _known(folder).add(name)
    return [message for name, message in sorted(sent[to].items()) if name in names]


@cache
def _sent_to(_: Path) -> defaultdict[str, dict[str, dict[str, Any]]]:
    """Return the messages of a folder that were read, by address and by file.

    They never change, and a run leaves thousands of them.
    """
    return defaultdict(dict)


@cache
def _known(_: Path) -> set[str]:
    """Return the files of a folder that were read."""
    return set()


def message_to(to: str, *, number: int = 1) -> dict[str, Any]:
    """Wait for a message to an address, counted from 1, and return it."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = messages_to(to)
        if len(found) >= number:
            return found[number - 1]
        time.sleep(0.02)
    raise AssertionError(f"message {number} to {to} never came")


def message_about(to: str, subject: str) -> dict[str, Any]:
    """Wait for a message to an address with this beginning of the subject, and return the first."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for message in messages_to(to):
            if message["subject"].startswith(subject):
                return message
        time.sleep(0.02)
    raise AssertionError(f"no message about {subject!r} to {to} came")


def about(identifier: str, purpose: str = "sign_in", **fields: Any) -> dict[str, Any]:
    kind = "email" if "@" in identifier else "phone"
    return {"identifier": identifier, "identifier_type": kind, "interaction_type": purpose} | fields


def send(browser: Browser, identifier: str, purpose: str = "sign_in", **fields: Any) -> httpx.Response:
    return browser.post(SEND, json=about(identifier, purpose, **fields))


def enter(
    browser: Browser, identifier: str, code: str, purpose: str = "sign_in", **fields: Any
) -> httpx.Response:
    return browser.post(VERIFY, json=about(identifier, purpose, code=code, **fields))


def sent(browser: Browser, identifier: str, purpose: str = "sign_in", *, number: int = 1) -> str:
    """Ask for a code and return the code that arrives."""
    answer = send(browser, identifier, purpose)
    assert answer.status_code == 200, answer.text
    return str(message_to(identifier, number=number)["code"])


def proven(browser: Browser, identifier: str, purpose: str) -> None:
    """Ask for a code and enter it."""
    answer = enter(browser, identifier, sent(browser, identifier, purpose), purpose)
    assert answer.status_code == 200, answer.text


def other_than(code: str) -> str:
    """Return a wrong code."""
    return f"{(int(code) + 1) % 10**6:06d}"


def let_time_pass(world: World) -> None:
    """Delete the counters of limits, as if hours had passed."""
    with world.active():
        Counter.objects.all().delete()
