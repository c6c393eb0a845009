"""Refreshes that a plan answers, those that none may answer, and attacks on the plans."""

from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils import timezone

from audit.models import Entry
from identity.core import assignments
from identity.resources import services as resources
from identity.roles import services as roles
from identity.roles.models import Role
from oidc.grants import rotation
from oidc.grants.models import RefreshFamily
from oidc.provider.token import plan_store
from tests.support import cast, comparison
from tests.support.in_process import SurfacesWorld
from tests.support.independent import claims_of, header_of, key_set, verified
from tests.support.refresh_plans import API, REFUSED, Refreshing, entries_of, kept_plans
from tests.support.threads import at_once, rounds


class TestAPlan:
    def test_answers_from_the_second_refresh_on(self, here, user):
        refresh = Refreshing(here.application(), user)
        planned = []
        for _ in range(3):
            refresh()
            planned.append(refresh.is_planned)

        assert planned == [False, True, True]
        assert refresh.family.generation == 3

    def test_answers_for_other_users_of_the_application(self, here, refresh):
        other = Refreshing(refresh.client, here.user(name="Grace"))

        claims = verified(other()["id_token"], key_set(here))

        assert other.is_planned
        assert claims["name"] == "Grace"

    def test_gives_the_tokens_of_all_steps(self, here, user):
        refresh = Refreshing(here.application(), user)
        first, second = refresh(), refresh()

        assert refresh.is_planned
        assert set(first) == set(second)
        for name in ("access_token", "id_token"):
            before, after = (verified(tokens[name], key_set(here)) for tokens in (first, second))
            fresh = {"iat", "exp", "jti", "at_hash"}
            assert set(before) == set(after)
            assert {key: value for key, value in before.items() if key not in fresh} == {
                key: value for key, value in after.items() if key not in fresh
            }
            assert after["exp"] - after["iat"] == 3600

    def test_writes_an_entry_with_what_this_request_says_of_itself(self, here, refresh):
        answer = refresh.send()

        entry = Entry.objects.of_request(answer.headers["X-Request-Id"]).get()
        assert refresh.is_planned
        assert (entry.tenant_id, entry.key, entry.ip) == (here.tenant.pk, "Token.Refresh", "127.0.0.1")
        assert entry.user_agent.startswith("python-httpx")
        assert entry.payload["access_token_exp"] == claims_of(answer.json()["access_token"])["exp"]
        assert entry.payload["id_token_exp"] == claims_of(answer.json()["id_token"])["exp"]

    def test_covers_the_secret_in_the_body(self, here, user):
        client = here.application()
        form = {"auth": None, "client_id": client.client_id, "client_secret": client.secret}
        refresh = Refreshing(client, user, **form)
        refresh()
        refresh()

        assert refresh.is_planned
        assert refresh.send(client_secret="wrong").status_code == 401
        assert client.secret not in repr(plan_store._plans.of_tenants)

    def test_covers_a_public_client(self, here, user):
        client = here.application("Native")
        refresh = Refreshing(client, user, auth=None, client_id=client.client_id)
        refresh()
        refresh()

        assert refresh.is_planned

    def test_covers_resources_and_narrower_scopes(self, here, user):
        with here.active():
            api = resources.create(name="API", indicator=API, access_token_signing_alg="RS256")
            role = Role.objects.create(name="Reader", type=Role.Type.USER)
            assignments.replace(
                roles.SCOPES,
                role.pk,
                [str(resources.add_scope(api.pk, name=name).pk) for name in "ab"],
                is_proven=True,
            )
            assignments.add(roles.USERS, role.pk, [str(user.pk)])
        refresh = Refreshing(here.application(), user, resource=API, scope="openid a")
        refresh()

        tokens = refresh()

        assert refresh.is_planned
        assert tokens["scope"] == "openid a"
        assert header_of(tokens["access_token"])["alg"] == "RS256"
        with here.active():
            assignments.replace(roles.SCOPES, role.pk, [], is_proven=True)
        assert refresh()["scope"] == "openid"
        assert refresh.is_planned

    def test_is_for_the_same_bytes(self, refresh):
        refresh.send(scope="openid")

        assert not refresh.is_planned

    def test_holds_no_refresh_token(self, refresh):
        refresh.send("unknown")
        kept = repr(plan_store._plans.of_tenants)

        assert refresh.tokens["refresh_token"] not in kept
        assert refresh.client.secret not in kept
        assert "Ada" not in kept


