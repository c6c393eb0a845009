"""Programs that use an installation over HTTP, as its customers do."""

import itertools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from django.conf import settings

from tests.support import cast
from tests.support.independent import bearer
from tests.support.load import Sender


@dataclass
class Customers:
    """Two applications and an administrator of the default tenant, and what they were acknowledged."""

    machine_id: str
    machine: tuple[str, str]
    shop: tuple[str, str]
    administrator: str
    people: list[str]
    created: list[str] = field(default_factory=list)  # users, by name
    issued: int = 0  # tokens for the machine
    _turn: Iterator[int] = field(default_factory=itertools.count)

    def asking_for_tokens(self, send: Sender) -> Iterator[None]:
        while True:
            send("POST", "/oidc/token", data={"grant_type": "client_credentials"}, auth=self.machine)
            self.issued += 1
            yield

    def refreshing(self, send: Sender) -> Iterator[None]:
        """Refresh in an endless loop. Each refresh succeeds only if the one before was stored."""
        tokens = self.sign_in(send)
        while True:
            tokens = self.refresh(send, tokens)
            found = send("GET", "/oidc/userinfo", headers=bearer(tokens["access_token"])).json()
            assert found["sub"]
            yield

    def signing_in(self, send: Sender) -> Iterator[None]:
        while True:
            self.sign_in(send)
            send.http.cookies.clear()
            yield

    def managing(self, send: Sender) -> Iterator[None]:
        headers = bearer(self.administrator)
        while True:
            path = self.create(send)
            send("PATCH", path, json={"name": "Changed"}, headers=headers)
            assert send("GET", path, headers=headers).json()["result"]["name"] == "Changed"
            send("GET", "/api/v1/users?page_size=50", headers=headers)
            send("GET", "/api/v1/logs?page_size=50", headers=headers)
            yield

    def create(self, send: Any) -> str:
        """Make a user, and return the path that leads to it."""
        body = {"username": f"made-{secrets.token_hex(8)}", "password": cast.PASSWORD}
        made = send("POST", "/api/v1/users", json=body, headers=bearer(self.administrator))
        self.created.append(body["username"])
        return f"/api/v1/users/{made.json()['result']['id']}"

    def sign_in(
        self, send: Any, application: tuple[str, str] | None = None, agree: Any = None
    ) -> dict[str, Any]:
        """Sign the next person in for an application, the shop, and return its tokens.

        ``agree`` answers what the person is asked after the sign-in.
        """
        application = application or self.shop
        person = self.people[next(self._turn) % len(self.people)]
        verifier = cast.new_secret()
        request = {
            "client_id": application[0],
            "redirect_uri": cast.CALLBACK,
            "response_type": "code",
            "scope": "openid profile offline_access",
            "code_challenge": cast.s256(verifier),
            "code_challenge_method": "S256",
        }
        answer = send("GET", "/oidc/authorize", params=request, status=303)
        interaction = cast.query_of(answer.headers["Location"])["interaction"]
        body = {"identifier": person, "password": cast.PASSWORD, "interaction": interaction}
        answer = send("POST", "/api/interaction/sign-in", json=body)
        answer = send("GET", answer.json()["result"]["redirect_to"], status=303)
        if agree is not None:
            answer = agree(send, answer)
        form = {
            "grant_type": "authorization_code",
            "code": cast.query_of(answer.headers["Location"])["code"],
            "redirect_uri": cast.CALLBACK,
            "code_verifier": verifier,
        }
        tokens: dict[str, Any] = send("POST", "/oidc/token", data=form, auth=application).json()
        return tokens

    def refresh(self, send: Any, tokens: dict[str, Any]) -> dict[str, Any]:
        form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        refreshed: dict[str, Any] = send("POST", "/oidc/token", data=form, auth=self.shop).json()
        return refreshed


def arrive(http: httpx.Client, people: list[str]) -> Customers:
    """Make the applications, as an administrator."""
    credentials = {"username": settings.ADMIN_USERNAME, "password": settings.ADMIN_PASSWORD}
    token = http.post("/api/admin/sign-in", json=credentials).json()["result"]["access_token"]

    def application(**body: Any) -> dict[str, Any]:
        answer = http.post("/api/v1/applications", json=body, headers=bearer(token))
        assert answer.status_code == 200, answer.text
        made: dict[str, Any] = answer.json()["result"]
        return made | {"credentials": (made["client_id"], made["client_secret"])}

    machine = application(name="Machine", type="MachineToMachine")
    metadata = {"redirect_uris": [cast.CALLBACK]}
    shop = application(name="Shop", type="Traditional", oidc_client_metadata=metadata)
    return Customers(machine["id"], machine["credentials"], shop["credentials"], token, people)
