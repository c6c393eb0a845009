"""What a person, and the log, see of a sign-in with another provider."""

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


def refused(page: httpx.Response, status: int, text: str) -> httpx.Response:
    assert page.status_code == status, page.text
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.headers["Cache-Control"] == "no-store"
    assert text in page.text
    return page


def nobody_came(world: World, browser: Browser) -> None:
    with world.active():
        assert (User.objects.count(), Session.objects.count(), SocialIdentity.objects.count()) == (0, 0, 0)
    assert not is_in(browser)
