"""Codes that a plan redeems, those that none may redeem, and attacks on the plans."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from audit.models import Entry
from identity.core import assignments
from identity.resources import services as resources
from identity.roles import services as roles
from identity.roles.models import Role
from oidc.applications.models import Application
from oidc.grants import redemption
from oidc.grants.models import AuthorizationCode, RefreshFamily
from oidc.provider.token import plan_store
from tests.support import cast, comparison
from tests.support.cast import CALLBACK, new_secret, s256
from tests.support.code_plans import Redeeming
from tests.support.in_process import SurfacesWorld
from tests.support.independent import claims_of, header_of, key_set, verified
from tests.support.issuing_plans import FORM
from tests.support.refresh_plans import API, REFUSED, Refreshing, entries_of
from tests.support.statement_costs import chained
from tests.support.threads import at_once, rounds

OTHER_CALLBACK = f"{CALLBACK}/other"
NO_PKCE: dict[str, str | None] = {"code_challenge": None, "code_challenge_method": None}


class TestAPlan:
    def test_answers_from_the_second_code_on(self, here, user):
        redeem = Redeeming(here.application(), user)
        planned = []
        for _ in range(3):
            redeem()
            planned.append(redeem.is_planned)

        assert planned == [False, True, True]

    def test_costs_a_read_and_a_change(self, redeem):
        code = redeem.new_code()

        with CaptureQueriesContext(connection) as captured:
            assert redeem.client.redeem(code).status_code == 200

        statements = [query["sql"].split()[0] for query in captured]
        assert len([each for each in statements if each not in {"BEGIN", "COMMIT"}]) == 1 + chained(3)

    def test_answers_for_other_users_and_verifiers(self, here, redeem):
        verifier = new_secret()
        other = Redeeming(redeem.client, here.user(name="Grace"), {"code_challenge": s256(verifier)})

        claims = verified(other(code_verifier=verifier)["id_token"], key_set(here))

        assert other.is_planned
        assert claims["name"] == "Grace"

    def test_gives_the_tokens_of_all_steps(self, here, user):
        redeem = Redeeming(here.application(), user)
        first, second = redeem(), redeem()

        assert redeem.is_planned
        assert set(first) == set(second) == {*("access_token", "id_token", "refresh_token"), *first}
        for name in ("access_token", "id_token"):
            before, after = (verified(tokens[name], key_set(here)) for tokens in (first, second))
            fresh = {"iat", "exp", "jti", "at_hash", "family_id"}
            assert set(before) == set(after)
            assert {key: value for key, value in before.items() if key not in fresh} == {
                key: value for key, value in after.items() if key not in fresh
            }
            assert after["exp"] - after["iat"] == 3600

    def test_gives_a_refresh_token_that_a_plan_accepts(self, here, user, redeem):
        refresh = Refreshing(redeem.client, user)
        refresh()
        refresh.tokens = redeem()
        assert redeem.is_planned

        refresh()

        assert refresh.is_planned
        assert redeem.client.userinfo(refresh.tokens["access_token"]).status_code == 200

    def test_gives_what_each_code_was_issued_for(self, here, redeem):
        plain = redeem(redeem.new_code(scope="openid", nonce="another"))

        assert redeem.is_planned
        assert "refresh_token" not in plain
        assert plain["scope"] == "openid"
        assert claims_of(plain["id_token"])["nonce"] == "another"
        assert "sid" in claims_of(plain["access_token"])

    def test_writes_an_entry_with_what_this_request_says_of_itself(self, here, user, redeem):
        answer = redeem.send()

        entry = Entry.objects.of_request(answer.headers["X-Request-Id"]).get()
        assert redeem.is_planned
        assert (entry.tenant_id, entry.key, entry.ip) == (here.tenant.pk, "Token.Exchange", "127.0.0.1")
        assert entry.user_agent.startswith("python-httpx")
        assert entry.user_id == str(user.pk)
        assert entry.payload["access_token_exp"] == claims_of(answer.json()["access_token"])["exp"]
        assert entry.payload["id_token_exp"] == claims_of(answer.json()["id_token"])["exp"]

    def test_covers_the_secret_in_the_body(self, here, user):
        client = here.application()
        form = {"auth": None, "client_id": client.client_id, "client_secret": client.secret}
        redeem = Redeeming(client, user, **form)
        redeem()
        redeem()

        assert redeem.is_planned
        assert redeem.refusal(client_secret="wrong") == (401, "invalid_client")
        assert client.secret not in repr(plan_store._plans.of_tenants)

    def test_covers_a_public_client(self, here, user):
        client = here.application("Native")
        redeem = Redeeming(client, user, auth=None, client_id=client.client_id)
        redeem()
        redeem()

        assert redeem.is_planned

    def test_covers_a_client_without_pkce(self, here, user):
        redeem = Redeeming(here.application(), user, NO_PKCE, code_verifier=None)
        redeem()
        redeem()

        assert redeem.is_planned

    def test_covers_resources(self, here, user):
        with here.active():
            api = resources.create(name="API", indicator=API, access_token_signing_alg="RS256")
            role = Role.objects.create(name="Reader", type=Role.Type.USER)
            assignments.replace(
                roles.SCOPES, role.pk, [str(resources.add_scope(api.pk, name="read").pk)], is_proven=True
            )
            assignments.add(roles.USERS, role.pk, [str(user.pk)])
        redeem = Redeeming(here.application(), user, {"resource": API, "scope": "openid read"})
        redeem()

        tokens = redeem()

        assert redeem.is_planned
        assert tokens["scope"] == "openid read"
        assert header_of(tokens["access_token"])["alg"] == "RS256"
        with here.active():
            assignments.replace(roles.SCOPES, role.pk, [], is_proven=True)
        assert redeem()["scope"] == "openid"
        assert redeem.is_planned

    def test_is_for_the_same_bytes(self, redeem):
        redeem.send(x="y")

        assert not redeem.is_planned

    def test_holds_no_code_and_no_verifier(self, redeem):
        code = redeem.new_code()
        redeem(code)
        kept = repr(plan_store._plans.of_tenants)

        assert code not in kept
        assert redeem.client.verifier not in kept
        assert redeem.client.secret not in kept
        assert "Ada" not in kept

    def test_of_a_native_application_is_not_made_for_each_port(self, here, user):
        client = here.application("Native", redirect_uris=["http://127.0.0.1/callback"])
        redeem = Redeeming(client, user, auth=None, client_id=client.client_id)
        for port in (50001, 50001, 50002):
            uri = f"http://127.0.0.1:{port}/callback"
            redeem(redeem.new_code(redirect_uri=uri), redirect_uri=uri)
            assert not redeem.is_planned

        assert plan_store._plans.of_tenants == {}

    @pytest.mark.parametrize("name", ["code", "code_verifier", "code%5Fverifier"])
    def test_is_not_made_of_values_that_are_spelled_unusually(self, redeem, name):
        """The bytes would be kept, and be another request each time."""
        plan_store._plans = plan_store.Plans()
        code = redeem.new_code()
        sent = {"code": code, "code_verifier": redeem.client.verifier}
        spelled = {"%5F": "code_verifier"}.get(name[4:7], name)
        value = "".join(f"%{ord(letter):02x}" for letter in sent.pop(spelled))
        sent |= {"grant_type": "authorization_code", "redirect_uri": CALLBACK}
        body = f"{urlencode(sent)}&{name}={value}"

        answer = redeem.client.world.post("/oidc/token", content=body, headers=FORM, auth=redeem.client.basic)

        assert answer.status_code == 200, answer.text
        assert plan_store._plans.of_tenants == {}

    def test_is_not_made_with_a_refresh_token_that_is_ignored(self, redeem):
        for _ in range(2):
            redeem(refresh_token="x")
            assert not redeem.is_planned


class TestAUsedCode:
    def test_is_a_replay_and_revokes_the_tokens(self, here, redeem):
        code = redeem.new_code()
        tokens = redeem(code)
        assert redeem.is_planned

        assert redeem.refusal(code) == REFUSED

        assert redeem.client.userinfo(tokens["access_token"]).status_code == 401
        assert redeem.client.refresh(tokens["refresh_token"]).status_code == 400
        assert [entry.payload["reason"] for entry in entries_of(here, "Token.Revoke")] == ["code_reused"]
        failures = [entry for entry in entries_of(here, "Token.Exchange") if "error" in entry.payload]
        assert len(failures) == 1

    def test_revokes_a_token_without_a_family(self, here, redeem):
        code = redeem.new_code(scope="openid")
        tokens = redeem(code)
        assert redeem.is_planned

        assert redeem.refusal(code) == REFUSED

        assert redeem.client.userinfo(tokens["access_token"]).status_code == 401

    def test_that_was_redeemed_without_a_plan_revokes_with_one(self, here, user):
        redeem = Redeeming(here.application(), user)
        code = redeem.new_code()
        tokens, is_planned = redeem(code), redeem.is_planned
        redeem()

        assert (is_planned, redeem.is_planned) == (False, True)
        assert redeem.refusal(code) == REFUSED
        assert redeem.client.userinfo(tokens["access_token"]).status_code == 401

    @pytest.mark.parametrize("change", [{"code_verifier": "x" * 43}, {"redirect_uri": OTHER_CALLBACK}])
    def test_with_something_else_wrong_revokes_nothing(self, redeem, change):
        code = redeem.new_code()
        tokens = redeem(code)

        assert redeem.refusal(code, **change) == REFUSED
        assert redeem.client.userinfo(tokens["access_token"]).status_code == 200

    def test_leaves_the_plan(self, redeem):
        code = redeem.new_code()
        redeem(code)
        redeem.refusal(code)

        redeem()

        assert redeem.is_planned


class TestACode:
    def test_of_another_application_is_refused(self, here, user, redeem):
        other = Redeeming(here.application(), user)
        code = other.new_code()

        assert redeem.refusal(code, code_verifier=other.client.verifier) == REFUSED
        assert other(code)

    def test_of_another_public_application_is_refused(self, here, user):
        """Nothing but its application tells its code from those of the plan."""
        both = [
            Redeeming(client, user, auth=None, client_id=client.client_id)
            for client in (here.application("Native"), here.application("Native"))
        ]
        for _ in range(2):
            both[0]()
        assert both[0].is_planned
        code, verifier = both[1].new_code(), both[1].client.verifier

        assert both[0].refusal(code, code_verifier=verifier) == REFUSED
        assert both[1](code)

    def test_of_another_tenant_is_refused_even_with_the_same_client_id_and_secret(self, here, user, redeem):
        rival = SurfacesWorld.of(cast.new_world("Rival"))
        rival.get("/.well-known/openid-configuration")
        with here.active():
            digest = Application.objects.get(pk=redeem.client.application.pk).secret_digest
        twin = rival.application()
        other = Redeeming(twin, rival.user())
        code = other.new_code()
        with rival.active():
            twins = Application.objects.filter(pk=twin.application.pk)
            twins.update(client_id=redeem.client.client_id, secret_digest=digest)

        assert redeem.refusal(code, code_verifier=twin.verifier) == REFUSED

    @pytest.mark.parametrize("code", ["x", "unknown" * 9, "é", ""])
    def test_that_is_unknown_is_refused_and_leaves_the_plan(self, redeem, code):
        assert redeem.refusal(code)[0] == 400

        redeem()
        assert redeem.is_planned

    def test_attack_AP31_of_a_stranger_leaves_the_plan_of_a_public_application(self, here, user):
        client = here.application("Native")
        redeem = Redeeming(client, user, auth=None, client_id=client.client_id)
        stranger = Redeeming(here.application(), here.user())
        redeem()

        assert redeem.refusal(stranger.new_code()) == REFUSED

        redeem()
        assert redeem.is_planned

    def test_has_expired(self, here, redeem):
        code = redeem.new_code()
        with here.active():
            AuthorizationCode.objects.filter(pk=redeem.last_row.pk).update(expires_at=Now())

        assert redeem.refusal(code) == REFUSED

    def test_was_issued_for_another_redirect_uri(self, here, user):
        client = here.application(redirect_uris=[CALLBACK, OTHER_CALLBACK])
        redeem = Redeeming(client, user)
        redeem()
        redeem()
        code = redeem.new_code(redirect_uri=OTHER_CALLBACK)

        assert redeem.refusal(code) == REFUSED
        assert redeem(code, redirect_uri=OTHER_CALLBACK)


class TestCodesAtOnce:
    def test_are_redeemed_once_and_then_revoked(self, here, redeem):
        for scope in ("openid offline_access", "openid") * rounds(3):
            code = redeem.new_code(scope=scope)
            answers = at_once(4, lambda _, code=code: redeem.client.redeem(code))

            assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]
            [tokens] = [answer.json() for answer in answers if answer.status_code == 200]
            assert redeem.client.userinfo(tokens["access_token"]).status_code == 401

    def test_that_lose_the_race_write_nothing_by_the_plan(self, here, redeem, monkeypatch):
        code, redeem_if_free = redeem.new_code(), redemption.redeem_if_free

        def overtaken(*arguments: Any) -> Any:
            monkeypatch.setattr(redemption, "redeem_if_free", redeem_if_free)
            assert redeem.client.redeem(code).status_code == 200
            return (yield from redeem_if_free(*arguments))

        monkeypatch.setattr(redemption, "redeem_if_free", overtaken)
        with here.active():
            before = RefreshFamily.objects.count()

        assert redeem.refusal(code) == REFUSED

        with here.active():
            assert RefreshFamily.objects.count() == before + 1
            assert RefreshFamily.objects.latest("pk").end_reason == "code_reused"


def test_the_server_of_the_run_has_compared_codes_with_all_steps(acme):
    client, user, browser = acme.application(), acme.user(), acme.browser()
    answers = [client.redeem(browser.code_for(client, user)) for _ in range(6)]  # more than one a worker

    by_id = {line[3]: line[0] for line in comparison.lines() if line[0] != "differs"}
    assert by_id[answers[-1].headers["X-Request-Id"]] == "by its surface"
    assert comparison.differences() == []
