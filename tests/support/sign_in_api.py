"""The interaction API, as scripts of a page of another origin use it."""

from dataclasses import dataclass
from typing import Any

import httpx

from identity.sessions.models import Session
from identity.users.models import User
from tests.support.cast import PASSWORD, World

PATH = "/api/interaction/sign-in"


@dataclass(frozen=True)
class Refusal:
    """How an answer refuses. ``faults``: what is not as in every error of the API."""

    status: int
    faults: tuple[str, ...] = ()


def find_refusal(answer: httpx.Response) -> Refusal:
    kind = answer.headers.get("Content-Type")
    body = answer.json() if kind == "application/json" else None
    message = body.get("message") if isinstance(body, dict) else None
    envelope = {"code": answer.status_code, "message": message, "result": ""}
    faults = {
        f"it is {kind}": kind != "application/json",
        f"it has the body {body}": not message or body != envelope,
        "it may be stored": answer.headers.get("Cache-Control") != "no-store",
        "it sets a cookie": "Set-Cookie" in answer.headers,
    }
    return Refusal(answer.status_code, tuple(text for text, is_true in faults.items() if is_true))


def refusal_message(answer: httpx.Response, status: int) -> str:
    """Return the message of an answer, which has to refuse with this status."""
    assert find_refusal(answer) == Refusal(status)
    return str(answer.json()["message"])


def credentials(user: User, **fields: Any) -> dict[str, Any]:
    return {"identifier": user.username, "password": PASSWORD} | fields


def sessions(world: World) -> int:
    with world.active():
        return Session.objects.count()
