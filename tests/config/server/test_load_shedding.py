"""While every place for hashing is taken, those who need one are turned away before anything costly."""

import logging
from contextlib import nullcontext
from unittest import mock

import httpx
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config import errors
from config.server import load_shedding
from identity.http.error_page import error_page
from identity.users import passwords
from tests.support.cast import PASSWORD
from tests.support.error_shapes import Shape, find_shape
from tests.support.hashing_routes import HASHING, as_form, as_json

WORDS = ("Many people are signing in right now", "Wait a few seconds and try again.")
IN_GERMAN = "Gerade melden sich viele Menschen an"


# They need the link of a message first.
OF_LINKS = {"/admin/invitation/", "/admin/recover/new/"}
OF_PEOPLE = [path for path in HASHING if not path.startswith(("/api/", "/admin/"))]


@pytest.fixture
def http(address):
    """The application as the server calls it, in this process."""
    transport = httpx.WSGITransport(app=WSGIHandler())  # which wants static files: they are there by now
    with httpx.Client(transport=transport, base_url="http://gatehouse.example") as http:
        yield http


@pytest.fixture
def user(acme):
    """Somebody, whose password was hashed while there was a place for it."""
    return acme.user()


@pytest.fixture(params=["root", "tenant"])
def prefix(request, acme):
    return "" if request.param == "root" else f"/t/{acme.tenant.slug}"


def test_every_marked_view_is_tried_here_and_no_other():
    assert set(load_shedding.routes()) == set(HASHING)


@pytest.mark.parametrize("path", HASHING)
def test_without_a_place_it_is_503_in_the_shape_of_the_path_and_costs_no_statement(
    http, prefix, crowded, path
):
    with CaptureQueriesContext(connection) as statements:
        answer = http.post(prefix + path, **HASHING[path])

    assert [query["sql"] for query in statements] == []
    assert find_shape(answer, path) == Shape(503)
    assert answer.headers["Retry-After"] == "2"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    if path.startswith("/api/"):
        assert answer.json()["message"] == passwords.Busy.message
    else:
        assert all(words in answer.text for words in WORDS)
        assert answer.headers["X-Request-Id"] in answer.text


@pytest.mark.parametrize("path", HASHING)
def test_with_a_place_nobody_is_turned_away(http, prefix, crowded, path):
    crowded()

    answer = http.post(prefix + path, **HASHING[path])

    assert answer.status_code != 503


@pytest.mark.parametrize("path", OF_PEOPLE)
def test_people_are_told_in_their_language(http, acme, crowded, path):
    answer = http.post(f"/t/{acme.tenant.slug}{path}", headers={"Accept-Language": "de"}, **HASHING[path])

    assert IN_GERMAN in answer.text
    assert answer.headers["Content-Language"] == "de"
    assert 'lang="de"' in answer.text


def test_operators_are_told_in_their_language(http, crowded):
    answer = http.post("/admin/login/", headers={"Accept-Language": "de"}, **HASHING["/admin/login/"])

    assert IN_GERMAN in answer.text


def test_the_page_is_styled_as_those_of_its_tenant(http, acme, crowded):
    answer = http.post(f"/t/{acme.tenant.slug}/sign-in", **HASHING["/sign-in"])
    elsewhere = http.post("/sign-in", **HASHING["/sign-in"])

    assert f'href="/t/{acme.tenant.slug}/brand.css"' in answer.text
    assert 'href="/brand.css"' in elsewhere.text


def test_a_page_is_rendered_once_whatever_tenants_are_named(http, crowded, monkeypatch):
    rendered = mock.Mock(wraps=error_page)
    monkeypatch.setattr(errors, "error_page", rendered)
    errors._render_overloaded.cache_clear()

    answers = [http.post(f"/t/tenant-{number}/sign-in", **HASHING["/sign-in"]) for number in range(5)]

    assert rendered.call_count == 1
    for number, answer in enumerate(answers):
        assert f'href="/t/tenant-{number}/brand.css"' in answer.text
        assert answer.headers["X-Request-Id"] in answer.text
        assert "in-place-of" not in answer.text


