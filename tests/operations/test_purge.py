"""``manage.py purge`` and the tidying of the workers: what has expired is deleted, what is needed stays."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from audit.models import Entry
from database.clock import seconds_ahead
from identity.core import expiry, tenancy
from identity.core.models import TenantModel
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.models import Counter
from identity.sessions.models import Session
from interaction.social.models import SocialAttempt
from interaction.verification.models import OutgoingMessage, VerificationCode
from oidc.grants.models import AuthorizationCode, AuthorizationRequest, RefreshFamily, RevokedToken
from oidc.keys.models import SigningKeyUsage
from tests.support.codes import new_email, reachable, send
from tests.support.threads import at_once

KINDS = {kind.name for kind in expiry.get_kinds()}
AGO = timedelta(days=400)


def purged(*arguments: str) -> Any:
    out = StringIO()
    call_command("purge", "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())


def count(world, model: type[TenantModel]) -> int:
    with world.active():
        return model._default_manager.count()


def age(world, model: type[TenantModel], *columns: str, by: timedelta = AGO) -> None:
    with world.active():
        model._default_manager.update(**dict.fromkeys(columns, datetime.now(UTC) - by))


def is_refused(answer) -> bool:
    return (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


class TestWhatIsOver:
    def test_goes_kind_by_kind(self, acme):
        """One row of each kind, all of them long over, and none of them is left."""
        reachable(acme)
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        client.world.post("/oidc/revoke", data={"token": tokens["access_token"]}, auth=client.basic)
        acme.browser().authorize(client)
        send(browser, new_email())
        with acme.active():
            limits.hit((rules.CODES, "somebody"))
            SocialAttempt.objects.create(
                state_hash="x", browser="x", sealed_secrets="", expires_at=datetime.now(UTC)
            )
            OutgoingMessage.objects.create(sealed="", silent=True, due_at=datetime.now(UTC))
        age(acme, AuthorizationRequest, "expires_at")
        age(acme, RefreshFamily, "idle_expires_at")
        age(acme, AuthorizationCode, "expires_at", "access_token_expires_at")
        age(acme, RevokedToken, "expires_at")
        age(acme, Session, "expires_at")
        age(acme, VerificationCode, "expires_at")
        age(acme, Counter, "ends_at")
        age(acme, SocialAttempt, "expires_at")
        age(acme, OutgoingMessage, "due_at")
        age(acme, SigningKeyUsage, "expires_at")
        models = (
            *(AuthorizationRequest, RefreshFamily, AuthorizationCode, RevokedToken, Session),
            *(VerificationCode, Counter, SocialAttempt, SigningKeyUsage, OutgoingMessage),
        )
        assert all(count(acme, model) for model in models[:-1])

        answer = purged()

        assert answer["complete"]
        assert set(answer["rows"]) == KINDS | {"audit_entries"}
        assert {model.__name__: count(acme, model) for model in models} == dict.fromkeys(
            (model.__name__ for model in models), 0
        )

    def test_stays_while_it_counts(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        waiting = acme.browser()
        waiting.authorize(client)
        with acme.active():
            limits.hit((rules.CODES, "somebody"))
        before = {model: count(acme, model) for model in (AuthorizationRequest, AuthorizationCode, Session)}

        purged()

        assert {model: count(acme, model) for model in before} == before
        assert count(acme, Counter) > 0
        assert client.userinfo(tokens["access_token"]).status_code == 200
        assert client.refresh(tokens["refresh_token"]).status_code == 200
        assert "code=" in browser.authorize(client, prompt="none").headers["Location"]

    def test_is_kept_for_an_hour_because_clocks_differ(self, acme):
        acme.browser().authorize(acme.application())
        age(acme, AuthorizationRequest, "expires_at", by=timedelta(minutes=50))

        purged()

        assert count(acme, AuthorizationRequest) == 1

    def test_is_counted_and_stays_in_a_dry_run(self, acme):
        acme.browser().authorize(acme.application())
        age(acme, AuthorizationRequest, "expires_at")

        answer = purged("--dry-run")

        assert answer["dry_run"]
        assert answer["rows"]["authorization_requests"] >= 1
        assert count(acme, AuthorizationRequest) == 1

    def test_goes_in_batches(self, acme):
        client = acme.application()
        for _ in range(5):
            acme.browser().authorize(client)
        age(acme, AuthorizationRequest, "expires_at")
        [requests] = [kind for kind in expiry.get_kinds() if kind.name == "authorization_requests"]

        batches = list(expiry.purge(requests, batch=2))

        assert sum(batches) >= 5
        assert max(batches) == 2
        assert count(acme, AuthorizationRequest) == 0

    def test_goes_a_little_at_a_time_when_workers_tidy(self, acme):
        client = acme.application()
        for _ in range(3):
            acme.browser().authorize(client)
        age(acme, AuthorizationRequest, "expires_at")
        [requests] = [kind for kind in expiry.get_kinds() if kind.name == "authorization_requests"]
        before = expiry.count(requests)

        expiry.purge_some(batches=2, batch=1)

        assert expiry.count(requests) == before - 2

    def test_is_told_to_people_too(self, address):
        out = StringIO()

        call_command("purge", "--dry-run", stdout=out)

        assert "refresh_families" in out.getvalue()
        assert "Nothing was deleted." in out.getvalue()

    def test_a_message_that_nobody_sent_for_a_day_is_audited_as_not_delivered(self, acme):
        with acme.active():
            OutgoingMessage.objects.create(sealed="", tries=2, due_at=seconds_ahead(60))
        age(acme, OutgoingMessage, "due_at")

        purged()

        assert count(acme, OutgoingMessage) == 0
        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="VerificationCode.Send")
        assert (entry.payload["result"], entry.payload["error"]) == ("failed", "not_delivered")


class TestPromises:
    def test_decision_O7_a_code_ends_what_it_bought_as_long_as_that_lives(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)
        tokens = client.redeem(code).json()
        age(acme, AuthorizationCode, "expires_at", "access_token_expires_at")
        age(acme, Session, "expires_at")

        purged()

        assert count(acme, AuthorizationCode) == count(acme, Session) == 1
        assert is_refused(client.redeem(code))
        assert is_refused(client.refresh(tokens["refresh_token"]))

    def test_decision_O7_a_code_without_a_family_stays_as_long_as_its_access_token(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user, scope="openid")
        tokens = client.redeem(code).json()
        age(acme, AuthorizationCode, "expires_at")

        purged()
        client.redeem(code)

        assert client.userinfo(tokens["access_token"]).status_code == 401

    def test_decision_O7_an_old_refresh_token_still_ends_its_family(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)["refresh_token"]
        second = client.refresh(first).json()["refresh_token"]
        third = client.refresh(second).json()["refresh_token"]

        purged()

        assert is_refused(client.refresh(first))
        assert is_refused(client.refresh(third))

    def test_what_is_gone_is_refused_like_what_is_over(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)
        tokens = client.redeem(code).json()
        age(acme, RefreshFamily, "ended_at")
        over = [
            client.refresh(tokens["refresh_token"]),
            client.redeem(code),
            client.userinfo(tokens["access_token"]),
        ]
        age(acme, AuthorizationCode, "expires_at", "access_token_expires_at")

        purged()

        assert count(acme, RefreshFamily) == count(acme, AuthorizationCode) == 0
        gone = [
            client.refresh(tokens["refresh_token"]),
            client.redeem(code),
            client.userinfo(tokens["access_token"]),
        ]
        assert [(answer.status_code, answer.json()["error"]) for answer in gone] == [
            (answer.status_code, answer.json()["error"]) for answer in over
        ]

    @pytest.mark.parametrize("column", ["ended_at", "idle_expires_at", "expires_at"])
    def test_a_family_goes_however_it_ended(self, acme, column):
        client = acme.application()
        client.tokens_for(acme.user())
        age(acme, RefreshFamily, column)

        purged()

        assert count(acme, RefreshFamily) == 0

    def test_decision_T4_what_a_deleted_tenant_was_called_is_never_forgotten(self, acme):
        from identity.tenants import services as tenants  # noqa: PLC0415 - only here
        from identity.tenants.models import RetiredTenant  # noqa: PLC0415 - only here

        tenants.remove(acme.tenant)

        purged()

        assert RetiredTenant.objects.filter(slug=acme.tenant.slug).exists()


class TestAtTheSameMoment:
    def test_no_refresh_fails_while_it_is_purged(self, acme):
        """Two purge, four refresh their own family ten times each; dead families lie between them."""
        client, users = acme.application(), [acme.user() for _ in range(4)]
        for user in users:
            for _ in range(2):
                client.tokens_for(user)
        age(acme, RefreshFamily, "idle_expires_at")
        age(acme, AuthorizationCode, "expires_at", "access_token_expires_at")
        living = [client.tokens_for(user)["refresh_token"] for user in users]

        def work(index: int) -> list[int]:
            if index >= len(living):
                for _ in range(3):
                    for kind in expiry.get_kinds():
                        list(expiry.purge(kind, batch=2))
                return []
            token, statuses = living[index], []
            for _ in range(10):
                answer = client.refresh(token)
                statuses.append(answer.status_code)
                token = answer.json()["refresh_token"]
            return statuses

        statuses = at_once(len(living) + 2, work)

        assert [status for of_one in statuses for status in of_one] == [200] * 40
        assert count(acme, RefreshFamily) == len(living)

    def test_no_tenant_is_active_afterwards(self, acme):
        purged()

        with pytest.raises(tenancy.NoActiveTenant):
            Session.objects.count()
