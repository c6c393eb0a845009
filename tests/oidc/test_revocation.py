"""The revocation endpoint: taking tokens back, one by one or by the family."""

from unittest import mock

import httpx
import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client

from audit.models import Entry
from oidc.grants import families
from oidc.grants.models import RefreshFamily, RevokedToken
from tests.support import second
from tests.support.forgery import altered, signed_by
from tests.support.independent import bearer, claims_of
from tests.support.refusals import refusal

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def revoke(client, token, *, auth="basic", **form):
    return client.world.post(
        "/oidc/revoke", data={"token": token} | form, auth=client.basic if auth == "basic" else auth
    )


def is_done(answer) -> bool:
    """Say whether it is the one answer that every token gets."""
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    return (answer.status_code, answer.json()) == (200, {})


class TestRefreshToken:
    @pytest.mark.parametrize("hint", [None, "refresh_token", "access_token", "made_up", ""])
    def test_decision_O12_case_E01_ends_its_family_whatever_the_hint(self, acme, hint):
        client = acme.application()
        tokens = client.tokens_for(acme.user())

        answer = revoke(
            client, tokens["refresh_token"], **({} if hint is None else {"token_type_hint": hint})
        )

        assert is_done(answer)
        assert refusal(client.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
        assert client.userinfo(tokens["access_token"]).status_code == 401

    def test_case_E01_ends_its_family_by_any_of_its_tokens(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()

        answer = revoke(client, first["refresh_token"])

        assert is_done(answer)
        assert refusal(client.refresh(second["refresh_token"])) == (400, "invalid_grant")
        for tokens in (first, second):
            assert client.userinfo(tokens["access_token"]).status_code == 401

    def test_ends_no_other_family(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        gone, stays = client.tokens_for(user, browser), client.tokens_for(user, browser)

        revoke(client, gone["refresh_token"])

        assert client.userinfo(stays["access_token"]).status_code == 200
        assert client.refresh(stays["refresh_token"]).status_code == 200

    def test_works_for_a_public_client(self, acme):
        client = acme.application("SPA")
        tokens = client.tokens_for(acme.user())

        answer = revoke(client, tokens["refresh_token"], auth=None, client_id=client.client_id)

        assert is_done(answer)
        assert client.userinfo(tokens["access_token"]).status_code == 401

    def test_is_audited_once(self, acme):
        client, user = acme.application(), acme.user()
        tokens = client.tokens_for(user)

        revoke(client, tokens["refresh_token"])
        revoke(client, tokens["refresh_token"])

        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Revoke")
        assert (entry.payload["result"], entry.payload["reason"]) == ("success", "revoked")
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
        assert tokens["refresh_token"] not in str(entry.payload)


class TestAccessToken:
    def test_attack_revoking_it_again_and_again_writes_one_entry(self, acme):
        client = acme.application()
        token = client.tokens_for(acme.user(), scope="openid")["access_token"]

        answers = [revoke(client, token) for _ in range(4)]

        assert all(is_done(answer) for answer in answers)
        assert client.userinfo(token).status_code == 401
        with acme.active():
            revoked = RevokedToken.objects.get()
        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Revoke")
        assert entry.payload["token_id"] == revoked.token_id
        assert revoked.expires_at.timestamp() == claims_of(token)["exp"]

    @pytest.mark.parametrize("scope", ["openid", "openid offline_access"])
    @pytest.mark.parametrize("hint", ["access_token", "refresh_token"])
    def test_decision_O12_case_E02_is_refused_from_the_next_request_on(self, acme, scope, hint):
        client = acme.application()
        token = client.tokens_for(acme.user(), scope=scope)["access_token"]
        before = client.userinfo(token)

        answer = revoke(client, token, token_type_hint=hint)

        assert before.status_code == 200
        assert is_done(answer)
        # Several times, so that more than one worker is asked.
        assert [client.userinfo(token).status_code for _ in range(8)] == [401] * 8

    @pytest.mark.parametrize("scope", ["openid", "openid offline_access"])
    def test_case_E02_is_refused_by_every_node_and_every_endpoint(self, acme, scope):
        client = acme.application()
        token = client.tokens_for(acme.user(), scope=scope)["access_token"]
        with second.running(BASE_URL=settings.BASE_URL, PORT=str(port := second.free_port())):
            nodes = [acme, acme.at(f"http://127.0.0.1:{port}")]
            asked = [(node, path) for node in nodes for path in ("/oidc/userinfo", "/api/session/context")]
            before = [node.get(path, headers=bearer(token)).status_code for node, path in asked]

            revoke(client, token)

            after = [node.get(path, headers=bearer(token)).status_code for node, path in asked]

        assert (before, after) == ([200] * 4, [401] * 4)

    def test_leaves_its_family_and_its_siblings_alone(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()

        revoke(client, first["access_token"])

        assert client.userinfo(second["access_token"]).status_code == 200
        assert client.refresh(second["refresh_token"]).status_code == 200

    def test_may_be_revoked_twice(self, acme):
        client = acme.application()
        token = client.tokens_for(acme.user())["access_token"]

        assert is_done(revoke(client, token))
        assert is_done(revoke(client, token))

    def test_of_a_machine_is_remembered_until_it_would_have_expired(self, acme):
        machine = acme.application("MachineToMachine")
        token = machine.token(grant_type="client_credentials").json()["access_token"]

        answer = revoke(machine, token)

        assert is_done(answer)
        with acme.active():
            [remembered] = RevokedToken.objects.all()
        assert remembered.token_id == claims_of(token)["jti"]
        assert remembered.expires_at.timestamp() == claims_of(token)["exp"]

    def test_that_expired_leaves_nothing_to_remember(self, acme):
        client = acme.application()
        claims = claims_of(client.tokens_for(acme.user())["access_token"])
        expired = signed_by(acme, claims | {"iat": claims["iat"] - 7200, "exp": claims["exp"] - 7200})

        answer = revoke(client, expired)

        assert is_done(answer)
        with acme.active():
            assert not RevokedToken.objects.exists()


class TestOfSomebodyElse:
    @pytest.mark.parametrize("name", ["refresh_token", "access_token"])
    def test_decision_O12_case_E03_is_left_alone(self, acme, name):
        client, thief = acme.application(), acme.application("SPA", name="Thief")
        tokens = client.tokens_for(acme.user())

        answer = revoke(thief, tokens[name])

        assert is_done(answer)
        assert client.userinfo(tokens["access_token"]).status_code == 200
        assert client.refresh(tokens["refresh_token"]).status_code == 200
        assert not Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Revoke").exists()

    @pytest.mark.parametrize("name", ["refresh_token", "access_token"])
    def test_of_another_tenant_is_left_alone(self, acme, rival, name):
        client, stranger = acme.application(), rival.application()
        tokens = client.tokens_for(acme.user())
        with rival.active():
            type(stranger.application).objects.filter(pk=stranger.application.pk).update(
                client_id=client.client_id
            )

        answer = rival.post(
            "/oidc/revoke", data={"token": tokens[name]}, auth=(client.client_id, stranger.secret)
        )

        assert is_done(answer)
        assert client.userinfo(tokens["access_token"]).status_code == 200
        assert client.refresh(tokens["refresh_token"]).status_code == 200


class TestGarbage:
    @pytest.mark.parametrize(
        "token",
        [
            *("x", "....", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "é", "' OR 1=1 --", "\U0001f600"),
            *(" ", "\n", "a" * 16_000, "00000000-0000-0000-0000-000000000000.0.00000000." + "A" * 43),
        ],
    )
    def test_decision_O12_case_E04_is_200(self, acme, token):
        assert is_done(revoke(acme.application(), token))

    def test_case_E04_forged_tokens_are_200_and_end_nothing(self, acme):
        client = acme.application()
        tokens = client.tokens_for(acme.user())
        refresh, access = tokens["refresh_token"], tokens["access_token"]
        forged = [
            refresh[:-1] + ("A" if refresh[-1] != "A" else "B"),
            refresh.replace(".0.", ".1."),
            access[:-4] + "AAAA",
            access.rpartition(".")[0] + ".",
            altered(access, "claims", exp=2**40),
            altered(access, "header", alg="none"),
            tokens["id_token"],
        ]

        answers = [revoke(client, token) for token in forged]

        assert all(is_done(answer) for answer in answers)
        assert client.userinfo(access).status_code == 200
        assert client.refresh(refresh).status_code == 200

    @pytest.mark.parametrize("token", [None, ""])
    def test_case_E04_no_token_is_invalid_request(self, acme, token):
        client = acme.application()

        answer = acme.post("/oidc/revoke", data={} if token is None else {"token": token}, auth=client.basic)

        # Without any parameter there is no form, either.
        assert refusal(answer) in {(400, "invalid_request"), (415, "invalid_request")}

    @pytest.mark.parametrize(
        ("body", "content_type", "status"),
        [
            (b"token=a&token=b", FORM["Content-Type"], 400),
            (b"token=a%00", FORM["Content-Type"], 400),
            (b"token=%ff", FORM["Content-Type"], 400),
            (b"token=" + b"a" * 140_000, FORM["Content-Type"], 400),
            (b"token=" + b"a" * 10_000_000, FORM["Content-Type"], 413),
            (b'{"token": "a"}', "application/json", 415),
            (b"token=a", "text/plain", 415),
            (b"token=a", "", 415),
            (b"", FORM["Content-Type"], 400),
        ],
    )
    def test_bad_requests_are_refused_in_one_shape(self, acme, body, content_type, status):
        client = acme.application()

        answer = acme.post(
            "/oidc/revoke", content=body, headers={"Content-Type": content_type}, auth=client.basic
        )

        assert refusal(answer) == (status, "invalid_request")

    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
    def test_takes_no_other_method(self, acme, method):
        answer = httpx.request(method, f"{acme.address}/oidc/revoke?token=x")

        assert refusal(answer) == (405, "invalid_request")
        assert answer.headers["Allow"] == "POST, OPTIONS"

    def test_a_token_in_the_address_is_not_taken(self, acme):
        client = acme.application()
        tokens = client.tokens_for(acme.user())

        answer = acme.post(f"/oidc/revoke?token={tokens['access_token']}", data={"x": "y"}, auth=client.basic)

        assert refusal(answer) == (400, "invalid_request")
        assert client.userinfo(tokens["access_token"]).status_code == 200


class TestClient:
    @pytest.mark.parametrize("name", ["refresh_token", "access_token"])
    def test_decision_O12_case_E05_with_wrong_credentials_takes_nothing_back(self, acme, name):
        client = acme.application()
        tokens = client.tokens_for(acme.user())

        answers = [
            revoke(client, tokens[name], auth=(client.client_id, "wrong")),
            revoke(client, tokens[name], auth=None, client_id=client.client_id),
            revoke(client, tokens[name], auth=None),
        ]

        assert [refusal(answer) for answer in answers] == [(401, "invalid_client")] * 3
        assert client.userinfo(tokens["access_token"]).status_code == 200
        assert client.refresh(tokens["refresh_token"]).status_code == 200

    def test_decision_H11_may_be_called_from_the_origin_of_a_redirect_uri(self, acme):
        client = acme.application("SPA")

        answer = acme.post(
            "/oidc/revoke",
            data={"token": "x", "client_id": client.client_id},
            headers={"Origin": "https://rp.example"},
        )

        assert is_done(answer)
        assert answer.headers["Access-Control-Allow-Origin"] == "https://rp.example"


def test_case_E06_a_database_that_is_away_is_503_and_never_200(acme):
    client = acme.application()
    token = client.tokens_for(acme.user())["refresh_token"]
    inside = Client(raise_request_exception=False)

    with mock.patch.object(families, "find", side_effect=OperationalError("gone")):
        answer = inside.generic(
            "POST",
            f"/t/{acme.tenant.slug}/oidc/revoke",
            f"token={token}&client_id={client.client_id}&client_secret={client.secret}",
            content_type=FORM["Content-Type"],
        )

    assert answer.status_code == 503
    assert answer.json()["error"] == "temporarily_unavailable"
    assert answer.headers["Retry-After"]
    assert answer.headers["Cache-Control"] == "no-store"
    with acme.active():
        assert RefreshFamily.objects.get().ended_at is None
