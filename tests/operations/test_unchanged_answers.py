"""A tenant that switches nothing on is answered as by the last release.

Both releases serve the same journeys, each with a database of its own. Every status, header field and body is
compared. Ids, secrets and times are replaced by words, see ``tests/support/comparable.py``.
"""

import difflib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from django.conf import settings

from tests.support import releases, second, server, stage
from tests.support.cast import CALLBACK, PASSWORD, new_secret, query_of, s256
from tests.support.comparable import text_of
from tests.support.forms import forms
from tests.support.independent import bearer

pytestmark = pytest.mark.skipif(
    not os.environ.get("GATEHOUSE_THOROUGH"), reason="starts two releases: only with GATEHOUSE_THOROUGH=1"
)
_NEW_PASSWORD: Final = "another long password, 2 of 2"
_GET: Final = (
    "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/.well-known/jwks.json",
    "/.well-known/change-password", "/.well-known/security.txt", "/robots.txt", "/brand.css", "/",
    "/api/interaction/sign-in-experience", "/api/interaction/next", "/sign-in", "/register",
    "/forgot-password", "/sign-in/code", "/sign-in/second-factor", "/sign-in/set-up", "/sign-in/backup-codes",
    "/account", "/confirm",
)  # fmt: skip
_ACCOUNT: Final = (
    "/account", "/account/profile", "/account/username", "/account/email", "/account/phone",
    "/account/password", "/account/security", "/account/security/authenticator", "/account/security/passkeys",
    "/account/security/codes", "/account/language", "/account/activity", "/account/browsers",
    "/account/applications", "/account/linked", "/account/data", "/account/delete", "/confirm",
    "/api/my-account/sessions", "/api/my-account/grants",
)  # fmt: skip
# By release, the lines that differ on purpose: the name of the answer, and a pattern of the line.
_MEANT: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "0.5.0": (
        ("(API|POST) (register|right password)|POST password", r"^\+set-cookie: gatehouse-proofs\."),
        ("(API|POST) register", r"^\+set-cookie: gatehouse-browser\."),
    ),
    "0.5.1": (
        ("token refresh refused", r'^[+-] "error_description": "The (code or )?refresh token'),
        ("(GET|POST) (right|wrong) password|nobody /sign-in", r"^-$"),  # an empty line of the sign-in page
    ),
}


