"""Userinfo before Django's handler: which requests the surface answers, and what a refusal costs."""

from typing import Any

import httpx
import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from audit.models import Entry
from config.server import surfaces
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.keys import retirement
from oidc.provider import userinfo, userinfo_surface
from tests.support import comparison
from tests.support.cast import RelyingParty
from tests.support.in_process import InProcessWorld, SurfacesWorld
from tests.support.independent import bearer

USERINFO = "/oidc/userinfo"
LARGE = "x" * 2_000  # as a claim it is left out
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
OMIT = {"name": "big", "source": "user.custom_data.big", "into": ["userinfo"]}


@pytest.fixture
def here(database) -> SurfacesWorld:
    """A tenant that this process serves, surfaces included."""
    return SurfacesWorld.known()


@pytest.fixture
def client(here: SurfacesWorld) -> RelyingParty:
    return here.application()


@pytest.fixture
def token(client: RelyingParty) -> str:
    user = client.world.user(email="ada@acme.example", custom_data={"big": LARGE})
    issued: str = client.tokens_for(user)["access_token"]
    client.userinfo(issued)  # the key of the token is loaded from now on
    return issued


@pytest.fixture
def answered(monkeypatch) -> list[bool]:
    """Whether the surface answered, of each request from now on."""
    answers: list[bool] = []

    def serve(environ: dict[str, Any], request_id: str) -> Any:
        answer = yield from userinfo_surface.serve(environ, request_id)
        answers.append(answer is not None)
        return answer

    monkeypatch.setitem(surfaces.by_path(), USERINFO, ("oidc:userinfo", serve))
    return answers


def send(world: InProcessWorld, method: str, **options: Any) -> httpx.Response:
    return world._ask(method, USERINFO, options)


def statements_of(request: Any) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        request()
    return [query["sql"] for query in captured]


def headers_of(answer: httpx.Response) -> list[tuple[str, str]]:
    return [item for item in answer.headers.multi_items() if item[0] != "x-request-id"]


