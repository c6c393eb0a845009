"""The refresh grant: rotation, and the grace for a retry."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings

from audit.models import Entry
from oidc.grants.models import RefreshFamily
from tests.support import second
from tests.support.independent import claims_of, key_set, verified
from tests.support.refresh_families import GONE, aged, is_dead
from tests.support.refusals import refusal


class TestRefresh:
    @pytest.mark.parametrize("type", ["Traditional", "SPA", "Native"])
    def test_case_D02_gives_the_members_of_the_interface_with_a_new_refresh_token(self, acme, type):  # noqa: A002
        client = acme.application(type)
        first = client.tokens_for(acme.user())

        answer = client.refresh(first["refresh_token"])

        second = answer.json()
        assert answer.status_code == 200
        assert set(second) == set(first)
        assert (second["token_type"], second["expires_in"]) == ("Bearer", 3600)
        assert second["scope"] == first["scope"]
        for name in ("refresh_token", "access_token", "id_token"):
            assert second[name] != first[name]
        assert client.userinfo(second["access_token"]).status_code == 200

    def test_works_for_a_public_client_without_a_secret(self, acme):
        client = acme.application("SPA")
        first = client.tokens_for(acme.user())

        answer = client.refresh(first["refresh_token"], auth=None, client_id=client.client_id)

        assert answer.status_code == 200

    def test_keeps_the_person_and_the_moment_of_the_sign_in(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user(), nonce="n-1")
        aged(client, auth_time=timedelta(hours=5))

        second = client.refresh(first["refresh_token"]).json()

        before, after = claims_of(first["id_token"]), verified(second["id_token"], key_set(acme))
        for name in ("iss", "sub", "aud", "sid", "amr"):
            assert after[name] == before[name]
        # OpenID Connect Core 12.2: auth_time is that of the original authentication, and a
        # nonce, if there is one, is the original one.
        assert after["auth_time"] == before["auth_time"] - 5 * 3600
        assert "nonce" not in after
        assert "azp" not in before.keys() | after.keys()
        assert abs(after["iat"] - time.time()) < 5
        assert after["exp"] - after["iat"] == 3600

    def test_reads_the_user_anew(self, acme):
        client, user = acme.application(), acme.user(name="Before")
        first = client.tokens_for(user)
        with acme.active():
            type(user).objects.filter(pk=user.pk).update(name="After")

        second = client.refresh(first["refresh_token"]).json()

        assert claims_of(first["id_token"])["name"] == "Before"
        assert claims_of(second["id_token"])["name"] == "After"

    def test_leaves_an_audit_entry_without_secrets(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)

        second = client.refresh(first["refresh_token"]).json()

        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Refresh")
        assert entry.payload["result"] == "success"
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
        for tokens in (first, second):
            for name in ("refresh_token", "access_token", "id_token"):
                assert tokens[name] not in str(entry.payload)

    @pytest.mark.parametrize("sent", [None, ""])
    def test_needs_a_refresh_token(self, acme, sent):
        answer = acme.application().token(grant_type="refresh_token", refresh_token=sent)

        assert refusal(answer) == (400, "invalid_request")


class TestGrace:
    def test_decision_O7_case_D05_answers_a_retry_with_the_very_same_successor(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())

        answers = [client.refresh(first["refresh_token"]).json() for _ in range(4)]

        assert len({answer["refresh_token"] for answer in answers}) == 1
        assert len({claims_of(answer["access_token"])["jti"] for answer in answers}) == 4
        assert [client.userinfo(answer["access_token"]).status_code for answer in answers] == [200] * 4
        assert client.refresh(answers[0]["refresh_token"]).status_code == 200

    def test_decision_O7_mints_for_the_parameters_of_the_retry(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        client.refresh(first["refresh_token"])

        retry = client.refresh(first["refresh_token"], scope="profile").json()

        assert retry["scope"] == claims_of(retry["access_token"])["scope"] == "profile"
        assert "id_token" not in retry

    def test_leaves_an_audit_entry_for_each_retry(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())

        for _ in range(3):
            client.refresh(first["refresh_token"])

        entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Refresh")
        assert [entry.payload["result"] for entry in entries] == ["success"] * 3

    def test_decision_O7_lasts_nearly_ten_seconds(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()
        aged(client, rotated_at=timedelta(seconds=7))

        retry = client.refresh(first["refresh_token"])

        assert retry.json()["refresh_token"] == second["refresh_token"]

    def test_decision_O7_a_retry_does_not_prolong_it(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        client.refresh(first["refresh_token"])
        aged(client, rotated_at=timedelta(seconds=6))
        client.refresh(first["refresh_token"])
        aged(client, rotated_at=timedelta(seconds=5))

        late = client.refresh(first["refresh_token"])

        assert refusal(late) == GONE

    def test_case_D03_after_it_a_replay_ends_the_family(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        second = client.refresh(first["refresh_token"]).json()
        aged(client, rotated_at=timedelta(seconds=10.5))

        replay = client.refresh(first["refresh_token"])

        assert refusal(replay) == GONE
        assert is_dead(client, first, second)
        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Revoke")
        assert entry.payload["reason"] == "replayed"
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))

    def test_decision_O7_case_D05_does_not_reach_back_further_than_one_token(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()
        third = client.refresh(second["refresh_token"]).json()

        replay = client.refresh(first["refresh_token"])

        assert refusal(replay) == GONE
        assert is_dead(client, second, third)

    def test_decision_O7_case_D05_ends_with_the_family_that_was_revoked_on_purpose(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()
        acme.post("/oidc/revoke", data={"token": second["refresh_token"]}, auth=client.basic)

        retry = client.refresh(first["refresh_token"])

        assert refusal(retry) == GONE

    def test_decision_O7_ends_only_the_family_of_the_replay(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        first = client.tokens_for(user, browser)
        client.refresh(first["refresh_token"])
        aged(client, rotated_at=timedelta(seconds=11))
        sibling = client.tokens_for(user, browser)

        client.refresh(first["refresh_token"])

        assert client.refresh(sibling["refresh_token"]).status_code == 200

    @pytest.mark.parametrize("asked", [{"scope": "made:up"}, {"resource": "https://nowhere.example"}])
    def test_decision_O7_a_replay_ends_the_family_though_the_replay_asks_for_nonsense(self, acme, asked):
        client = acme.application()
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()
        aged(client, rotated_at=timedelta(seconds=11))

        replay = client.refresh(first["refresh_token"], **asked)

        assert refusal(replay) == GONE
        assert is_dead(client, second)

    def test_case_D15_a_node_that_was_just_started_knows_which_tokens_are_over(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        second_ = client.refresh(first["refresh_token"]).json()
        aged(client, rotated_at=timedelta(seconds=11))

        with second.running(BASE_URL=settings.BASE_URL, PORT=str(port := second.free_port())):
            there = replace(client, world=acme.at(f"http://127.0.0.1:{port}"))
            replay = there.refresh(first["refresh_token"])
            rightful = there.refresh(second_["refresh_token"])

        assert [refusal(answer) for answer in (replay, rightful)] == [GONE] * 2
        assert is_dead(client, first, second_)

    def test_decision_O7_a_generation_that_was_never_reached_ends_the_family(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()
        with acme.active():
            RefreshFamily.objects.update(generation=0)  # a backup was restored

        ahead = client.refresh(second["refresh_token"])

        assert refusal(ahead) == GONE
        assert is_dead(client, first, second)
        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Revoke")
        assert entry.payload["reason"] == "unknown_generation"
