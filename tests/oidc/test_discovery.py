"""GET /.well-known/openid-configuration."""

import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.support import cast, independent, wire

pytestmark = pytest.mark.usefixtures("compared")

PATH = "/.well-known/openid-configuration"

LISTS = {
    "scopes_supported": [
        "openid",
        "profile",
        "email",
        "phone",
        "offline_access",
        "urn:service:scope:organizations",
        "urn:service:scope:organization_roles",
    ],
    "response_types_supported": ["code"],
    "response_modes_supported": ["query", "fragment", "form_post"],
    "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["ES256"],
    "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    "code_challenge_methods_supported": ["S256"],
    "claims_supported": [
        *("sub", "iss", "aud", "exp", "iat", "name", "email", "email_verified", "phone_number"),
        *("phone_number_verified", "picture", "username", "organizations", "organization_roles"),
        *("organization_id", "organization_is_admin"),
    ],
}

ENDPOINTS = {
    "authorization_endpoint": "/oidc/authorize",
    "token_endpoint": "/oidc/token",
    "userinfo_endpoint": "/oidc/userinfo",
    "revocation_endpoint": "/oidc/revoke",
    "end_session_endpoint": "/oidc/end-session",
    "jwks_uri": "/.well-known/jwks.json",
}

# What a client or a careless proxy may send in the hope of choosing host, scheme, prefix or path.
LYING_HEADERS = [
    {"Host": "evil.example"},
    {"X-Forwarded-Host": "evil.example"},
    {"X-Forwarded-Proto": "https", "X-Forwarded-Port": "443", "X-Forwarded-Ssl": "on"},
    {"Forwarded": "for=192.0.2.1;host=evil.example;proto=https"},
    {"X-Forwarded-Prefix": "/t/{rival}"},
    {"X-Original-URL": "/t/{rival}" + PATH},
    {"X-Rewrite-URL": "/t/{rival}" + PATH},
    {"SCRIPT_NAME": "/t/{rival}"},
    {"Script-Name": "/t/{rival}"},
    {"X-Script-Name": "/t/{rival}"},
    {"PATH_INFO": "/t/{rival}" + PATH},
    {"Path-Info": "/t/{rival}" + PATH},
    {"X-HTTP-Method-Override": "DELETE"},
]


def names_of(headers):
    return "+".join(headers)


every_lie = pytest.mark.parametrize("lies", LYING_HEADERS, ids=names_of)


def discovered(world, **options):
    answer = world.get(PATH, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    "place",
    [
        "{path}/oidc/.well-known/openid-configuration",
        "{path}/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server{path}",
        "/.well-known/openid-configuration{path}",
    ],
)
def test_decision_O10_is_found_wherever_clients_look(acme, address, place):
    for world in (acme, cast.default_world()):
        path = urlsplit(world.issuer).path
        found = httpx.get(f"{address}{place.format(path=path)}")

        assert found.json() == world.get(PATH).json()
        assert found.json()["issuer"] == world.issuer


@pytest.mark.parametrize("place", ["/t/nobody", "/t/default", "/t/", "/t", "/t/{acme}/more", "/x"])
def test_decision_T1_is_not_found_for_a_tenant_that_is_not_there(acme, address, place):
    path = place.format(acme=acme.tenant.slug)
    assert httpx.get(f"{address}/.well-known/oauth-authorization-server{path}").status_code == 404


