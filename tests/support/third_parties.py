"""A third-party application and its consent page, for a user with scopes at APIs and in organizations."""

from dataclasses import dataclass, field
from typing import Any

import httpx
import jwt

from identity.users.models import User
from tests.support import management
from tests.support.cast import Browser, RelyingParty, World, query_of
from tests.support.forms import form
from tests.support.management import Caller, result_of


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a token, without checking its signature."""
    found: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return found


def consent_page(browser: Browser, client: RelyingParty, **asked: str | None) -> httpx.Response:
    """Return the consent page for a user who is signed in."""
    answer = browser.authorize(client, **asked)
    assert "/consent?" in answer.headers["Location"], answer.headers["Location"]
    return browser.get(answer.headers["Location"])


def press(browser: Browser, page: httpx.Response, choice: str = "allow") -> dict[str, str]:
    """Press a button of the consent page, and return the parameters that the application gets."""
    answer = form(page).submit(browser, choice=choice)
    while "/oidc/authorize/" in answer.headers["Location"]:
        answer = browser.get(answer.headers["Location"])
    return query_of(answer.headers["Location"])


def connect(browser: Browser, client: RelyingParty, **asked: str | None) -> dict[str, Any]:
    """Agree on the consent page, and return the tokens."""
    code = press(browser, consent_page(browser, client, **asked))["code"]
    answer = client.redeem(code)
    assert answer.status_code == 200, answer.text
    tokens: dict[str, Any] = answer.json()
    return tokens


def send(browser: Browser, path: str, **typed: str) -> httpx.Response:
    """Open a page of the account and send its form, which has no address of its own."""
    found = form(browser.get(path))
    found.action = path
    return found.submit(browser, **typed)


def disconnect(browser: Browser, client: RelyingParty) -> None:
    """Revoke all access of an application."""
    answer = send(browser, "/account/applications", revoke=str(client.application.pk))
    assert answer.status_code == 303, answer.text


def targets_of(browser: Browser) -> list[str]:
    """Return the buttons of the account page that revoke one target each."""
    buttons = form(browser.get("/account/applications")).buttons
    return [value for name, value in buttons if name == "target"]


def connect_silently(browser: Browser, client: RelyingParty, **asked: str | None) -> dict[str, Any]:
    """Return tokens that an application gets without a page, because the user agreed before."""
    answer = client.redeem(silent(browser, client, **asked)["code"])
    assert answer.status_code == 200, answer.text
    tokens: dict[str, Any] = answer.json()
    return tokens


def silent(browser: Browser, client: RelyingParty, **asked: str | None) -> dict[str, str]:
    """Return the parameters that the application gets without a page."""
    return query_of(browser.authorize(client, prompt="none", **asked).headers["Location"])


@dataclass
class Estate:
    """Somebody with scopes at APIs and permissions in organizations, as an administrator set them up."""

    world: World
    admin: Caller = field(init=False)
    user: User = field(init=False)

    def __post_init__(self) -> None:
        self.admin = management.superuser(self.world)
        self.user = self.world.user(name="Mia Muster", email="mia@x.org", phone="+4930123456")

    def browser(self) -> Browser:
        """A browser in which the user is signed in."""
        browser = self.world.browser()
        assert browser.sign_in(self.user).status_code == 200
        return browser

    def api(self, name: str, scopes: dict[str, str], user: User | None = None) -> str:
        """An API whose scopes, by name and description, a role grants the user. Returns its indicator."""
        indicator = f"https://{name.lower()}.example"
        made = self.admin.created("/resources", name=name, indicator=indicator)
        self.add_scopes(made["id"], name, scopes, user)
        return indicator

    def add_scopes(
        self, resource_id: str, role_name: str, scopes: dict[str, str], user: User | None = None
    ) -> None:
        """Scopes of an API that a new role grants the user."""
        ids = [
            self.admin.created(f"/resources/{resource_id}/scopes", name=name, description=description)["id"]
            for name, description in scopes.items()
        ]
        role = self.admin.created("/roles", name=f"{role_name} {len(scopes)} {ids[:1]}", type="User")
        result_of(self.admin.put(f"/roles/{role['id']}/scopes", scope_ids=ids))
        person = f"/users/{(user or self.user).pk}/roles"
        held = [one["id"] for one in result_of(self.admin.get(person))]
        result_of(self.admin.put(person, role_ids=[*held, role["id"]]))

    def organization(self, name: str, permissions: dict[str, str], *, is_admin: bool = False) -> str:
        """An organization in which a role gives the user permissions. Returns its id."""
        made: str = self.admin.created("/organizations", name=name)["id"]
        known = {
            one["name"]: one["id"]
            for one in result_of(self.admin.get("/organization-permissions", page_size=100))["data"]
        }
        ids = [
            known.get(permission)
            or self.admin.created("/organization-permissions", name=permission, description=text)["id"]
            for permission, text in permissions.items()
        ]
        result_of(self.admin.post(f"/organizations/{made}/users", user_ids=[str(self.user.pk)]))
        member = f"/organizations/{made}/users/{self.user.pk}"
        role = self.admin.created("/organization-roles", name=f"of {name}")
        result_of(self.admin.put(f"/organization-roles/{role['id']}/scopes", scope_ids=ids))
        result_of(self.admin.put(f"{member}/roles", organization_role_ids=[role["id"]]))
        if is_admin:
            result_of(self.admin.patch(member, is_admin=True))
        return made