class Journeys:
    """A user and an application of the default tenant, and all answers that they get, by name."""

    def __init__(self, address: str) -> None:
        self.http = httpx.Client(base_url=address, timeout=30)
        self.answers: dict[str, list[str]] = {}
        self.known = {address: "(address)", address.rpartition(":")[2]: "(port)"}
        credentials = {"username": settings.ADMIN_USERNAME, "password": settings.ADMIN_PASSWORD}
        token = self.http.post("/api/admin/sign-in", json=credentials).json()["result"]["access_token"]
        self.administrator = bearer(token)
        body = {"username": "ada", "password": PASSWORD, "name": "Ada", "email": "ada@rp.example"}
        self._create("/api/v1/users", body)
        metadata = {"redirect_uris": [CALLBACK], "post_logout_redirect_uris": [CALLBACK]}
        made = self._create(
            "/api/v1/applications", {"name": "Shop", "type": "Traditional", "oidc_client_metadata": metadata}
        )
        self.basic = (made["client_id"], made["client_secret"])
        self.known |= {made["client_id"]: "(client)", made["client_secret"]: "(client secret)"}
        self.verifier = new_secret()

    def _create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post(path, json=body, headers=self.administrator)
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json()["result"]
        return result

    def send(self, name: str, method: str, path: str, **options: Any) -> httpx.Response:
        answer = self.http.request(method, path, **options)
        assert name not in self.answers
        self.answers[name] = text_of(answer, self.known)
        return answer

    def authorize(self, name: str, **changes: str) -> httpx.Response:
        request = {
            "client_id": self.basic[0],
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "scope": "openid profile email offline_access",
            "state": "af0ifjsldkj",
            "nonce": "n-0S6_WzA2Mj",
            "code_challenge": s256(self.verifier),
            "code_challenge_method": "S256",
        }
        return self.send(f"authorize {name}", "GET", "/oidc/authorize", params=request | changes)

    def token(self, name: str, **form: str) -> httpx.Response:
        return self.send(f"token {name}", "POST", "/oidc/token", data=form, auth=self.basic)

    def redeem(self, name: str, answer: httpx.Response) -> dict[str, Any]:
        code = query_of(answer.headers["Location"])["code"]
        form = {"code": code, "redirect_uri": CALLBACK, "code_verifier": self.verifier}
        tokens: dict[str, Any] = self.token(name, grant_type="authorization_code", **form).json()
        return tokens

    def fill(self, name: str, path: str, number: int = 0, /, **typed: str) -> httpx.Response:
        """Open a page and send one of its forms."""
        page = self.send(f"GET {name}", "GET", path)
        form = forms(page)[number]
        return self.send(f"POST {name}", "POST", form.action or path, data=form.fields | typed)

    def run(self) -> dict[str, list[str]]:
        """Go through all journeys and return the answers."""
        for path in _GET:
            self.send(f"nobody {path}", "GET", path)
        self._sign_in_by_page()
        self._ask_for_more()
        self._see_account()
        self._sign_in_by_api()
        self._register()
        self._sign_out()
        self.send("log", "GET", "/api/v1/logs?page_size=100", headers=self.administrator)
        self.http.close()
        return self.answers

    def _sign_in_by_page(self) -> None:
        answer = self.authorize("by page")
        where = answer.headers["Location"]
        typed = {"identifier": "ada", "password": PASSWORD}
        self.fill("wrong password", where, **typed | {"password": "wrong"})
        self.fill("right password", where, **typed, keep_signed_in="on")
        resumed = self.send("resume", "GET", f"/oidc/authorize/{query_of(where)['interaction']}")
        self.tokens = self.redeem("code", resumed)
        for name in ("userinfo", "context"):
            path = {"userinfo": "/oidc/userinfo", "context": "/api/session/context"}[name]
            self.send(name, "GET", path, headers=bearer(self.tokens["access_token"]))
        refresh = {"grant_type": "refresh_token", "refresh_token": self.tokens["refresh_token"]}
        self.tokens |= self.token("refresh", **refresh).json()
        self.token("refresh refused", **refresh | {"refresh_token": "wrong"})

    def _ask_for_more(self) -> None:
        """Ask for what a tenant without second factors cannot give."""
        level = "urn:service:acr:2fa"
        essential = '{"id_token":{"acr":{"essential":true,"values":["%s"]},"auth_time":null}}'
        self.redeem("session", self.authorize("session", prompt="none"))
        self.redeem("acr_values", self.authorize("acr_values", acr_values=level))
        self.redeem("wished acr", self.authorize("wished acr", claims='{"id_token":{"acr":null,"amr":null}}'))
        self.redeem("max_age", self.authorize("max_age", max_age="3600"))
        self.authorize("essential acr", claims=essential % level)
        self.authorize("essential acr without a page", claims=essential % level, prompt="none")
        self.authorize("unknown acr", acr_values="gold", claims=essential % "gold")
        self.authorize("again", prompt="login")
        self.authorize("max_age 0", max_age="0", acr_values=level)

    def _see_account(self) -> None:
        for path in _ACCOUNT:
            self.send(f"own {path}", "GET", path)
        self.fill("profile", "/account/profile", name="Ada Lovelace")
        self.fill("password", "/account/password", password=PASSWORD, new_password=_NEW_PASSWORD)
        self.fill("data", "/account/data", password=_NEW_PASSWORD)

    def _sign_in_by_api(self) -> None:
        self.http.cookies.clear()
        where = self.authorize("by API").headers["Location"]
        interaction = query_of(where)["interaction"]
        right = {"identifier": "ada", "password": _NEW_PASSWORD, "interaction": interaction}
        path = "/api/interaction/sign-in"
        self.send("API next", "GET", f"/api/interaction/next?interaction={interaction}")
        self.send("API wrong password", "POST", path, json=right | {"password": "wrong"})
        self.send("API unknown field", "POST", path, json=right | {"identifier": ""})
        for action in ("totp", "backup-code", "recovery-code", "code", "skip", "set-up/totp"):
            body = {"code": "123456", "type": "EmailVerificationCode"}
            self.send(f"API mfa/{action}", "POST", f"/api/interaction/mfa/{action}", json=body)
        for ceremony in ("sign_in", "second_factor", "set_up"):
            body = {"ceremony": ceremony}
            self.send(f"API passkey {ceremony}", "POST", "/api/interaction/passkey/options", json=body)
        answer = self.send("API right password", "POST", path, json=right)
        resumed = self.send("API resume", "GET", answer.json()["result"]["redirect_to"])
        self.redeem("by API", resumed)

    def _register(self) -> None:
        self.http.cookies.clear()
        form = {"identifier": "grace", "username": "grace", "password": PASSWORD}
        self.fill("register", "/register", **form)
        self.send("own account after registration", "GET", "/account")
        body = {"identifier": "mary", "username": "mary", "password": PASSWORD}
        self.http.cookies.clear()
        self.send("API register", "POST", "/api/interaction/register", json=body)

    def _sign_out(self) -> None:
        self.send(
            "revoke", "POST", "/oidc/revoke", data={"token": self.tokens["refresh_token"]}, auth=self.basic
        )
        self.send("ended", "GET", "/oidc/userinfo", headers=bearer(self.tokens["access_token"]))
        hint = {"id_token_hint": self.tokens["id_token"], "post_logout_redirect_uri": CALLBACK}
        self.send("sign out", "GET", "/oidc/end-session", params=hint)


