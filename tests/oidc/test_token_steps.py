"""The steps of a token request: what ``endpoint.STEPS`` declares is what happens, in that order."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import httpx
import pytest
from django.db import OperationalError
from django.db.models.functions import Now

from oidc.grants.models import AuthorizationCode, RefreshFamily
from oidc.keys import signing, usage
from oidc.keys.models import SigningKey
from oidc.provider import affiliations
from oidc.provider.token import authorization_code
from oidc.provider.token.endpoint import GRANTS, STEPS
from tests.support.audit_log import entries
from tests.support.call_order import recorded
from tests.support.cast import CALLBACK, RelyingParty, World, new_secret, s256
from tests.support.constraints import missing_parent
from tests.support.in_process import InProcessWorld, SurfacesWorld

ALL = [step.__name__ for step in STEPS]
PARSED, AUTHENTICATED, CHECKED, HANDLED = (ALL[:number] for number in range(1, 5))


@pytest.fixture
def here(acme: World) -> InProcessWorld:
    return InProcessWorld.of(acme)


@pytest.fixture
def client(here: InProcessWorld) -> RelyingParty:
    return here.application()


@pytest.fixture
def machine(here: InProcessWorld) -> RelyingParty:
    return here.application("MachineToMachine")


def code_for(client: RelyingParty, **parameters: str | None) -> str:
    return client.world.browser().code_for(client, client.world.user(), **parameters)


def refresh_token_for(client: RelyingParty) -> str:
    return str(client.redeem(code_for(client)).json()["refresh_token"])


def steps_of(request: Callable[[], httpx.Response]) -> tuple[list[str], int]:
    """Return the steps of a request, and the status of its answer."""
    with recorded(*STEPS) as calls:
        answer = request()
    return calls, answer.status_code


def test_are_declared_in_the_order_of_the_standard():
    assert ALL == ["parse_request", "authenticate_client", "check_grant_type", "handle_grant", "build_answer"]


class TestOfARequestThatIsGranted:
    def test_for_a_code_are_those_declared(self, client):
        code = code_for(client)

        assert steps_of(lambda: client.redeem(code)) == (ALL, 200)

    def test_for_a_refresh_token_are_those_declared(self, client):
        token = refresh_token_for(client)

        assert steps_of(lambda: client.refresh(token)) == (ALL, 200)
        assert steps_of(lambda: client.refresh(token)) == (ALL, 200)

    def test_for_client_credentials_are_those_declared(self, machine):
        assert steps_of(lambda: machine.token(grant_type="client_credentials")) == (ALL, 200)

    def test_every_grant_was_seen(self):
        assert set(GRANTS) == {"authorization_code", "refresh_token", "client_credentials"}

    def test_the_checks_of_a_code_come_between(self, client):
        code = code_for(client)
        order = ["find_client", "get_challenge", "check_redirect_uri", "handle"]

        with recorded(*(getattr(authorization_code, name) for name in order)) as calls:
            assert client.redeem(code).status_code == 200

        assert calls == order


class TestOfARequestThatIsRefused:
    @pytest.mark.parametrize(
        ("content", "status"),
        [
            ("", 400),
            ("grant_type=", 400),
            ("grant_type=password", 400),
            ("grant_type=client_credentials&scope=a&scope=b", 400),
            ("grant_type=client_credentials&x=%FF", 400),
        ],
    )
    def test_as_malformed_end_with_the_first(self, here, content, status):
        form = {"Content-Type": "application/x-www-form-urlencoded"}

        assert steps_of(lambda: here.post("/oidc/token", content=content, headers=form)) == (PARSED, status)

    def test_for_its_method_or_place_end_with_the_first(self, here, machine):
        form = {"grant_type": "client_credentials"}

        assert steps_of(lambda: here.get("/oidc/token")) == (PARSED, 405)
        assert steps_of(lambda: here.post("/oidc/token?a=b", data=form, auth=machine.basic)) == (PARSED, 400)
        assert steps_of(lambda: here.post("/oidc/token", json=form, auth=machine.basic)) == (PARSED, 415)

    @pytest.mark.parametrize("grant_type", ["authorization_code", "refresh_token"])
    def test_for_want_of_a_code_or_token_end_before_the_client_is_asked(self, client, grant_type):
        assert steps_of(lambda: client.token(grant_type=grant_type)) == (PARSED, 400)

    @pytest.mark.parametrize("grant_type", list(GRANTS))
    def test_for_its_client_end_with_the_second(self, client, grant_type):
        form = {"grant_type": grant_type, "code": "x", "refresh_token": "x"}
        right, wrong = client.basic, (client.client_id, "wrong")

        for auth, more, status in (
            (wrong, {}, 401),
            (("0" * 24, "x"), {}, 401),
            (None, {}, 401),
            (right, {"client_id": "another"}, 401),
            (right, {"client_secret": client.secret}, 400),
        ):
            request = partial(client.token, auth=auth, **form, **more)
            assert steps_of(request) == (AUTHENTICATED, status)

    def test_for_a_grant_that_is_not_the_clients_end_with_the_third(self, here, client, machine):
        no_refresh = here.application(grant_types=["authorization_code"])

        for request in (
            lambda: client.token(grant_type="client_credentials"),
            lambda: machine.token(grant_type="authorization_code", code="x"),
            lambda: no_refresh.token(grant_type="refresh_token", refresh_token="x"),
        ):
            assert steps_of(request) == (CHECKED, 400)

    @pytest.mark.parametrize(
        "changes",
        [
            {"code": "unknown"},
            {"code_verifier": None},
            {"code_verifier": ""},
            {"code_verifier": new_secret()},
            {"redirect_uri": None},
            {"redirect_uri": f"{CALLBACK}/other"},
        ],
        ids=str,
    )
    def test_for_what_oauthlib_asks_of_a_code_end_before_it_is_handled(self, client, changes):
        code = changes.get("code") or code_for(client)
        changes = {name: value for name, value in changes.items() if name != "code"}

        assert steps_of(lambda: client.redeem(code, **changes)) == (CHECKED, 400)

    def test_for_an_unknown_refresh_token_end_before_it_is_handled(self, here, client):
        stranger = refresh_token_for(here.application())

        assert steps_of(lambda: client.refresh("unknown")) == (CHECKED, 400)
        assert steps_of(lambda: client.refresh(stranger)) == (CHECKED, 400)

    def test_for_a_code_that_buys_nothing_end_with_the_fourth(self, client):
        used, refused, short = code_for(client), code_for(client), "too-short"
        without_challenge = code_for(client, code_challenge=None, code_challenge_method=None)
        malformed = code_for(client, code_challenge=s256(short))
        assert client.redeem(used).status_code == 200

        for request in (
            lambda: client.redeem(used),
            lambda: client.redeem(refused, resource="https://unknown.example"),
            lambda: client.redeem(without_challenge),
            lambda: client.redeem(malformed, code_verifier=short),
        ):
            assert steps_of(request) == (HANDLED, 400)

    def test_for_a_replayed_or_misused_refresh_token_end_with_the_fourth(self, client):
        first = refresh_token_for(client)
        second = client.refresh(first).json()["refresh_token"]
        client.refresh(second)

        assert steps_of(lambda: client.refresh(second, organization_id="unknown")) == (HANDLED, 400)
        assert steps_of(lambda: client.refresh(first)) == (HANDLED, 400)

    @pytest.mark.parametrize("grant", ["code", "refresh token"])
    def test_for_what_ends_after_it_was_checked_end_with_the_fourth(self, client, grant, monkeypatch):
        """As in a request at the same time: what is redeemed or rotated is checked again."""
        code, token = code_for(client), refresh_token_for(client)
        record = usage.record

        def end_and_record(*arguments: Any, **options: Any) -> Any:
            AuthorizationCode.objects.update(consumed_at=Now())
            RefreshFamily.objects.update(ended_at=Now())
            return record(*arguments, **options)

        monkeypatch.setattr(usage, "record", end_and_record)
        request = partial(client.redeem, code) if grant == "code" else partial(client.refresh, token)

        assert steps_of(request) == (HANDLED, 400)

    @pytest.mark.parametrize("grant", ["code", "refresh token"])
    def test_for_a_row_that_is_deleted_meanwhile_end_with_the_fourth(self, here, client, grant, monkeypatch):
        """The database refuses rows of a user, session or application that another request deleted."""
        code, token = code_for(client), refresh_token_for(client)
        error = missing_parent(here, client)
        monkeypatch.setattr(usage, "record", mock.Mock(side_effect=error))
        request = partial(client.redeem, code) if grant == "code" else partial(client.refresh, token)

        assert steps_of(request) == (HANDLED, 400)
        [failure] = [entry for entry in entries(here) if entry.payload.get("result") == "failed"]
        assert failure.application_id == str(client.application.pk)
        assert failure.payload["error"] == request().json()["error"] == "invalid_grant"

    @pytest.mark.parametrize("grant", ["code", "refresh token"])
    def test_for_claims_that_cannot_be_read_use_nothing_up(self, here, client, grant, monkeypatch):
        code = code_for(client, scope="openid offline_access roles")
        request = partial(client.redeem, code)
        if grant == "refresh token":
            request = partial(client.refresh, client.redeem(code).json()["refresh_token"])

        with monkeypatch.context() as broken:
            broken.setattr(affiliations, "read", mock.Mock(side_effect=OperationalError))
            assert request().status_code == 503

        assert request().status_code == 200
        with here.active():
            assert RefreshFamily.objects.get().generation == (grant == "refresh token")

    def test_for_a_key_that_cannot_sign_write_nothing(self, here, client, monkeypatch):
        token = refresh_token_for(client)
        monkeypatch.setattr(signing, "load", mock.Mock(side_effect=SigningKey.DoesNotExist))

        assert client.refresh(token).status_code == 500

        with here.active():
            assert RefreshFamily.objects.get().generation == 0

    def test_for_a_machine_end_with_the_fourth(self, here):
        newcomer = here.application("MachineToMachine")

        asked = steps_of(
            lambda: newcomer.token(grant_type="client_credentials", resource="https://x.example")
        )

        assert asked == (HANDLED, 400)


class TestOfARepeatedRequest:
    def test_are_replaced_by_its_plan(self, here):
        machine = SurfacesWorld.of(here).application("MachineToMachine")
        here.get("/.well-known/openid-configuration")  # the process knows the tenant from now on
        ask = partial(machine.token, grant_type="client_credentials")

        first, second = steps_of(ask), steps_of(ask)
        wrong = steps_of(partial(ask, auth=(machine.client_id, "wrong")))
        unknown = steps_of(partial(ask, resource="https://x.example"))

        assert (first, second) == ((ALL, 200), ([], 200))
        assert (wrong, unknown) == ((AUTHENTICATED, 401), (HANDLED, 400))
