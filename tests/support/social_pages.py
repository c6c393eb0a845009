"""What a person, and the log, see of a sign-in with another provider."""

from dataclasses import dataclass

import httpx

from audit.models import Entry
from identity.sessions.models import Session
from identity.users.models import User
from interaction.social.models import SocialIdentity
from tests.support.cast import Browser, World
from tests.support.social import is_in

EXPIRED = "This sign-in has expired"
NOT_BELIEVED = "The other service didn&#x27;t tell us who you are."
NOT_ASKED_AGAIN = "The other service didn&#x27;t confirm that you just signed in."
ADA = {"email": "ada@example.com", "email_verified": True, "name": "Ada"}


def entry(world: World) -> Entry:
    """The newest entry of the log about social sign-ins."""
    return Entry.objects.filter(tenant_id=world.tenant.pk, key="SignIn.Social").order_by("-pk")[0]


def only_user(world: World) -> User:
    with world.active():
        return User.objects.get()


@dataclass(frozen=True)
class Refusal:
    """A page that says why a sign-in ended."""

    status: int
    says_why: bool = True
    is_html: bool = True
    caching: str | None = "no-store"


def find_refusal(page: httpx.Response, why: str) -> Refusal:
    return Refusal(
        status=page.status_code,
        says_why=why in page.text,
        is_html=page.headers.get("Content-Type", "").startswith("text/html"),
        caching=page.headers.get("Cache-Control"),
    )


@dataclass(frozen=True)
class Arrivals:
    """Who is in a tenant, and whether a browser is signed in."""

    users: int
    sessions: int
    accounts: int
    is_signed_in: bool


NOBODY = Arrivals(users=0, sessions=0, accounts=0, is_signed_in=False)


def count_arrivals(world: World, browser: Browser) -> Arrivals:
    with world.active():
        users, sessions = User.objects.count(), Session.objects.count()
        accounts = SocialIdentity.objects.count()
    return Arrivals(users, sessions, accounts, is_in(browser))
