"""R10: the clock of one node steps, while the other and the database have the right time."""

import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.support.independent import bearer, claims_of
from tests.support.installation import Installation, Node, check_nothing_is_lost, check_one_branch

_HOUR = 3600


def a_node_with(installation: Installation, clock: Path) -> Node:
    """Serve with a clock that is wrong by what a file says."""
    return installation.serve(TEST_APPLICATION="tests.support.wrong_clock:application", TEST_CLOCK=str(clock))


def set_to(clock: Path, seconds: int) -> None:
    """Say how wrong the clock is, in one step, and wait until the workers have read it."""
    draft = clock.with_suffix(".new")
    draft.write_text(str(seconds))
    draft.replace(clock)
    time.sleep(0.5)


def status(node: Node, token: str) -> int:
    return httpx.get(f"{node.address}/oidc/userinfo", headers=bearer(token), timeout=30).status_code


@pytest.mark.parametrize("seconds", [300, -300, 86_400, -2 * _HOUR])
def test_fault_R10_the_clock_of_a_node_steps_under_load(installation, measured, tmp_path, seconds):
    right = installation.serve()
    clock = tmp_path / "clock"
    set_to(clock, 0)
    wrong = a_node_with(installation, clock)
    seen = installation.witness()
    kept = signed_in_at(right, seen.shop.sign_in)

    with seen.going(seen.refreshing, seen.signing_in, each=2):
        set_to(clock, seconds)
        seen.goes_on(60)
        of_the_wrong = signed_in_at(wrong, seen.shop.sign_in)
        assert abs(issued_at(of_the_wrong) - time.time() - seconds) < 60
        # A token is refused where it is from the future or expired, by the clock of the node that looks.
        assert status(right, kept["access_token"]) == 200
        assert status(wrong, kept["access_token"]) == (200 if 0 <= seconds < _HOUR else 401)
        assert status(right, of_the_wrong["access_token"]) == (200 if -_HOUR < seconds <= 0 else 401)
        set_to(clock, 0)
        seen.goes_on(40)

    measured(step=seconds, answers=seen.summary())
    refused = [each for each in seen.wrong() if "userinfo" not in each.outcome or "401" not in each.outcome]
    assert refused == []
    # Nobody was signed out: families and sessions go by the clock of the database.
    assert not any(family.is_ended for family in seen.families)
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)


def signed_in_at(node: Node, sign_in: Callable[..., dict[str, str]]) -> dict[str, str]:
    with httpx.Client(base_url=node.address, timeout=30) as http:

        def send(method: str, path: str, *, status: int = 200, **options: object) -> httpx.Response:
            answer = http.request(method, path, **options)  # type: ignore[arg-type]
            assert answer.status_code == status, answer.text
            return answer

        return sign_in(send)


def issued_at(tokens: dict[str, str]) -> float:
    """The time that the node had which issued them."""
    return float(claims_of(tokens["access_token"])["iat"])