def test_it_tells_nothing_of_accounts_or_tenants(http, acme, user, crowded):
    path = "/api/interaction/sign-in"
    here, nowhere = f"/t/{acme.tenant.slug}{path}", f"/t/no-such-tenant{path}"

    known = http.post(here, json={"identifier": user.username, "password": PASSWORD})
    wrong = http.post(here, json={"identifier": user.username, "password": "wrong password"})
    unknown = http.post(here, json={"identifier": "nobody", "password": PASSWORD})
    no_tenant = http.post(nowhere, json={"identifier": "nobody", "password": PASSWORD})

    assert known.content == wrong.content == unknown.content == no_tenant.content
    assert {len(answer.headers) for answer in (known, wrong, unknown, no_tenant)} == {len(known.headers)}


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in HASHING
        if not {"forgot-password", "passkey", "my-account"} & set(path.split("/")) | OF_LINKS & {path}
    ],
)  # a new password needs a proven address, a passkey is verified first, and an account needs a session
def test_whoever_came_past_the_door_is_refused_a_place_all_the_same(http, acme, crowded, monkeypatch, path):
    at_the_door = http.post(path, **HASHING[path])
    monkeypatch.setattr(passwords, "reserve_place", lambda: nullcontext(enter_result=True))
    monkeypatch.setattr(passwords, "check_capacity", lambda: None)

    form = {}
    if not path.startswith("/api/"):
        form = {"csrfmiddlewaretoken": token_of(http, path)}
    inside = http.post(path, **{kind: body | form for kind, body in HASHING[path].items()})

    assert inside.status_code == 503
    assert inside.headers["Retry-After"] == at_the_door.headers["Retry-After"]
    if path.startswith("/api/"):
        assert inside.json() == at_the_door.json()
        assert inside.headers["Cache-Control"] == at_the_door.headers["Cache-Control"]
    elif not path.startswith("/admin/"):
        assert all(words in inside.text for words in WORDS)


def token_of(http, path):
    http.get(path)
    return next(value for name, value in http.cookies.items() if name.endswith("csrf"))


class TestEverybodyElse:
    def test_tokens_are_issued(self, http, acme, crowded):
        machine = acme.application("MachineToMachine")

        answer = http.post(
            f"/t/{acme.tenant.slug}/oidc/token",
            data={"grant_type": "client_credentials"},
            auth=machine.basic,
        )

        assert answer.status_code == 200
        assert answer.json()["access_token"]

    @pytest.mark.parametrize("path", ["/sign-in", "/register", "/admin/login/", "/healthz", "/api/docs"])
    def test_pages_are_shown(self, http, prefix, crowded, path):
        assert http.get(path).status_code == 200

    @pytest.mark.parametrize(
        ("path", "sent"),
        [
            ("/sign-in/code", as_form(identifier="a@x.example")),
            ("/register", as_form(identifier="a@x.example")),
            ("/register", as_form(username="somebody", password="")),
            ("/register", {"content": b"password=x", "headers": {"Content-Type": "text/plain"}}),
            ("/forgot-password", as_form(identifier="a@x.example")),
            ("/api/interaction/register", as_json(username="somebody", password="")),
            ("/api/interaction/register", as_json(username="somebody")),
            ("/api/interaction/register", {"json": ["password"]}),
            (
                "/api/interaction/register",
                {"content": b"{", "headers": {"Content-Type": "application/json"}},
            ),
            ("/api/interaction/verification-code", as_json(identifier="a@x.example")),
            ("/api/v1/users", as_json(username="somebody", password=PASSWORD)),
            ("/nothing", as_form(password=PASSWORD)),
            ("/sign-in/", as_form(password=PASSWORD)),
        ],
    )
    def test_what_needs_no_hash_is_answered(self, http, prefix, crowded, path, sent):
        assert http.post(prefix + path, **sent).status_code in {400, 401, 403, 404}

    def test_a_body_that_is_too_large_is_told_so(self, http, crowded):
        large = PASSWORD * 100_000

        assert http.post("/register", data={"password": large}).status_code == 413
        assert http.post("/api/interaction/register", json={"password": large}).status_code == 413

    def test_the_body_that_was_looked_into_can_still_be_read(self, http, crowded):
        answer = http.post("/api/interaction/register", json={"username": "a b", "password": ""})

        assert answer.status_code == 400
        assert answer.json()["message"] == "password: is required"


def test_operators_learn_of_it_in_one_line_and_not_in_one_a_request(http, crowded, caplog):
    with caplog.at_level(logging.INFO):
        for _ in range(20):
            http.post("/sign-in", **HASHING["/sign-in"])

    assert len(caplog.records) <= 1
