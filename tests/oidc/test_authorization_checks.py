"""The checks of an authorization request: ``checks.CHECKS`` has them in the order they are made."""

import pytest

from oidc.provider.authorization.checks import CHECKS
from tests.support.call_order import recorded
from tests.support.cast import CALLBACK, RelyingParty, World, query_of
from tests.support.in_process import InProcessWorld

ALL = [check.__name__ for check in CHECKS]


@pytest.fixture
def here(acme: World) -> InProcessWorld:
    return InProcessWorld.of(acme)


@pytest.fixture
def client(here: InProcessWorld) -> RelyingParty:
    return here.application("SPA")


def up_to(name: str) -> list[str]:
    return ALL[: ALL.index(name) + 1]


def test_are_all_made_of_a_request_that_passes(here, client):
    with recorded(*CHECKS) as calls:
        answer = here.browser().authorize(client)

    assert calls == ALL
    assert "interaction=" in answer.headers["Location"]


@pytest.mark.parametrize(
    ("changes", "last"),
    [
        ({"client_id": "unknown"}, "check_client"),
        ({"redirect_uri": f"{CALLBACK}/other"}, "check_redirect_uri"),
    ],
)
def test_end_with_a_page_where_the_client_cannot_be_answered(here, client, changes, last):
    with recorded(*CHECKS) as calls:
        answer = here.browser().authorize(client, **changes)

    assert calls == up_to(last)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("name", "last"), [("client_id", "check_addressing"), ("redirect_uri", "check_client")]
)
def test_want_a_client_and_a_redirect_uri(here, client, name, last):
    """oauthlib asks whether there is one before it has it checked."""
    with recorded(*CHECKS) as calls:
        answer = here.browser().authorize(client, **{name: None})

    assert calls == up_to(last)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("changes", "last", "error"),
    [
        ({"nonce": ["a", "b"]}, "check_repetition", "invalid_request"),
        ({"nonce": "n" * 16_400}, "check_length", "invalid_request"),
        ({"nonce": "n" * 1025}, "check_length", "invalid_request"),
        ({"request": "e30."}, "check_request_objects", "request_not_supported"),
        ({"request_uri": "https://rp.example/r"}, "check_request_objects", "request_uri_not_supported"),
        ({"response_mode": "web_message"}, "check_response_mode", "invalid_request"),
        ({"response_type": None}, "check_response_type", "invalid_request"),
        ({"response_type": "token"}, "check_response_type", "unsupported_response_type"),
        ({"code_challenge": None, "code_challenge_method": None}, "check_pkce", "invalid_request"),
        ({"code_challenge": "short"}, "check_pkce", "invalid_request"),
        ({"code_challenge_method": "plain"}, "check_pkce", "invalid_request"),
        ({"scope": "profile"}, "check_scope", "invalid_scope"),
        ({"prompt": "none login"}, "check_prompt", "invalid_request"),
        ({"max_age": "-1"}, "check_max_age", "invalid_request"),
        ({"claims": "[]"}, "check_claims", "invalid_request"),
        ({"resource": "https://unknown.example"}, "check_resource", "invalid_target"),
    ],
)
def test_end_with_the_first_that_refuses(here, client, changes, last, error):
    with recorded(*CHECKS) as calls:
        answer = here.browser().authorize(client, **changes)

    assert calls == up_to(last)
    assert query_of(answer.headers["Location"])["error"] == error


def test_end_with_the_grant_of_an_application_that_has_none(here):
    machine = here.application("MachineToMachine", name="No codes")
    machine.application.redirect_uris = [CALLBACK]
    with here.active():
        machine.application.save(update_fields=["redirect_uris"])

    with recorded(*CHECKS) as calls:
        answer = here.browser().authorize(machine)

    assert calls == up_to("check_grant_type")
    assert query_of(answer.headers["Location"])["error"] == "unauthorized_client"
