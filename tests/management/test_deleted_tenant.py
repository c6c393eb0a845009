"""Decision T4, case G22: a tenant that was deleted, as every worker and every address knows it."""

import re
import time

import pytest
from django.urls import get_resolver

from tests.support import cast, management
from tests.support.endpoints import methods, routes
from tests.support.independent import bearer
from tests.support.management import result_of

# Good for many a write, so that something is tried.
ANYTHING = {
    "identifier": "zebulon@acme.example",
    "identifier_type": "email",
    "interaction_type": "sign_in",
    "username": "newcomer",
    "password": cast.PASSWORD,
    "new_password": cast.PASSWORD,
    "code": "123456",
    "name": "Anything",
    "type": "User",
    "phone": "+4930123456",
}


def addresses(pk: str) -> list[tuple[str, str]]:
    return [
        (method, re.sub(r":\w+", pk, path))
        for path, _, pattern in routes(get_resolver())
        for method in sorted(methods(pattern))
    ]


def known_to_every_worker(world: cast.World) -> None:
    for _ in range(12):
        assert world.get("/.well-known/jwks.json").json()["keys"]


def forgotten_by_every_worker(world: cast.World) -> bool:
    """Say whether it is unknown to all within the time that decision T4 gives."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if {world.get("/.well-known/openid-configuration").status_code for _ in range(12)} == {404}:
            return True
        time.sleep(0.2)
    return False


@pytest.fixture
def root(address):
    return management.superuser(cast.default_world())


def test_decision_T4_case_G22_nothing_of_it_can_be_had_any_more(acme, rival, root):
    client, user, browser = (
        acme.application(),
        acme.user("zebulon", email="zebulon@acme.example"),
        acme.browser(),
    )
    tokens, code = client.tokens_for(user, browser), browser.code_for(client, user)
    robot, admin = management.machine(acme), management.superuser(acme)
    known_to_every_worker(acme)

    result_of(root.delete(f"/tenants/{acme.tenant.pk}"))

    answers = [
        client.redeem(code),
        client.refresh(tokens["refresh_token"]),
        acme.post("/oidc/token", data={"grant_type": "client_credentials"}, auth=client.basic),
        acme.post("/oidc/revoke", data={"token": tokens["refresh_token"]}, auth=client.basic),
        client.userinfo(tokens["access_token"]),
        acme.get("/api/session/context", headers=bearer(tokens["access_token"])),
        robot.get("/users"),
        browser.sign_in(user),
    ]
    assert [answer.text for answer in answers if answer.status_code not in {401, 404}] == []
    for method, path in addresses(str(user.pk)):
        for token in (tokens["access_token"], robot.token, admin.token):
            answer = browser.http.request(
                method, f"{acme.address}{path}", headers=bearer(token or ""), json=ANYTHING
            )
            # A worker may know its name for some seconds more, and finds nothing in it.
            assert answer.status_code not in {429, *range(500, 600)}, f"{method} {path}: {answer.text}"
            assert "zebulon" not in answer.text
            assert client.client_id not in answer.text
    assert forgotten_by_every_worker(acme)
    for method, path in addresses(str(user.pk)):
        assert browser.http.request(method, f"{acme.address}{path}").status_code == 404, path


def test_case_G22_the_others_go_on(acme, rival, root):
    client, user = rival.application(), rival.user()
    tokens = client.tokens_for(user)
    known_to_every_worker(acme)

    result_of(root.delete(f"/tenants/{acme.tenant.pk}"))

    assert client.userinfo(tokens["access_token"]).status_code == 200
    assert client.refresh(tokens["refresh_token"]).status_code == 200
    assert rival.get("/.well-known/jwks.json").json()["keys"]
    assert root.get("/users").status_code == 200
