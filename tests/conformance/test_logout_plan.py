"""oidcc-rp-initiated-logout-certification-test-plan: ``code``, static clients. One test a module."""

import json
import time
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.conformance.agents import Stop
from tests.conformance.suite import Login, Suite, new_state
from tests.support.cast import query_of
from tests.support.forgery import decode, unsigned

everywhere = pytest.mark.parametrize("agent", ["scripted", "chromium"], indirect=True)


def sign_out(suite: Suite, login: Login, **changes: str | None) -> tuple[Stop, dict[str, str]]:
    """Take the browser to the end session endpoint, as an application does that signs people out."""
    usual: dict[str, str | None] = {
        "id_token_hint": login.hint,
        "post_logout_redirect_uri": suite.farewell,
        "state": new_state(),
    }
    request = {name: value for name, value in (usual | changes).items() if value is not None}
    query = f"?{urlencode(request)}" if request else ""
    return suite.agent.visit(f"{suite.discovery['end_session_endpoint']}{query}"), request


def is_over(suite: Suite) -> None:
    suite.verdict.must(not suite.signs_in_silently(), "somebody is still signed in")


def came_back(suite: Suite, stop: Stop, request: dict[str, str]) -> None:
    """The browser is where it was to go, with the state it was sent with and nothing else."""
    address, _, _ = stop.address.partition("?")
    suite.verdict.must(address == suite.farewell, f"the browser is at {stop.address}: {stop.heading}")
    said = query_of(stop.address)
    suite.verdict.must(said.get("state") == request.get("state"), f"state is {said.get('state')}")
    suite.verdict.should(said.keys() <= {"state"}, f"more than a state: {', '.join(said)}")


def stayed(suite: Suite, stop: Stop) -> None:
    """The browser was sent nowhere; the page it shows is one to be looked at."""
    suite.verdict.must(not stop.address.startswith(suite.base), f"redirected to {stop.address}")
    suite.verdict.must(stop.status in {200, 400} and stop.heading, f"no page: {stop.status}")
    suite.pictured()


def test_oidcc_rp_initiated_logout_discovery_endpoint_verification(suite: Suite) -> None:
    said: dict[str, Any] = suite.discovery

    suite.verdict.must("end_session_endpoint" in said, "there is no end_session_endpoint")
    plain = [name for name in said if name.endswith("_endpoint") and not said[name].startswith("https://")]
    suite.verdict.must(not plain, f"not https: {', '.join(plain)}")


@everywhere
def test_oidcc_rp_initiated_logout(suite: Suite) -> None:
    stop, request = sign_out(suite, suite.login())

    came_back(suite, stop, request)
    is_over(suite)


def test_oidcc_rp_initiated_logout_bad_post_logout_redirect_uri(suite: Suite) -> None:
    bad = suite.farewell.replace("/post_logout_redirect", "/bad_post_logout_redirect_uri")

    stop, _ = sign_out(suite, suite.login(), post_logout_redirect_uri=bad)

    stayed(suite, stop)


def test_oidcc_rp_initiated_logout_modified_id_token_hint(suite: Suite) -> None:
    login = suite.login()
    body = json.loads(decode(login.hint.split(".")[1]))

    stop, _ = sign_out(suite, login, id_token_hint=f"{unsigned({'alg': 'none'}, body)}.")

    stayed(suite, stop)


def test_oidcc_rp_initiated_logout_no_id_token_hint(suite: Suite) -> None:
    stop, _ = sign_out(suite, suite.login(), id_token_hint=None)

    stayed(suite, stop)


@everywhere
def test_oidcc_rp_initiated_logout_no_params(suite: Suite) -> None:
    stop, _ = sign_out(suite, suite.login(), id_token_hint=None, post_logout_redirect_uri=None, state=None)

    stayed(suite, stop)
    is_over(suite)


def test_oidcc_rp_initiated_logout_no_post_logout_redirect_uri(suite: Suite) -> None:
    stop, _ = sign_out(suite, suite.login(), post_logout_redirect_uri=None)

    stayed(suite, stop)
    is_over(suite)


def test_oidcc_rp_initiated_logout_no_state(suite: Suite) -> None:
    stop, request = sign_out(suite, suite.login(), state=None)

    came_back(suite, stop, request)
    is_over(suite)


@everywhere
def test_oidcc_rp_initiated_logout_only_state(suite: Suite) -> None:
    stop, _ = sign_out(suite, suite.login(), id_token_hint=None, post_logout_redirect_uri=None)

    stayed(suite, stop)
    is_over(suite)


def test_oidcc_rp_initiated_logout_query_added_to_post_logout_redirect_uri(suite: Suite) -> None:
    stop, _ = sign_out(suite, suite.login(), post_logout_redirect_uri=f"{suite.farewell}?foo=bar")

    stayed(suite, stop)


def test_oidcc_rp_initiated_logout_bad_id_token_hint(suite: Suite) -> None:
    login = suite.login()
    header = jwt.get_unverified_header(login.hint)
    claims = login.claims | {"iat": int(time.time())}
    foreign = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    stop, _ = sign_out(
        suite, login, id_token_hint=jwt.encode(claims, foreign, algorithm="RS256", headers=header)
    )

    stayed(suite, stop)
