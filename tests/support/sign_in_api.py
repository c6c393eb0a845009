"""The JSON front door for people, as a page of another origin's scripts sees it."""

from typing import Any

import httpx

from identity.sessions.models import Session
from identity.users.models import User
from tests.support.cast import PASSWORD, World

PATH = "/api/interaction/sign-in"


def is_envelope(answer: httpx.Response, code: int) -> str:
    """Check that an answer is an error in the shape of the API, and return its message."""
    assert answer.status_code == code, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    said = answer.json()
    assert said.keys() == {"code", "message", "result"}
    assert (said["code"], said["result"]) == (code, "")
    assert said["message"]
    return str(said["message"])


def credentials(user: User, **fields: Any) -> dict[str, Any]:
    return {"identifier": user.username, "password": PASSWORD} | fields


def sessions(world: World) -> int:
    with world.active():
        return Session.objects.count()