class TestDocument:
    @pytest.mark.parametrize("member", LISTS)
    def test_decision_O10_lists_start_with_exactly_the_values_of_the_interface(self, acme, member):
        expected = LISTS[member]

        listed = discovered(acme)[member]

        assert listed[: len(expected)] == expected
        assert len(set(listed)) == len(listed)

    def test_decision_O10_advertises_nothing_that_is_not_there(self, acme):
        document = discovered(acme)

        assert document["scopes_supported"] == [*LISTS["scopes_supported"], "address", "roles", "groups"]
        others = LISTS.keys() - {"claims_supported", "scopes_supported"}
        assert {name: document[name] for name in others} == {name: LISTS[name] for name in others}
        more = document["claims_supported"][len(LISTS["claims_supported"]) :]
        assert more == [
            *("gender", "updated_at", "auth_time", "nonce", "amr", "sid", "at_hash", "azp"),
            *("preferred_username", "given_name", "family_name", "middle_name", "nickname", "profile"),
            *("website", "birthdate", "zoneinfo", "locale", "address", "roles", "groups"),
        ]
        assert document["request_parameter_supported"] is False
        # Its default is true when left out (Discovery 1.0 section 3).
        assert document["request_uri_parameter_supported"] is False
        assert "registration_endpoint" not in document

    def test_decision_O10_is_the_same_for_clients_that_look_below_oidc(self, acme, rival):
        for world in (acme, rival, cast.default_world()):
            usual, below = world.get(PATH), world.get(f"/oidc{PATH}")

            assert below.status_code == 200
            assert below.json()["issuer"] == world.issuer
            assert below.content == usual.content
            for name in ("ETag", "Cache-Control", "Access-Control-Allow-Origin", "Content-Type"):
                assert below.headers[name] == usual.headers[name]

    def test_holds_only_members_that_a_standard_defines(self, acme):
        known = {
            *LISTS,
            *ENDPOINTS,
            *("issuer", "revocation_endpoint_auth_methods_supported", "prompt_values_supported"),
            *("authorization_response_iss_parameter_supported", "request_parameter_supported"),
            *("request_uri_parameter_supported", "claims_parameter_supported"),
        }

        document = discovered(acme)

        assert set(document) == known
        assert document["authorization_response_iss_parameter_supported"] is True
        assert document["claims_parameter_supported"] is True

    def test_no_member_is_null_or_empty(self, acme):
        """Discovery 1.0 section 4.2: what has no elements MUST be omitted."""
        document = discovered(acme)

        assert [name for name, value in document.items() if value in (None, "", [], {})] == []

    @pytest.mark.parametrize("member", ENDPOINTS)
    def test_decision_T1_places_every_endpoint_below_the_issuer(self, acme, member):
        document = discovered(acme)

        assert document["issuer"] == f"{settings.BASE_URL}/t/{acme.tenant.slug}"
        assert document[member] == document["issuer"] + ENDPOINTS[member]

    def test_decision_T1_the_default_tenant_has_no_prefix(self, address):
        document = httpx.get(f"{address}{PATH}").json()

        assert document["issuer"] == settings.BASE_URL
        assert {name: document[name] for name in ENDPOINTS} == {
            name: settings.BASE_URL + path for name, path in ENDPOINTS.items()
        }

    @pytest.mark.parametrize("member", ENDPOINTS)
    def test_every_endpoint_it_names_answers(self, acme, member):
        place = discovered(acme)[member]

        answer = httpx.get(place)

        assert answer.status_code not in {404, 500}

    def test_two_tenants_are_two_providers(self, acme, rival):
        ours, theirs = discovered(acme), discovered(rival)

        assert {ours[name] for name in [*ENDPOINTS, "issuer"]}.isdisjoint(
            {theirs[name] for name in [*ENDPOINTS, "issuer"]}
        )

    def test_the_issuer_is_the_iss_of_what_it_issues(self, acme):
        issuer = discovered(acme)["issuer"]

        machine = acme.application("MachineToMachine")
        token = machine.token(grant_type="client_credentials").json()["access_token"]

        assert independent.claims_of(token)["iss"] == issuer