class TestARefreshTokenThatIsNotTheNewest:
    def test_is_a_retry_and_gets_the_newest_again(self, here, refresh):
        before = refresh.tokens["refresh_token"]
        newest = refresh()["refresh_token"]

        answer = refresh.send(before)

        assert answer.json()["refresh_token"] == newest
        assert not refresh.is_planned
        refresh()
        assert refresh.is_planned

    def test_is_a_replay_and_ends_the_family(self, here, refresh):
        replayed = refresh.tokens["refresh_token"]
        refresh()
        refresh()
        access_token = refresh()["access_token"]

        assert refresh.refusal(replayed) == REFUSED
        assert refresh.refusal() == REFUSED
        assert refresh.client.userinfo(access_token).status_code == 401
        assert [entry.payload["reason"] for entry in entries_of(here, "Token.Revoke")] == ["replayed"]
        failures = [entry for entry in entries_of(here, "Token.Refresh") if "error" in entry.payload]
        assert len(failures) == 2

    def test_is_refused_if_its_mac_is_not_ours(self, refresh):
        token = refresh.tokens["refresh_token"]
        head, _, mac = token.rpartition(".")
        forged = f"{head}.{'B' if mac[0] == 'A' else 'A'}{mac[1:]}"

        for other in (forged, f"{token}x", token.replace(".", "", 1), ""):
            assert refresh.refusal(other)[0] == 400
        refresh()
        assert refresh.is_planned

    def test_of_another_application_is_refused(self, here, user, refresh):
        other = Refreshing(here.application(), user)

        assert refresh.refusal(other.tokens["refresh_token"]) == REFUSED
        assert other()

    def test_of_another_public_application_is_refused(self, here, user):
        """Nothing but its application tells its family from those of the plan."""
        both = [
            Refreshing(client, user, auth=None, client_id=client.client_id)
            for client in (here.application("Native"), here.application("Native"))
        ]
        for _ in range(2):
            both[0]()

        assert both[0].is_planned
        assert both[0].refusal(both[1].tokens["refresh_token"]) == REFUSED

    def test_attack_AP31_of_a_stranger_leaves_the_plan_of_a_public_application(self, here, user):
        client = here.application("Native")
        refresh = Refreshing(client, user, auth=None, client_id=client.client_id)
        stranger = Refreshing(here.application(), here.user())
        refresh()

        for token in (stranger.tokens["refresh_token"], "unknown"):
            assert refresh.refusal(token) == REFUSED

        refresh()
        assert refresh.is_planned

    def test_of_another_tenant_is_refused(self, here, refresh):
        rival = SurfacesWorld.of(cast.new_world("Rival"))
        rival.get("/.well-known/openid-configuration")
        other = Refreshing(rival.application(), rival.user())

        assert refresh.refusal(other.tokens["refresh_token"]) == REFUSED
        assert other()

    def test_was_revoked(self, here, refresh):
        here.post("/oidc/revoke", data={"token": refresh.tokens["refresh_token"]}, auth=refresh.client.basic)

        assert refresh.refusal() == REFUSED

    @pytest.mark.parametrize("column", ["idle_expires_at", "expires_at"])
    def test_has_expired(self, here, refresh, column):
        with here.active():
            RefreshFamily.objects.filter(pk=refresh.family.pk).update(**{column: timezone.now()})

        assert refresh.refusal() == REFUSED


class TestRefreshesAtOnce:
    def test_rotate_once_and_get_the_same_token(self, here, refresh):
        for _ in range(rounds(5)):
            token, generation = refresh.tokens["refresh_token"], refresh.family.generation
            answers = at_once(3, lambda _, token=token: refresh.client.refresh(token))

            assert {answer.status_code for answer in answers} == {200}
            assert len({answer.json()["refresh_token"] for answer in answers}) == 1
            assert refresh.family.generation == generation + 1
            refresh.tokens = answers[0].json()

    def test_that_lose_the_race_write_nothing_by_the_plan(self, here, refresh, monkeypatch):
        token, rotate = refresh.tokens["refresh_token"], rotation.advance_if_free

        def overtaken(family: Any, entry: Any) -> Any:
            monkeypatch.setattr(rotation, "advance_if_free", rotate)
            assert refresh.client.refresh(token).status_code == 200
            return (yield from rotate(family, entry))

        monkeypatch.setattr(rotation, "advance_if_free", overtaken)
        before = len(entries_of(here, "Token.Refresh"))

        answer = refresh.send()

        assert answer.status_code == 200
        assert not refresh.is_planned
        assert refresh.family.generation == 3
        assert len(entries_of(here, "Token.Refresh")) == before + 2


class TestMemory:
    def test_an_application_with_large_lists_has_no_plan(self, here, user):
        claims = [
            {"name": f"tier{number}", "source": {"value": "x" * 200}, "into": ["userinfo"]}
            for number in range(20)
        ]
        refresh = Refreshing(here.application(custom_claims=claims), user)
        refresh()
        refresh()

        assert not refresh.is_planned
        assert plan_store._plans.of_tenants == {}

    @pytest.mark.parametrize("secret", ["client%5Fsecret", "client_secret"])
    def test_a_secret_that_is_spelled_unusually_makes_no_plan(self, here, user, secret):
        client = here.application()
        token = client.tokens_for(user)["refresh_token"]
        spelled = "".join(f"%{ord(letter):02x}" for letter in client.secret)
        body = f"grant_type=refresh_token&refresh_token={token}&client_id={client.client_id}"
        form = {"Content-Type": "application/x-www-form-urlencoded"}

        answer = here.post("/oidc/token", content=f"{body}&{secret}={spelled}", headers=form)

        assert answer.status_code == 200
        assert kept_plans() == []

    def test_a_refresh_token_that_is_spelled_unusually_makes_no_plan(self, here, user):
        client = here.application()
        token = client.tokens_for(user)["refresh_token"].replace(".", "%2E")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        body = f"grant_type=refresh_token&refresh_token={token}"

        answer = here.post("/oidc/token", content=body, headers=form, auth=client.basic)

        assert answer.status_code == 200
        assert kept_plans() == []

    def test_a_secret_that_is_stored_with_an_older_key_makes_one_after_it_is_renewed(self, here, user):
        refresh = Refreshing(here.application(), user)

        with override_settings(ENCRYPTION_KEYS={"00000000": bytes(32)} | settings.ENCRYPTION_KEYS):
            refresh()
            assert kept_plans() == []
            refresh()
            refresh()

        assert refresh.is_planned


def test_the_server_of_the_run_has_compared_refreshes_with_all_steps(acme):
    client = acme.application()
    token, ids = client.tokens_for(acme.user())["refresh_token"], []
    for _ in range(3):
        answer = client.refresh(token)
        token = answer.json()["refresh_token"]
        ids.append(answer.headers["X-Request-Id"])

    by_id = {line[3]: line[0] for line in comparison.lines() if line[0] != "differs"}
    assert [by_id[each] for each in ids] == ["by its surface"] * 3
    assert comparison.differences() == []