class TestTheSurface:
    @pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
    def test_answers_with_one_statement_and_the_headers_of_the_view(self, here, token, answered, method):
        seen = statements_of(lambda: send(here, method, headers=bearer(token)))
        ours = send(here, method, headers=bearer(token))
        theirs = send(InProcessWorld.of(here), method, headers=bearer(token))

        assert answered == [True, True]
        assert len(seen) == 1
        assert headers_of(ours) == headers_of(theirs)
        assert (ours.status_code, ours.content) == (theirs.status_code, theirs.content)

    def test_and_the_session_context_answer_the_same_token_in_turn(self, here, token):
        for _ in range(2):
            context = here.get("/api/session/context", headers=bearer(token))
            claims = send(here, "GET", headers=bearer(token))

            assert (context.status_code, claims.status_code) == (200, 200)
            assert context.json()["result"]["user"]["id"] == claims.json()["sub"]

    @pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER   "])
    def test_answers_every_spelling_of_the_scheme(self, here, token, answered, scheme):
        answer = send(here, "GET", headers={"Authorization": f"{scheme}{token}"})

        assert (answer.status_code, answered) == (200, [True])

    @pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
    def test_signs_as_the_view_does(self, here, client, token, answered, algorithm):
        with here.active():
            applications.change(
                client.application, {"userinfo_signed_response_alg": algorithm}, is_proven=True
            )

        ours = send(here, "GET", headers=bearer(token))
        theirs = send(InProcessWorld.of(here), "GET", headers=bearer(token))

        assert answered == [True]
        assert headers_of(ours) == headers_of(theirs)
        assert ours.headers["Content-Type"] == "application/jwt"
        assert ours.text.rpartition(".")[0] == theirs.text.rpartition(".")[0]

    def test_answers_as_json_if_the_algorithm_is_retired_meanwhile(
        self, here, client, token, answered, monkeypatch
    ):
        build = userinfo.build

        def name(algorithm: str) -> None:
            row = Application.objects.get(pk=client.application.pk)
            applications.change(row, {"userinfo_signed_response_alg": algorithm}, is_proven=True)

        def retire_and_build(principal: Any) -> Any:
            monkeypatch.setattr(userinfo, "build", build)
            name("")
            retirement.retire("EdDSA")
            return build(principal)

        with here.active():
            name("EdDSA")
        monkeypatch.setattr(userinfo, "build", retire_and_build)

        answer = send(here, "GET", headers=bearer(token))

        assert (answer.status_code, answered) == (200, [True])
        assert answer.headers["Content-Type"] == "application/json"

    @pytest.mark.parametrize(
        ("method", "options"),
        [
            *(("PUT", {}), ("OPTIONS", {}), ("GET", {"params": {"a": "b"}}), ("GET", {"content": b"x"})),
            *(("POST", {"content": b"a=b", "headers": FORM}), ("GET", {"headers": {"Origin": ""}})),
            ("POST", {"headers": {"Origin": "https://rp.example"}}),
            ("GET", {"headers": {"Cookie": "gatehouse-csrf=x"}}),
            ("POST", {"headers": {"Transfer-Encoding": "chunked"}, "content": iter([b"a=b"])}),
        ],
        ids=str,
    )
    def test_leaves_what_is_unusual_to_django(self, here, token, answered, method, options):
        headers = options.get("headers", {}) | bearer(token)

        send(here, method, **(options | {"headers": headers}))

        assert answered == [False]

    @pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic YTpi", "x"])
    def test_leaves_a_request_without_a_token_to_django(self, here, answered, header):
        answer = send(here, "GET", headers={} if header is None else {"Authorization": header})

        assert (answer.status_code, answered) == (401, [False])
        assert statements_of(lambda: send(here, "GET")) == []

    def test_records_left_out_claims_as_those_of_its_request(self, here, client, token, answered):
        with here.active():
            applications.change(client.application, {"custom_claims": [OMIT]}, is_proven=True)
        sent = bearer(token) | {"User-Agent": "relying-party/1", "X-Forwarded-For": "203.0.113.7"}

        with override_settings(TRUSTED_PROXIES=frozenset({"127.0.0.1"})):
            answer = send(here, "GET", headers=sent)

        assert answered == [True]
        entry = Entry.objects.of_request(answer.headers["X-Request-Id"]).get()
        assert (entry.key, entry.tenant_id) == ("CustomClaim.Omit", here.tenant.pk)
        assert (entry.ip, entry.user_agent) == ("203.0.113.7", "relying-party/1")


class TestARefusal:
    def test_is_decided_once(self, here, client, token, answered):
        with here.active():
            applications.remove(client.application)

        ours = statements_of(lambda: send(here, "GET", headers=bearer(token)))
        theirs = statements_of(lambda: send(InProcessWorld.of(here), "GET", headers=bearer(token)))

        assert answered == [False]
        assert len(ours) == len(theirs) > 0
        assert send(here, "GET", headers=bearer(token)).status_code == 401

    def test_of_a_scope_is_that_of_the_view(self, here, client, answered):
        first = client.tokens_for(here.user())
        narrow = client.refresh(first["refresh_token"], scope="profile").json()["access_token"]

        ours = send(here, "GET", headers=bearer(narrow))
        theirs = send(InProcessWorld.of(here), "GET", headers=bearer(narrow))

        assert answered == [False]
        assert (ours.status_code, ours.content) == (theirs.status_code, theirs.content)
        assert ours.status_code == 403
        assert headers_of(ours) == headers_of(theirs)

    @pytest.mark.parametrize("name", ["gatehouse.refusal", "Gatehouse-Refusal"])
    def test_cannot_be_sent(self, here, token, name):
        answer = send(here, "POST", headers=bearer(token) | {name: "x", "Cookie": "a=b"})

        assert answer.status_code == 200


def test_the_server_of_the_run_has_compared_userinfo_with_the_view(acme):
    client = acme.application()
    token = client.tokens_for(acme.user())["access_token"]

    answers = [client.userinfo(token) for _ in range(6)]  # more than one for each worker

    [*_, last] = (answer.headers["X-Request-Id"] for answer in answers)
    by_id = {line[3]: line[0] for line in comparison.lines() if line[0] != "differs"}
    assert by_id[last] == "by its surface"
    assert comparison.differences() == []
