"""The refresh grant: rotation, the grace for a retry, and the end of a family."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from audit.models import Entry
from identity.users import credentials
from identity.users import services as users
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily
from tests.support import second
from tests.support.cast import PASSWORD
from tests.support.independent import claims_of, key_set, verified


def refusal(answer) -> tuple[int, str]:
    """Return status and error word of an answer that must hold no token."""
    body = answer.json()
    assert set(body) == {"error", "error_description"}, body
    return answer.status_code, body["error"]


GONE = (400, "invalid_grant")


def aged(client, **fields) -> None:
    """Move times of the application's only family, as if time had passed."""
    with client.world.active():
        RefreshFamily.objects.filter(application=client.application).update(
            **{name: F(name) - passed for name, passed in fields.items()}
        )


def family_of(client) -> RefreshFamily:
    with client.world.active():
        return RefreshFamily.objects.get(application=client.application)


def is_dead(client, *token_sets) -> bool:
    return all(
        refusal(client.refresh(tokens["refresh_token"])) == GONE
        and client.userinfo(tokens["access_token"]).status_code == 401
        for tokens in token_sets
    )


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


class TestLifetime:
    def test_case_D09_ends_14_days_after_the_last_use(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        lasts = family_of(client).idle_expires_at - family_of(client).created_at
        aged(client, idle_expires_at=timedelta(days=14))

        answer = client.refresh(first["refresh_token"])

        assert abs(lasts - timedelta(days=14)) < timedelta(seconds=5)
        assert refusal(answer) == GONE
        assert client.userinfo(first["access_token"]).status_code == 401

    def test_decision_O7_each_use_makes_it_last_14_days_again(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        aged(client, idle_expires_at=timedelta(days=13, hours=23))

        second = client.refresh(first["refresh_token"]).json()
        aged(client, idle_expires_at=timedelta(days=13, hours=23))

        assert client.refresh(second["refresh_token"]).status_code == 200

    def test_decision_O7_a_retry_in_the_grace_is_no_use(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        client.refresh(first["refresh_token"])
        before = family_of(client)

        client.refresh(first["refresh_token"])

        after = family_of(client)
        assert after.idle_expires_at == before.idle_expires_at
        assert (after.generation, after.rotated_at) == (before.generation, before.rotated_at)

    def test_case_D08_ends_180_days_after_it_began_however_often_it_is_used(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        lasts = family_of(client).expires_at - family_of(client).created_at
        second = client.refresh(first["refresh_token"]).json()
        aged(client, expires_at=timedelta(days=180))

        answer = client.refresh(second["refresh_token"])

        assert abs(lasts - timedelta(days=180)) < timedelta(seconds=5)
        assert refusal(answer) == GONE
        assert client.userinfo(second["access_token"]).status_code == 401

    def test_case_D08_a_use_does_not_move_its_last_day(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        before = family_of(client).expires_at

        client.refresh(first["refresh_token"])

        assert family_of(client).expires_at == before

    def test_the_grace_does_not_outlive_the_family(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        client.refresh(first["refresh_token"])
        aged(client, expires_at=timedelta(days=180))

        retry = client.refresh(first["refresh_token"])

        assert refusal(retry) == GONE

    def test_leaves_one_row_however_often_it_is_used(self, acme):
        client = acme.application()
        token = client.tokens_for(acme.user())["refresh_token"]

        for _ in range(5):
            token = client.refresh(token).json()["refresh_token"]

        assert family_of(client).generation == 5


class TestUser:
    def test_case_D10_suspended_ends_it_also_when_let_in_again(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        with acme.active():
            users.suspend(user)
            suspended = client.refresh(first["refresh_token"])
            users.suspend(user, suspended=False)

        let_in = client.refresh(first["refresh_token"])

        assert refusal(suspended) == refusal(let_in) == GONE
        assert client.userinfo(first["access_token"]).status_code == 401
        assert client.refresh(client.tokens_for(user)["refresh_token"]).status_code == 200

    def test_case_D10_suspended_ends_the_grace_too(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        second = client.refresh(first["refresh_token"]).json()
        with acme.active():
            users.suspend(user)

        assert is_dead(client, first, second)

    def test_case_D10_deleted_ends_it(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        with acme.active():
            users.remove(user)

        assert is_dead(client, first)

    def test_case_D10_with_another_password_ends_it(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        with acme.active():
            credentials.set_password(user, f"{PASSWORD} new")

        assert is_dead(client, first)

    def test_case_D18_signed_out_keeps_what_was_granted_for_offline_access(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        first = client.tokens_for(user, browser)
        signed_out = browser.get("/oidc/end-session", params={"id_token_hint": first["id_token"]})

        answer = client.refresh(first["refresh_token"])

        assert "session" in signed_out.headers["Set-Cookie"]
        assert answer.status_code == 200
        assert client.userinfo(answer.json()["access_token"]).status_code == 200


class TestClient:
    def test_case_D06_another_one_cannot_use_it_and_ends_nothing(self, acme):
        client, thief = acme.application(), acme.application(name="Thief")
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()
        aged(client, rotated_at=timedelta(seconds=11))

        stolen = [thief.refresh(tokens["refresh_token"]) for tokens in (first, second)]

        assert [refusal(answer) for answer in stolen] == [GONE, GONE]
        assert client.refresh(second["refresh_token"]).status_code == 200

    def test_case_D07_a_public_one_must_say_who_it_is(self, acme):
        client, other = acme.application("SPA"), acme.application("SPA", name="Other")
        first = client.tokens_for(acme.user())

        nobody = client.refresh(first["refresh_token"], auth=None)
        another = client.refresh(first["refresh_token"], auth=None, client_id=other.client_id)

        assert refusal(nobody) == (401, "invalid_client")
        assert refusal(another) == GONE
        assert client.refresh(first["refresh_token"]).status_code == 200

    def test_of_another_tenant_cannot_use_it(self, acme, rival):
        client, twin = acme.application(), rival.application()
        first = client.tokens_for(acme.user())
        with rival.active():
            Application.objects.filter(pk=twin.application.pk).update(
                client_id=client.client_id, secret_digest=client.application.secret_digest
            )

        elsewhere = rival.post(
            "/oidc/token",
            data={"grant_type": "refresh_token", "refresh_token": first["refresh_token"]},
            auth=client.basic,
        )

        assert refusal(elsewhere) == GONE
        assert client.refresh(first["refresh_token"]).status_code == 200

    def test_case_D14_that_is_deleted_is_unknown(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        with acme.active():
            applications.remove(client.application)

        answer = client.refresh(first["refresh_token"])

        assert refusal(answer) == (401, "invalid_client")
        assert client.userinfo(first["access_token"]).status_code == 401

    def test_case_D14_that_lost_the_grant_is_not_authorized(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        with acme.active():
            Application.objects.filter(pk=client.application.pk).update(grant_types=["authorization_code"])

        answer = client.refresh(first["refresh_token"])

        assert refusal(answer) == (400, "unauthorized_client")


class TestText:
    def test_case_D16_another_kind_of_token_is_no_refresh_token(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        code = browser.code_for(client, user)

        answers = [client.refresh(text) for text in (tokens["access_token"], tokens["id_token"], code)]

        assert [refusal(answer) for answer in answers] == [GONE] * 3
        assert client.redeem(code).status_code == 200

    def test_a_changed_part_makes_it_worthless_and_ends_nothing(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        token = client.tokens_for(user, browser)["refresh_token"]
        sibling = client.tokens_for(user, browser)["refresh_token"]
        family, generation, key, mac = token.split(".")
        other_family, _, _, other_mac = sibling.split(".")
        forged = [
            (family, "1", key, mac),
            (family, "99", key, mac),
            (family, "00", key, mac),
            (other_family, generation, key, mac),
            (family, generation, key, other_mac),
            (family, generation, "0" * 8, mac),
            (family, generation, key, mac[:-1]),
            (family, generation, key, mac + "A"),
            (family, generation, key, "A" * 43),
            (family, generation, key, ""),
            (family.upper(), generation, key, mac),
            (family.replace("-", ""), generation, key, mac),
            (family, "-1", key, mac),
            (family, "\u0660", key, mac),
            (family, "9" * 40, key, mac),
        ]

        answers = [client.refresh(".".join(parts)) for parts in forged]

        assert [refusal(answer) for answer in answers] == [GONE] * len(forged)
        assert client.refresh(token).status_code == 200
        assert client.refresh(sibling).status_code == 200

    @pytest.mark.parametrize(
        "around", ["{} ", " {}", "{}\n", "{}.", ".{}", "{}.{}", "{0}{0}", "é{}", "{}\u202e"]
    )
    def test_nothing_may_stand_around_it(self, acme, around):
        client = acme.application()
        token = client.tokens_for(acme.user())["refresh_token"]

        answer = client.refresh(around.format(token, token))

        assert refusal(answer) == GONE

    @pytest.mark.parametrize("text", ["x", "....", "1.2.3.4", "' OR 1=1 --", "a" * 16_000, "\U0001f600" * 50])
    def test_garbage_is_refused(self, acme, text):
        answer = acme.application().refresh(text)

        assert refusal(answer) == GONE

    def test_case_D17_the_database_and_the_log_never_hold_it(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())["refresh_token"]
        second = client.refresh(first).json()["refresh_token"]

        with acme.active():
            [stored] = RefreshFamily.objects.values()

        for token in (first, second):
            assert token.rpartition(".")[2] not in str(stored)
            assert token not in (settings.VAR / "server.log").read_text()


class TestScope:
    def test_decision_O4_may_be_narrowed_for_one_answer(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user(email="a@acme.example"))

        second = client.refresh(first["refresh_token"], scope="openid email").json()
        third = client.refresh(second["refresh_token"]).json()

        assert second["scope"] == claims_of(second["access_token"])["scope"] == "openid email"
        assert set(client.userinfo(second["access_token"]).json()) == {"sub", "email", "email_verified"}
        assert "name" not in claims_of(second["id_token"])
        assert third["scope"] == first["scope"], "the family keeps its scope"

    def test_decision_O4_without_openid_there_is_no_id_token(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())

        second = client.refresh(first["refresh_token"], scope="profile").json()

        assert "id_token" not in second
        assert second["refresh_token"]
        assert client.userinfo(second["access_token"]).status_code == 403

    def test_decision_O3_case_D02_is_never_widened(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user(), scope="openid offline_access")

        second = client.refresh(
            first["refresh_token"], scope="openid profile email phone offline_access"
        ).json()

        assert second["scope"] == "openid offline_access"
        assert "username" not in claims_of(second["id_token"])

    def test_decision_O3_narrowed_once_it_is_not_widened_by_a_retry_of_the_narrow_token(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user(), scope="openid offline_access")
        client.refresh(first["refresh_token"])

        retry = client.refresh(first["refresh_token"], scope="openid profile").json()

        assert retry["scope"] == "openid"

    @pytest.mark.parametrize("scope", ["made:up", "OPENID", " ", "profile"])
    def test_decision_O4_words_outside_the_grant_are_dropped(self, acme, scope):
        client = acme.application()
        first = client.tokens_for(acme.user(), scope="openid offline_access")

        second = client.refresh(first["refresh_token"], scope=scope).json()

        granted = second["scope"]
        assert granted == claims_of(second["access_token"])["scope"]
        assert granted in {"", "openid offline_access"}
        assert ("id_token" in second) == ("openid" in granted)

    def test_an_empty_scope_counts_as_none(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())

        second = client.refresh(first["refresh_token"], scope="").json()

        assert second["scope"] == first["scope"]

    @pytest.mark.parametrize(
        "parameter",
        [
            {"resource": "https://api.example"},
            {"resource": "https://api.example", "organization_id": "x"},
            {"organization_id": "01890a5d-ac96-774b-bcce-b302099a8057"},
            {"organization_id": "not an id"},
        ],
    )
    def test_case_D12_D13_an_unknown_resource_or_organization_is_refused_and_uses_nothing_up(
        self, acme, parameter
    ):
        client = acme.application()
        first = client.tokens_for(acme.user())

        refused = client.refresh(first["refresh_token"], **parameter)

        assert refusal(refused) == (400, "invalid_request")
        assert family_of(client).generation == 0
        assert client.refresh(first["refresh_token"]).status_code == 200

    def test_case_D12_the_answer_does_not_tell_what_exists(self, acme, rival):
        client = acme.application()
        first = client.tokens_for(acme.user())

        answers = [
            client.refresh(first["refresh_token"], organization_id=guess).content
            for guess in (str(acme.tenant.pk), str(rival.tenant.pk), "x", str(client.application.pk))
        ]

        assert len(set(answers)) == 1


def test_a_token_that_expired_is_refused_by_the_clock_of_the_database(acme):
    client = acme.application()
    first = client.tokens_for(acme.user())
    with acme.active():
        RefreshFamily.objects.update(idle_expires_at=Now())

    assert refusal(client.refresh(first["refresh_token"])) == GONE