class TestReading:
    """How the document travels."""

    def test_decision_H11_may_be_kept_for_a_while_and_read_from_any_origin(self, acme):
        answer = acme.get(PATH, headers={"Origin": "https://anywhere.example"})

        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer.headers
        assert "max-age=" in answer.headers["Cache-Control"]
        assert "public" in answer.headers["Cache-Control"]
        assert "Set-Cookie" not in answer.headers

    @pytest.mark.parametrize("known", ["{etag}", "W/{etag}", '"other", {etag}', "*"])
    def test_decision_H11_a_client_that_has_it_gets_304(self, acme, known):
        etag = acme.get(PATH).headers["ETag"]

        answer = acme.get(PATH, headers={"If-None-Match": known.format(etag=etag)})

        assert answer.status_code == 304
        assert answer.content == b""
        assert answer.headers["ETag"] == etag

    def test_decision_H11_a_304_is_readable_across_origins_too(self, acme):
        etag = acme.get(PATH).headers["ETag"]

        answer = acme.get(PATH, headers={"If-None-Match": etag, "Origin": "https://anywhere.example"})

        assert answer.status_code == 304
        assert answer.headers["Access-Control-Allow-Origin"] == "*"

    def test_a_304_does_not_pretend_that_the_document_is_empty(self, acme):
        full = acme.get(PATH)

        answer = acme.get(PATH, headers={"If-None-Match": full.headers["ETag"]})

        # RFC 9110 section 8.6: absent, or the length of the 200.
        assert (
            answer.headers.get("Content-Length", full.headers["Content-Length"])
            == (full.headers["Content-Length"])
        )

    def test_another_etag_gets_the_whole_document(self, acme, rival):
        other = rival.get(PATH).headers["ETag"]

        answer = acme.get(PATH, headers={"If-None-Match": other})

        assert answer.status_code == 200
        assert answer.json()["issuer"] == acme.issuer

    def test_head_says_what_get_would_say_without_the_body(self, acme):
        got = acme.get(PATH)

        answer = httpx.head(f"{acme.address}{PATH}")

        assert answer.status_code == 200
        assert answer.content == b""
        for name in (
            "ETag",
            "Content-Type",
            "Content-Length",
            "Cache-Control",
            "Access-Control-Allow-Origin",
        ):
            assert answer.headers[name] == got.headers[name]

    def test_head_sends_no_byte_of_a_body(self, acme):
        parts = urlsplit(acme.address)
        head = f"HEAD {parts.path}{PATH} HTTP/1.1\r\nHost: x\r\n\r\n"
        get = f"GET {parts.path}{PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

        with socket.create_connection((parts.hostname, parts.port), timeout=10) as line:
            line.sendall((head + get).encode())
            received = b"".join(iter(lambda: line.recv(65_536), b""))

        _, _, after_head = received.partition(b"\r\n\r\n")
        assert after_head.startswith(b"HTTP/1.1 200")

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
    def test_case_L12_other_methods_are_405_with_allow(self, acme, method):
        answer = httpx.request(method, f"{acme.address}{PATH}")

        assert answer.status_code == 405
        assert answer.headers["Allow"] == "GET, HEAD"

    def test_decision_P2_needs_one_query_when_warm(self, acme):
        browser = Client()
        place = f"/t/{acme.tenant.slug}{PATH}"
        browser.get(place)

        with CaptureQueriesContext(connection) as queries:
            answer = browser.get(place)

        assert answer.status_code == 200
        assert len(queries.captured_queries) == 1


class TestWhatAClientSaysOfTheHost:
    """Issuer and tenant come from configuration and from the path of the request line."""

    @every_lie
    def test_case_K01_changes_nothing_in_a_tenant(self, acme, rival, lies):
        plain = discovered(acme)

        lied = discovered(acme, headers=self.filled(lies, rival))

        assert lied == plain

    @every_lie
    def test_case_K01_changes_nothing_at_the_root(self, address, rival, lies):
        plain = httpx.get(f"{address}{PATH}").json()

        lied = httpx.get(f"{address}{PATH}", headers=self.filled(lies, rival)).json()

        assert lied == plain

    @every_lie
    def test_case_K01_changes_no_key_set(self, acme, rival, lies):
        path = "/.well-known/jwks.json"

        lied = acme.get(path, headers=self.filled(lies, rival))

        assert lied.json() == acme.get(path).json()

    @every_lie
    def test_case_K01_changes_no_redirect(self, acme, rival, lies):
        client = acme.application()

        answer = acme.get("/oidc/authorize", params=client.request(), headers=self.filled(lies, rival))

        assert answer.status_code == 303
        assert answer.headers["Location"].startswith(f"/t/{acme.tenant.slug}/sign-in?")

    @every_lie
    def test_case_K01_changes_no_page(self, acme, rival, lies):
        answer = acme.get("/sign-in", headers=self.filled(lies, rival))

        assert answer.status_code == 200
        assert f'action="/t/{acme.tenant.slug}/sign-in"' in answer.text
        assert "evil.example" not in answer.text
        assert rival.tenant.slug not in answer.text

    def test_case_K01_an_absolute_request_target_decides_by_its_path_alone(self, acme):
        target = f"http://evil.example/t/{acme.tenant.slug}{PATH}"

        answer = wire.send(settings.BASE_URL, "GET", target.encode())

        assert answer.status == 200
        assert json.loads(answer.body)["issuer"] == acme.issuer
        assert b"evil.example" not in answer.body

    @staticmethod
    def filled(headers, rival):
        return {name: value.replace("{rival}", rival.tenant.slug) for name, value in headers.items()}
