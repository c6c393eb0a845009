"""The answers of the authorization endpoint: to the application, and to the user."""

import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import httpx

from oidc.grants.models import AuthorizationRequest
from tests.support.cast import RelyingParty, World, query_of

CODE = re.compile(r"[A-Za-z0-9_-]{43}")


# Three words or more, of the characters of RFC 6749 section 4.1.2.1.
DESCRIPTION = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+){2,}")


STATE = "af0ifjsldkj"
WITH_CODE = {"code", "state", "iss"}


@dataclass(frozen=True)
class Refusal:
    """The error parameters that an application gets."""

    error: str | None
    state: str | None = STATE
    is_described: bool = True
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ErrorPage:
    """A page with an error, without a redirect."""

    status: int = 400
    location: str | None = None
    is_html: bool = True
    is_about_the_link: bool = True


class NextPage(NamedTuple):
    """A page to which the user is redirected."""

    name: str
    interaction: str


def sent_back(answer: httpx.Response, client: RelyingParty) -> dict[str, str]:
    """Return the parameters that an answer sends to the application, or the answer if it sends none."""
    location = answer.headers.get("Location", "")
    if answer.status_code == 303 and location.startswith(client.application.redirect_uris[0]):
        said = dict(parse_qsl(urlsplit(location).query, keep_blank_values=True, strict_parsing=True))
        if said.get("iss") == client.world.issuer:
            return said
    return {"not sent back": f"{answer.status_code} {location}"}


def find_refusal(answer: httpx.Response, client: RelyingParty) -> Refusal:
    said = sent_back(answer, client)
    return Refusal(
        error=said.pop("error", None),
        state=said.pop("state", None),
        is_described=bool(DESCRIPTION.fullmatch(said.pop("error_description", ""))),
        others=tuple((name, value) for name, value in said.items() if name != "iss"),
    )


def find_code(answer: httpx.Response, client: RelyingParty) -> str:
    """Return the code that a test goes on with."""
    said = sent_back(answer, client)
    assert said.keys() == WITH_CODE, said
    return said["code"]


def find_error_page(answer: httpx.Response) -> ErrorPage:
    return ErrorPage(
        status=answer.status_code,
        location=answer.headers.get("Location"),
        is_html=answer.headers.get("Content-Type", "").startswith("text/html"),
        is_about_the_link="This link does not work" in answer.text,
    )


def next_page(answer: httpx.Response, world: World) -> NextPage:
    """Return the page of Gatehouse to which an answer leads, or else what the answer is."""
    place = answer.headers.get("Location", "")
    location, query = urlsplit(place), query_of(place)
    root = f"{urlsplit(world.address).path}/"
    is_own = (location.scheme, location.netloc) == ("", "") and location.path.startswith(root)
    if answer.status_code == 303 and is_own and query.keys() - {"switch"} == {"interaction"}:
        return NextPage(location.path.removeprefix(root), query["interaction"])
    return NextPage(f"{answer.status_code} {place}", "")


def interaction_at(name: str, answer: httpx.Response, world: World) -> str:
    """Return the interaction of the page from which a test goes on."""
    page = next_page(answer, world)
    assert page.name == name, page
    return page.interaction


def parked(world: World) -> int:
    with world.active():
        return AuthorizationRequest.objects.count()


def without_reference(page: str) -> str:
    """Return an error page without the id of the request, which differs between two equal pages."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", page)


def named(value: object) -> str:
    """Name a case by its value, shortened."""
    text = ascii(value)
    return text if len(text) < 80 else f"{text[:40]}… ({len(text)})"