def answers_of(code: Path, folder: Path, name: str, *, migrated: bool = False) -> dict[str, list[str]]:
    """Install a release, serve it, and return the answers of all journeys.

    ``migrated`` is whether to begin with the tables of what is checked out.
    """
    port = str(second.free_port())
    with stage.database(f"unchanged_{name}_{port}", migrated=migrated) as url:
        environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": url,
            "VAR_DIR": str(folder),
            "PORT": port,
            "BASE_URL": f"http://127.0.0.1:{port}",
            "WEB_CONCURRENCY": "1",
        }
        for command in (["migrate", "--no-input"], ["bootstrap"], ["collectstatic", "--no-input"]):
            stage.manage(environment, *command, code=code)
        with server.process(code, **environment):
            return Journeys(environment["BASE_URL"]).run()


def differences(before: dict[str, list[str]], now: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Yield the lines that differ, with the name of the answer."""
    for name in before.keys() | now.keys():
        lines = difflib.unified_diff(before.get(name, []), now.get(name, []), lineterm="", n=0)
        yield from ((name, line) for line in lines if not line.startswith(("---", "+++", "@@")))


def test_decision_O10_a_tenant_that_switches_nothing_on_is_answered_as_before(database, tmp_path):
    version = releases.last_release()
    assert version is not None
    before = answers_of(releases.code_of(version, tmp_path / "code"), tmp_path / "before", "before")
    now = answers_of(releases.code_of_now(tmp_path / "now"), tmp_path / "after", "now", migrated=True)

    assert {before[name][0] for name in ("token code", "userinfo", "token by API", "log")} == {"200"}
    found = sorted(differences(before, now))
    meant = _MEANT.get(version, ())

    unmeant = [one for one in found if not any(_is_meant(one, row) for row in meant)]
    assert unmeant == []
    assert [row for row in meant if not any(_is_meant(one, row) for one in found)] == []


def _is_meant(found: tuple[str, str], row: tuple[str, str]) -> bool:
    return re.fullmatch(row[0], found[0]) is not None and re.search(row[1], found[1]) is not None
