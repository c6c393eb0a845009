"""Forms made of real and made-up parts, and requests that no library would send."""

from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import cast, wire
from tests.support.token_endpoint import FORM, refusal

_NAMES = [
    *("grant_type", "client_id", "client_secret", "code", "redirect_uri", "code_verifier"),
    *("refresh_token", "scope", "resource", "organization_id", "state", "user", "client", "scopes"),
    *("grant", "request", "headers", "_params", "access_token", "expires_in", "token", "response_type"),
]


_GRANTS = ["authorization_code", "refresh_token", "client_credentials"]
_anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.fixture(scope="module")
def parts(address):
    """What an honest application holds, for the dishonest to mix."""
    world = cast.new_world("Fuzzed")
    client, machine = world.application(), world.application("MachineToMachine")
    user, browser = world.user(), world.browser()
    tokens = client.tokens_for(user, browser)
    values = [
        *(client.client_id, client.secret, machine.client_id, machine.secret, client.verifier),
        *(browser.code_for(client, user), tokens["refresh_token"], tokens["access_token"]),
        *("https://rp.example/callback", "openid offline_access", ""),
    ]
    return world, client, machine, values


class TestWhateverComes:
    """Forms made of real and made-up parts are never a failure, and refused in one shape."""

    @settings(
        max_examples=300,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(data=st.data())
    def test_is_answered_in_the_shape_of_the_interface(self, parts, data):
        world, client, machine, values = parts
        name = st.one_of(st.sampled_from(_NAMES), _anything)
        value = st.one_of(st.sampled_from(values), st.sampled_from(_GRANTS), _anything)
        pairs = data.draw(st.lists(st.tuples(name, value), max_size=8))
        if data.draw(st.booleans()):
            pairs = [("grant_type", data.draw(st.sampled_from(_GRANTS))), *pairs]
        auth = data.draw(st.sampled_from([None, client.basic, machine.basic]))

        answer = world.post("/oidc/token", content=urlencode(pairs), headers=FORM, auth=auth)

        self.is_of_the_interface(answer)

    @settings(
        max_examples=200,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(
        body=st.one_of(
            st.binary(max_size=200),
            st.binary(max_size=60).map(lambda tail: b"grant_type=client_credentials&" + tail),
            st.text("&=%+;0aF\x00é", max_size=60).map(str.encode),
        ),
        authorization=st.one_of(
            st.none(),
            # What HTTP itself lets into a header (RFC 9110 section 5.5).
            st.binary(max_size=60).map(
                lambda raw: b"Basic " + bytes(b for b in raw if b >= 0x20 and b != 0x7F) + b"."
            ),
        ),
    )
    def test_whatever_the_bytes(self, parts, body, authorization):
        headers = FORM if authorization is None else FORM | {b"Authorization": authorization}

        answer = parts[0].post("/oidc/token", content=body, headers=headers)

        self.is_of_the_interface(answer)

    def is_of_the_interface(self, answer) -> None:
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Type"] == "application/json"
        if answer.status_code == 200:
            assert {"access_token", "token_type", "expires_in", "scope"} <= set(answer.json())
        else:
            status, error = refusal(answer)
            assert status == (401 if error == "invalid_client" else 400)


def test_raw_requests_that_no_library_would_send_are_refused(acme):
    kind = "Content-Type: application/x-www-form-urlencoded"
    body = b"grant_type=client_credentials"

    answers = [
        wire.send(acme.address, "POST", b"/oidc/token", kind, "Content-Length: 3", body=body),
        wire.send(acme.address, "POST", b"/oidc/token", kind, "Transfer-Encoding: chunked", body=body),
        wire.send(acme.address, "POST", b"/oidc/token", kind, "Transfer-Encoding: gzip", body=body),
        wire.send(acme.address, "POST", b"/oidc/token", kind, "Content-Length: -1", body=b""),
        wire.send(acme.address, "POST", b"/oidc/token", f"{kind}\r\n {kind}", body=body),
    ]

    for answer in answers:
        assert 400 <= answer.status < 502
        assert answer.status != 500
        assert b"access_token" not in answer.body
