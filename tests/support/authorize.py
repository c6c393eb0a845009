"""What the authorization endpoint answers: to the application, and to the person."""

import re
from urllib.parse import parse_qsl, urlsplit

import httpx

from oidc.grants.models import AuthorizationRequest
from tests.support.cast import RelyingParty, World, query_of

CODE = re.compile(r"[A-Za-z0-9_-]{43}")


# Three words or more, of the characters of RFC 6749 section 4.1.2.1.
DESCRIPTION = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+){2,}")


def is_sent_back(answer: httpx.Response, client: RelyingParty) -> dict[str, str]:
    """Check that an answer goes to the application, and return what it says."""
    assert answer.status_code == 303, answer.text
    location = answer.headers["Location"]
    assert location.startswith(client.application.redirect_uris[0])
    said = dict(parse_qsl(urlsplit(location).query, keep_blank_values=True, strict_parsing=True))
    assert said["iss"] == client.world.issuer
    return said


def is_refused(answer: httpx.Response, client: RelyingParty, error: str, state: str = "af0ifjsldkj") -> None:
    """Check that the application is told of an error, of nothing more, and no code."""
    said = is_sent_back(answer, client)
    assert said.keys() == {"error", "error_description", "state", "iss"}, said
    assert (said["error"], said["state"]) == (error, state)
    assert DESCRIPTION.fullmatch(said["error_description"]), said["error_description"]


def is_answered(answer: httpx.Response, client: RelyingParty) -> str:
    """Check that the application is given a code and nothing more, and return the code."""
    said = is_sent_back(answer, client)
    assert said.keys() == {"code", "state", "iss"}, said
    return said["code"]


def is_error_page(answer: httpx.Response, status: int = 400) -> None:
    """Check that a person is told, and goes nowhere."""
    assert answer.status_code == status, answer.text
    assert "Location" not in answer.headers
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "This link does not work" in answer.text


def asks_for(page: str, answer: httpx.Response, world: World) -> str:
    """Check that a person is sent to a page of ours, and return the interaction."""
    assert answer.status_code == 303, answer.text
    location = urlsplit(answer.headers["Location"])
    assert (location.scheme, location.netloc) == ("", "")
    assert location.path == f"{urlsplit(world.address).path}/{page}"
    query = query_of(answer.headers["Location"])
    assert query.keys() - {"switch"} == {"interaction"}
    return query["interaction"]


def parked(world: World) -> int:
    with world.active():
        return AuthorizationRequest.objects.count()


def without_reference(page: str) -> str:
    """Drop the only thing that differs between two error pages: the request's own id."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", page)


def named(value: object) -> str:
    """Name a case by its value, shortened."""
    text = ascii(value)
    return text if len(text) < 80 else f"{text[:40]}… ({len(text)})"
