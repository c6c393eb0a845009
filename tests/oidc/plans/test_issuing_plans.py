"""Requests that an issuing plan answers, and the conditions under which it does."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from unittest import mock

import pytest
from django.db.models import Q
from django.test import override_settings
from django.utils import timezone

from audit.metrics import ENTRIES
from audit.models import Entry
from identity.core import assignments
from identity.resources import services as resources
from identity.roles import services as roles
from identity.roles.models import Role
from oidc.applications import bindings, client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application, ApplicationSecret
from oidc.keys import services as keys
from oidc.keys import signing, usage
from oidc.keys.models import SigningKey, SigningKeyUsage
from oidc.provider.token import plan_conditions, plan_store
from tests.support.cast import RelyingParty
from tests.support.independent import claims_of, header_of, key_set, verified
from tests.support.issuing_plans import CREDENTIALS, is_planned, planned_statements, send
from tests.support.threads import at_once


class TestAPlan:
    def test_answers_the_same_request_from_the_second_time_on(self, machine):
        answers = [is_planned(lambda: send(machine)) for _ in range(3)]

        assert answers == [False, True, True]

    def test_gives_a_token_of_its_own_each_time(self, here, machine):
        tokens = [send(machine).json()["access_token"] for _ in range(3)]

        claims = [verified(token, key_set(here)) for token in tokens]
        assert len({each["jti"] for each in claims}) == 3
        assert all(abs(each["iat"] - time.time()) < 5 for each in claims)
        assert all(each["exp"] - each["iat"] == 3600 for each in claims)

    def test_writes_an_entry_with_what_this_request_says_of_itself(self, here, machine):
        send(machine, headers={"User-Agent": "first/1"})
        metric = ENTRIES.labels("Token.Exchange", "success")
        counted = metric._value.get()

        answer = send(machine, headers={"User-Agent": "second/2\x7f"})

        entry = Entry.objects.of_request(answer.headers["X-Request-Id"]).get()
        assert (entry.tenant_id, entry.user_agent, entry.ip) == (here.tenant.pk, "second/2\x7f", "127.0.0.1")
        assert entry.payload["access_token_exp"] == claims_of(answer.json()["access_token"])["exp"]
        assert metric._value.get() == counted + 1

    def test_takes_the_address_that_a_trusted_proxy_reports(self, machine):
        with override_settings(TRUSTED_PROXIES=frozenset({"127.0.0.1"})):
            answers = [
                send(machine, headers={"X-Forwarded-For": f"6.6.6.6, 203.0.113.{number}"})
                for number in range(3)
            ]

        entries = [Entry.objects.of_request(answer.headers["X-Request-Id"]).get() for answer in answers]
        assert [entry.ip for entry in entries] == ["203.0.113.0", "203.0.113.1", "203.0.113.2"]

    def test_records_the_usage_of_the_key_in_each_new_hour(self, here, machine, monkeypatch):
        send(machine)
        monkeypatch.setattr(usage, "_recorded", {})
        with here.active():
            SigningKeyUsage.objects.all().delete()

            answer = send(machine)

            assert plan_store._plans.size, "the plan stays"
            row = SigningKeyUsage.objects.get()
        assert row.expires_at.timestamp() >= claims_of(answer.json()["access_token"])["exp"]

    def test_writes_nothing_if_the_key_cannot_sign(self, here, machine, monkeypatch):
        send(machine)
        monkeypatch.setattr(signing, "load", mock.Mock(side_effect=SigningKey.DoesNotExist))
        with here.active():
            before = Entry.objects.count()

            assert send(machine).status_code == 500

            assert Entry.objects.count() == before

    @pytest.mark.parametrize("more", [{}, {"resource": "https://api.example"}, {"scope": "read"}])
    def test_covers_roles_and_resources(self, here, machine, more):
        with here.active():
            api = resources.create(name="API", indicator="https://api.example", access_token_ttl=600)
            role = Role.objects.create(name="Robot", type=Role.Type.MACHINE)
            ids = [str(resources.add_scope(api.pk, name=name).pk) for name in ("read", "write")]
            assignments.replace(roles.SCOPES, role.pk, ids, is_proven=True)
            assignments.replace(bindings.ROLES, machine.application.pk, [str(role.pk)], is_proven=True)

        answers = [machine.token(**CREDENTIALS, **more) for _ in range(2)]

        assert is_planned(lambda: machine.token(**CREDENTIALS, **more))
        assert {answer.json()["scope"] for answer in answers} == {more.get("scope", "read write")}
        assert {answer.json()["expires_in"] for answer in answers} == {600}

    def test_is_for_one_secret_of_several(self, here, machine):
        with here.active():
            other = client_secrets.create(Application.objects.get(pk=machine.application.pk), is_proven=True)[
                1
            ]
        second = RelyingParty(here, machine.application, other)
        for client in (machine, second):
            send(client)

        assert is_planned(lambda: send(machine))
        assert is_planned(lambda: send(second))

    def test_ends_with_the_moment_at_which_its_secret_expires(self, here, machine):
        with here.active():
            application = Application.objects.get(pk=machine.application.pk)
            expires_at = timezone.now() + timedelta(seconds=2)
            secret = client_secrets.create(application, expires_at=expires_at, is_proven=True)[1]
        client = RelyingParty(here, machine.application, secret)
        send(client)
        assert is_planned(lambda: send(client))

        time.sleep(max(0, (expires_at - timezone.now()).total_seconds()) + 0.01)

        assert send(client).status_code == 401

    def test_ends_with_a_key(self, here, machine):
        send(machine)
        with here.active():
            active = keys.rotate()

        token = send(machine).json()["access_token"]

        assert header_of(token)["kid"] == str(active.pk)
        assert is_planned(lambda: send(machine))

    def test_of_a_replaced_secret_answers_nobody(self, here, machine):
        send(machine)
        with here.active():
            applications.rotate_secret(Application.objects.get(pk=machine.application.pk), is_proven=True)

        assert [send(machine).status_code for _ in range(2)] == [401, 401]

    def test_issues_once_for_each_of_many_requests_at_once(self, here, machine):
        send(machine)

        def ask(_: int) -> str:
            return str(claims_of(send(machine).json()["access_token"])["jti"])

        issued = at_once(8, ask)

        assert len(set(issued)) == 8
        entries = Entry.objects.filter(tenant_id=here.tenant.pk, key="Token.Exchange")
        assert entries.count() == 9


@contextmanager
def without(condition: str) -> Iterator[None]:
    """Compile the statements of plans without a condition."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_conditions, condition, lambda *_: ~Q(pk__in=[]))
        for statement in plan_conditions._inserts.values():
            patch.setattr(statement, "_local", threading.local())
            statement.for_this_thread()
        yield


