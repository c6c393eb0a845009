"""Administrators at the operators' site, whose forms are submitted as by a browser."""

import html
import os
import re
import secrets
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from django.contrib.admin import site
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from playwright.sync_api import Page

from identity.core import tenancy
from identity.operator_kit import fresh_proof
from identity.users import passwords
from interaction.experience.forms import MESSAGES
from management.administrators import services as administrators
from management.administrators.models import Administrator
from management.site import chosen_tenant
from management.site.sessions import SessionStore
from tests.support import cast
from tests.support.cast import PASSWORD, World

THOROUGH = bool(os.environ.get("GATEHOUSE_THOROUGH"))
_IN_OTHER_LANGUAGES = {f"message-{key.name}" for key in MESSAGES if key.language not in {"", "ar"}}


def administrator(**fields: Any) -> Administrator:
    """Return a new superuser, unless the fields say otherwise. The password is that of all tests."""
    fields.setdefault("is_superuser", "tenants" not in fields)
    hashed = cast.hash_of_the_password()  # a new hash takes longer than the rest
    with (
        tenancy.using(tenancy.DEFAULT),
        mock.patch.object(passwords, "hash_password", return_value=hashed),
    ):
        return administrators.create(username=f"op-{secrets.token_hex(4)}", password=PASSWORD, **fields)


def sign_in_administrator(page: Page, root: str, acme: World) -> None:
    """Sign a new administrator in to the operators' site in a browser, and choose the tenant."""
    page.goto(f"{root}/admin/")
    page.get_by_label("Username").fill(administrator().username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_label("Name or slug").fill(acme.tenant.slug)
    page.get_by_role("button", name="Search").click()
    page.locator("ul.tenants button").first.click()


def _new_http() -> httpx.Client:
    client = cast.new_client()
    client.base_url = httpx.URL(settings.BASE_URL)
    return client


@dataclass
class Operator:
    """A browser at the site; ``who`` signs in with the password of all tests."""

    who: Administrator
    http: Any = field(default_factory=_new_http)
    tenant: str = ""  # the one that was chosen

    def get(self, path: str, **options: Any) -> Any:
        return self.http.get(path, **options)

    def submit(self, path: str, *, page: str = "", **typed: Any) -> Any:
        """Open a page, fill in its form and send it with all the hidden fields it has."""
        return self.http.post(path, data=hidden_fields(self.get(page or path)) | typed)

    def sign_in(self, password: str = PASSWORD, **typed: str) -> Any:
        return self.submit("/admin/login/", username=self.who.username, password=password, **typed)

    def choose(self, world: World) -> "Operator":
        answer = self.submit("/admin/tenant/", tenant=world.tenant.pk)
        assert answer.status_code == 303, answer.text
        self.tenant = world.tenant.pk
        return self


def hidden_fields(answer: Any) -> dict[str, str]:
    """Return the hidden fields of the form of a page."""
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text_of(answer))
    return {name: html.unescape(value) for name, value in found}


def text_of(answer: Any) -> str:
    """Return the content of a response of httpx or of Django."""
    return str(answer.text if hasattr(answer, "text") else answer.content.decode())


def at(world: World, who: Administrator | None = None) -> Operator:
    """Somebody who is signed in and works in a tenant.

    The session is written as the sign-in and the choice of the tenant do, which have tests of their own: that
    saves four requests and a hash in every test of the site.
    """
    operator = Operator(who or administrator(), tenant=world.tenant.pk)
    session = SessionStore()
    session[SESSION_KEY] = operator.who.pk
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = operator.who.get_session_auth_hash()
    session[chosen_tenant.KEY] = world.tenant.pk
    now = int(time.time())
    session["used_at"] = now  # of idle_sessions
    session[fresh_proof._KEY] = now
    session.set_expiry(timedelta(seconds=settings.SESSION_COOKIE_AGE))
    session.create()
    host = urlsplit(settings.BASE_URL).hostname or ""
    operator.http.cookies.set(settings.SESSION_COOKIE_NAME, session.session_key, domain=host)
    return operator


def pages() -> list[Any]:
    """The pages of every kind of row that the site has."""
    return list(site._registry.values())


def operations(kind: Any) -> list[Any]:
    """What is done to a kind of row. Of each message there is one form for each language: two of these.

    A thorough run has all, 421 of the sign-in experience.
    """
    every = list(kind.catalogue.all())
    return every if THOROUGH else [one for one in every if one.name not in _IN_OTHER_LANGUAGES]


def address_of(pages_of_kind: Any, *parts: object) -> str:
    """The path of a list, of a row, or of what is done to it."""
    meta = pages_of_kind.opts
    below = "".join(f"{part}/" for part in parts)
    return f"/admin/{meta.app_label}/{meta.model_name}/{below}"
