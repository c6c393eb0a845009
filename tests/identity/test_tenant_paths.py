"""How a path picks a tenant."""

import httpx
import pytest
from django.conf import settings as configured
from django.test import Client
from django.urls import get_script_prefix, set_script_prefix

from identity.core import tenancy
from tests.support import wire
from tests.support.threads import at_once

# One path of every shape: an envelope, OAuth's JSON, a page.
API = ["/api/interaction/sign-in-experience", "/api/admin/me", "/api/nothing"]
OAUTH = [
    "/.well-known/openid-configuration",
    "/oidc/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server",
    "/.well-known/jwks.json",
    "/oidc/token",
    "/oidc/userinfo",
]
PAGES = ["/", "/sign-in", "/account", "/oidc/authorize", "/oidc/end-session", "/nothing"]


def has_shape_of(path, answer):
    """Say whether the body of a 404 has the shape that belongs to a path."""
    if path.startswith("/api/"):
        return answer.json() == {"code": 404, "message": answer.json()["message"], "result": ""}
    if path in OAUTH:
        return set(answer.json()) == {"error", "error_description"}
    return answer.headers["Content-Type"].startswith("text/html") and "There is nothing here" in answer.text


class TestPaths:
    """/t/{slug} is moved into the script prefix."""

    @pytest.mark.parametrize("path", API + OAUTH + PAGES)
    @pytest.mark.parametrize("slug", ["default", "no-such-tenant", "UPPER", "a_b", "%2e%2e", "x" * 64, "é"])
    def test_decision_T1_an_unknown_tenant_is_404_in_the_shape_of_the_path(self, address, slug, path):
        answer = httpx.get(f"{address}/t/{slug}{path}")

        assert answer.status_code == 404, answer.text
        assert has_shape_of(path, answer), answer.text

    @pytest.mark.parametrize("slug", ["default", "no-such-tenant"])
    def test_decision_T1_an_unknown_tenant_takes_no_post(self, address, slug):
        answer = httpx.post(
            f"{address}/t/{slug}/api/admin/sign-in", json={"username": "admin", "password": "x"}
        )

        assert answer.status_code == 404, answer.text
        assert has_shape_of("/api/admin/sign-in", answer), answer.text

    @pytest.mark.parametrize("path", ["/t", "/t/", "/t//", "/t//sign-in", "/t/default", "/t/{slug}"])
    def test_a_prefix_without_a_path_is_404(self, acme, address, path):
        answer = httpx.get(f"{address}{path.format(slug=acme.tenant.slug)}")

        assert answer.status_code == 404

    @pytest.mark.parametrize(
        "path",
        [
            "/t/{acme}/t/{rival}/.well-known/jwks.json",
            "/t/{acme}/../{rival}/.well-known/jwks.json",
            "/t/{acme}//.well-known/jwks.json",
            "//t/{acme}/.well-known/jwks.json",
            "/./t/{acme}/.well-known/jwks.json",
            "/T/{acme}/.well-known/jwks.json",
            "/t/{acme}%2F.well-known/jwks.jsonx",
            "/t/{acme};x=1/.well-known/jwks.json",
            "/t/{acme}%00/.well-known/jwks.json",
            "/t/{acme}%0a/.well-known/jwks.json",
            "/t/{acme}%20/.well-known/jwks.json",
            "/t/{acme}/.well-known/jwks.json/",
            "/t/{acme}/.well-known/..%2f..%2ft/{rival}/.well-known/jwks.json",
        ],
    )
    def test_other_spellings_are_no_tenant(self, acme, rival, address, path):
        spelt = path.format(acme=acme.tenant.slug, rival=rival.tenant.slug)

        answer = wire.send(address, "GET", spelt.encode())

        assert answer.status == 404
        assert b'"keys"' not in answer.body

    def test_decision_T1_the_same_path_is_another_place_in_each_tenant(self, acme, rival, address):
        path = "/.well-known/jwks.json"

        sets = [httpx.get(f"{place}{path}").json() for place in (address, acme.address, rival.address)]

        kids = [key["kid"] for published in sets for key in published["keys"]]
        assert len(set(kids)) == len(kids) == 3

    def test_decision_T1_every_address_that_a_page_shows_stays_in_the_tenant(self, acme):
        client = acme.application()
        browser = acme.browser()

        page = browser.get(browser.authorize(client).headers["Location"])

        assert f'action="/t/{acme.tenant.slug}/sign-in"' in page.text
        assert 'href="/sign-in' not in page.text

    def test_a_relative_looking_static_url_does_not_carry_the_first_tenants_prefix(self, acme, rival):
        first, second = acme.get("/sign-in").text, rival.get("/sign-in").text

        assert acme.tenant.slug in first
        assert acme.tenant.slug not in second
        assert "/static/" in second
        assert f"{rival.tenant.slug}/static/" not in second


class TestPrefixInThisProcess:
    """The script prefix is a variable of the thread: the next request must not inherit it."""

    @pytest.fixture(autouse=True)
    def _at_the_root(self):
        set_script_prefix("/")
        yield
        set_script_prefix("/")

    @pytest.mark.parametrize("path", API + OAUTH + PAGES)
    def test_decision_T1_is_restored_after_an_answer(self, acme, path):
        Client().get(f"/t/{acme.tenant.slug}{path}")

        assert get_script_prefix() == "/"
        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.scope()

    def test_decision_T1_is_restored_after_a_failure(self, acme, monkeypatch):
        monkeypatch.setattr("oidc.provider.discovery.cacheable_json", _fail)

        answer = Client(raise_request_exception=False).get(
            f"/t/{acme.tenant.slug}/.well-known/openid-configuration"
        )

        assert answer.status_code == 500
        assert get_script_prefix() == "/"
        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.scope()

    def test_the_next_request_of_the_thread_is_at_the_root(self, acme):
        browser = Client()
        browser.get(f"/t/{acme.tenant.slug}/.well-known/openid-configuration")

        document = browser.get("/.well-known/openid-configuration").json()

        assert document["issuer"] == configured.BASE_URL
        assert document["token_endpoint"] == f"{configured.BASE_URL}/oidc/token"

    def test_two_threads_do_not_see_each_others_prefix(self, acme, rival):
        def work(index):
            path = f"/t/{(acme, rival)[index].tenant.slug}/.well-known/openid-configuration"
            return {Client().get(path).json()["token_endpoint"] for _ in range(50)}

        seen = at_once(2, work)

        assert seen == [{f"{acme.issuer}/oidc/token"}, {f"{rival.issuer}/oidc/token"}]


def _fail(*_, **__):
    raise RuntimeError("broken on purpose")
