"""What a lost or stolen passkey leaves behind when it is removed."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx
import pytest

from audit.models import Entry
from identity.factors.models import Passkey
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.models import User
from interaction.journeys.account import factors as own_factors
from interaction.journeys.second_factor import reauthentication
from tests.support import factors, management, operators, passkeys
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD, Browser, RelyingParty, World, query_of
from tests.support.factors import is_signed_in
from tests.support.forms import form
from tests.support.passkeys import device, enrol, use

OWN = "/api/my-account"
PAGES = {"passkeys": "/account/security/passkeys", "security": "/account/security"}


@dataclass
class Thief:
    """A browser that signed in with a passkey of the user, and an application in it."""

    browser: Browser
    client: RelyingParty
    tokens: dict[str, str]
    code: str

    def is_out(self) -> bool:
        """Whether nothing that began with the passkey works any more. One of these uses the code up."""
        return (
            not is_signed_in(self.browser)
            and self.client.refresh(self.tokens["refresh_token"]).status_code == 400
            and self.client.userinfo(self.tokens["access_token"]).status_code == 401
            and self.client.redeem(self.code).status_code == 400
        )


@pytest.fixture
def user(acme: World) -> User:
    passkeys.switch_on(acme, "Totp", "WebAuthn")
    return acme.user()


@pytest.fixture
def stolen(acme: World, user: User) -> tuple[Passkey, Thief]:
    """A passkey of the user, and what a thief began with it."""
    phone, browser, client = device(), acme.browser(), acme.application()
    row = enrol(acme, user, phone)
    assert factors.has_session(use(browser, phone))
    tokens = client.redeem(query_of(browser.authorize(client).headers["Location"])["code"]).json()
    code = query_of(browser.authorize(client).headers["Location"])["code"]
    return row, Thief(browser, client, tokens, code)


@pytest.fixture
def owner(acme: World, user: User, stolen: tuple[Passkey, Thief]) -> Browser:
    """A browser of the user, who signed in with another passkey."""
    laptop, browser = device(), acme.browser()
    enrol(acme, user, laptop)
    assert factors.has_session(use(browser, laptop))
    return browser


def remove_on(page: str) -> Callable[[Browser, object], httpx.Response]:
    def remove(owner: Browser, factor_id: object) -> httpx.Response:
        shown = form(owner.get(PAGES[page]))
        fields = shown.fields | {"remove": str(factor_id), "password": PASSWORD}
        return owner.post(PAGES[page], data={k: v for k, v in fields.items() if k != "two_step"})

    return remove


def remove_by_api(owner: Browser, factor_id: object) -> httpx.Response:
    assert owner.post(f"{OWN}/confirm", json={"password": PASSWORD}).status_code == 200
    address = f"{owner.world.address}{OWN}/mfa-verifications/{factor_id}"
    return owner.http.request("DELETE", address)


BY_USER = {
    "page of passkeys": remove_on("passkeys"),
    "page of factors": remove_on("security"),
    "API": remove_by_api,
}


@pytest.mark.parametrize("way", BY_USER)
def test_decision_M44_a_user_who_removes_a_passkey_ends_all_that_began_with_it(acme, owner, stolen, way):
    row, thief = stolen
    copied = acme.browser()
    copied.http.cookies.update(owner.http.cookies)

    done = BY_USER[way](owner, row.pk)

    assert done.status_code in {200, 303}, done.text
    with acme.active():
        assert not Passkey.objects.filter(pk=row.pk).exists()
    assert thief.is_out()
    assert is_signed_in(owner)
    assert not is_signed_in(copied)
    if done.status_code == 303:
        shown = owner.get(done.headers["Location"])
        assert "Removed. All other devices and applications are signed out." in shown.text


@pytest.mark.parametrize("by", ["the site", "the management API"])
def test_decision_M47_so_does_an_administrator(acme, user, owner, stolen, by):
    row, thief = stolen

    if by == "the site":
        done = operate(operators.at(acme), "users/user", user, "remove-factor", factor=str(row.pk))
    else:
        done = management.superuser(acme).delete(f"/users/{user.pk}/mfa-verifications/{row.pk}")

    assert done.status_code in {200, 303}, done.text
    assert thief.is_out()
    assert not is_signed_in(owner)
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk)
    assert {"Mfa.Delete", "User.SignOut"} <= set(entries.values_list("key", flat=True))


def test_decision_M44_an_authenticator_signs_no_applications_out(acme, user, owner, stolen):
    """It signs nobody in alone."""
    _, thief = stolen
    factors.enrol(acme, user)
    shown = management.superuser(acme).get(f"/users/{user.pk}/mfa-verifications").json()["result"]
    authenticator = next(factor["id"] for factor in shown if factor["type"] == "Totp")

    done = remove_on("security")(owner, authenticator)

    assert done.status_code == 303, done.text
    assert "Removed. Your other devices are signed out." in owner.get(done.headers["Location"]).text
    assert is_signed_in(owner)
    assert not is_signed_in(thief.browser)
    assert thief.client.refresh(thief.tokens["refresh_token"]).status_code == 200


def test_decision_M45_a_passkey_that_stays_signs_nobody_out(acme, user, stolen):
    row, thief = stolen
    with acme.active():
        User.objects.filter(pk=user.pk).update(password="")

    refused = remove_on("passkeys")(thief.browser, row.pk)

    assert refused.status_code == 403
    assert is_signed_in(thief.browser)
    assert thief.client.refresh(thief.tokens["refresh_token"]).status_code == 200


def test_a_session_that_ended_meanwhile_removes_nothing(acme, owner, stolen):
    """The user was signed out after the request had found the session."""
    row, _ = stolen
    assert owner.post(f"{OWN}/confirm", json={"password": PASSWORD}).status_code == 200
    secret = next(value for name, value in owner.http.cookies.items() if "-session." in name)
    with acme.active():
        session = sessions.find(secret)
        assert session is not None
        Session.objects.filter(pk=session.pk).update(ended_at=session.now)

        with pytest.raises(reauthentication.SignInAgain):
            own_factors.remove(session, str(row.pk), password=PASSWORD)

        assert Passkey.objects.filter(pk=row.pk).exists()


def test_a_new_password_that_removes_two_passkeys_ends_them_in_one_change(acme, user, owner, stolen):
    """The version that the administrator read still counts."""
    _, thief = stolen
    admin = management.superuser(acme)
    read = admin.get(f"/users/{user.pk}")

    done = admin.saying(**{"If-Match": read.headers["ETag"]}).patch(
        f"/users/{user.pk}/password",
        password="c0rrect horse battery",
        remove_linked_accounts_and_passkeys=True,
    )

    assert done.status_code == 200, done.text
    with acme.active():
        assert not Passkey.objects.exists()
    assert thief.is_out()
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.SignOut")
    assert not entries.exists()