class TestACondition:
    """Each notices a change that no other notices, and without it the plan would be used."""

    @pytest.mark.parametrize(
        "condition",
        [
            "_is_unchanged",
            "_is_first_secret",
            "_is_further_secret",
            "_is_active_key",
            "_has_no_roles",
            "_has_same_scopes",
            "_has_same_resource",
        ],
    )
    def test_is_needed(self, here, machine, condition, monkeypatch):
        with here.active():
            api = resources.create(name="API", indicator="https://api.example")
            other = resources.create(name="Of the same version", indicator="https://other.example")
            scope, _ = [resources.add_scope(each.pk, name="read") for each in (api, other)]
            role = Role.objects.create(name="Robot", type=Role.Type.MACHINE)
            assignments.replace(roles.SCOPES, role.pk, [str(scope.pk)], is_proven=True)
            if condition.startswith("_has_same"):
                assignments.replace(bindings.ROLES, machine.application.pk, [str(role.pk)], is_proven=True)
            application = Application.objects.get(pk=machine.application.pk)
            if condition == "_is_further_secret":
                machine.secret = client_secrets.create(application, is_proven=True)[1]
            rows = Application.objects.filter(pk=application.pk)
            further = ApplicationSecret.objects.filter(application=application)
        claims = [{"name": "tier", "source": {"value": "gold"}, "into": ["access_token"]}]
        changes: dict[str, Callable[[], object]] = {
            "_is_unchanged": lambda: applications.change(
                application, {"custom_claims": claims}, is_proven=True
            ),
            # As a digest that is renewed for a new key of ENCRYPTION_KEYS.
            "_is_first_secret": lambda: rows.update(secret_digest=client_secrets.new_secret()[1]),
            "_is_further_secret": lambda: further.update(expires_at=timezone.now() - timedelta(seconds=1)),
            "_is_active_key": keys.rotate,
            "_has_no_roles": lambda: assignments.add(bindings.OF_ROLE, role.pk, [str(application.pk)]),
            "_has_same_scopes": lambda: assignments.replace(roles.SCOPES, role.pk, [], is_proven=True),
            "_has_same_resource": lambda: resources.change(
                api, {"access_token_ttl": 60}, expected=None, is_proven=True
            ),
        }
        with without(condition):
            for _ in range(2):
                send(machine)
            kept = plan_store._plans
        monkeypatch.setattr(plan_store, "_plans", plan_store.Plans())
        for _ in range(2):
            send(machine)
        with here.active():
            changes[condition]()

        noticed = planned_statements(machine)

        assert noticed != ["INSERT"]
        with without(condition):
            monkeypatch.setattr(plan_store, "_plans", kept)
            assert planned_statements(machine) == ["INSERT"]
