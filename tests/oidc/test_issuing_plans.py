"""Requests that an issuing plan answers, those that none may answer, and attacks on the plans."""

import base64
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest import mock

import httpx
import pytest
from django.db import connection
from django.db.models import Q
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.metrics import ENTRIES
from audit.models import Entry
from config.server import surfaces
from identity.core import assignments, tenancy
from identity.resources import services as resources
from identity.resources.models import Scope
from identity.roles import services as roles
from identity.roles.models import Role
from identity.tenants.middleware import get_cached
from oidc.applications import bindings, client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application, ApplicationSecret
from oidc.keys import services as keys
from oidc.keys import signing, usage
from oidc.keys.models import SigningKey, SigningKeyUsage
from oidc.provider.token import plan_conditions, plan_store
from tests.support import cast, comparison
from tests.support.cast import RelyingParty
from tests.support.in_process import SurfacesWorld
from tests.support.independent import claims_of, header_of, key_set, verified
from tests.support.threads import at_once

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CREDENTIALS = {"grant_type": "client_credentials"}


@pytest.fixture(autouse=True)
def no_plans(monkeypatch):
    """This process has no plans yet."""
    monkeypatch.setattr(plan_store, "_plans", plan_store.Plans())


@pytest.fixture
def here(database) -> SurfacesWorld:
    """A tenant that this process serves, surfaces included."""
    world = SurfacesWorld.of(cast.new_world("Acme"))
    world.get("/.well-known/openid-configuration")  # the process knows the tenant from now on
    assert get_cached(world.tenant.slug)
    return world


@pytest.fixture
def machine(here: SurfacesWorld) -> RelyingParty:
    return here.application("MachineToMachine")


def send(
    client: RelyingParty, body: str | bytes = "grant_type=client_credentials", **options: Any
) -> httpx.Response:
    headers = FORM | options.pop("headers", {})
    return client.world.post(
        "/oidc/token", content=body, headers=headers, **({"auth": client.basic} | options)
    )


def plans_of(client: RelyingParty) -> tuple[Any, ...]:
    tenant = client.world.tenant
    return plan_store._plans.get(tenancy.ActiveTenant(tenant.pk, tenant.slug), client.client_id)


def is_planned(request: Any) -> bool:
    """Say whether a request is answered by a plan: in one statement, which writes the entry."""
    with CaptureQueriesContext(connection) as captured:
        answer = request()
    assert answer.status_code == 200, answer.text
    return [query["sql"].split()[0] for query in captured] == ["INSERT"]


def planned_statements(client: RelyingParty) -> list[str]:
    """Return the kinds of the statements that a request runs; a plan runs one INSERT."""
    with CaptureQueriesContext(connection) as captured:
        send(client)
    return [query["sql"].split()[0] for query in captured]


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

        entry = Entry.objects.get(request_id=answer.headers["X-Request-Id"])
        assert (entry.tenant_id, entry.user_agent, entry.ip) == (here.tenant.pk, "second/2\x7f", "127.0.0.1")
        assert entry.payload["access_token_exp"] == claims_of(answer.json()["access_token"])["exp"]
        assert metric._value.get() == counted + 1

    def test_takes_the_address_that_a_trusted_proxy_reports(self, machine):
        with override_settings(TRUSTED_PROXIES=frozenset({"127.0.0.1"})):
            answers = [
                send(machine, headers={"X-Forwarded-For": f"6.6.6.6, 203.0.113.{number}"})
                for number in range(3)
            ]

        entries = [Entry.objects.get(request_id=answer.headers["X-Request-Id"]) for answer in answers]
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
            assignments.replace(roles.SCOPES, role.pk, ids)
            assignments.replace(bindings.ROLES, machine.application.pk, [str(role.pk)])

        answers = [machine.token(**CREDENTIALS, **more) for _ in range(2)]

        assert is_planned(lambda: machine.token(**CREDENTIALS, **more))
        assert {answer.json()["scope"] for answer in answers} == {more.get("scope", "read write")}
        assert {answer.json()["expires_in"] for answer in answers} == {600}

    def test_is_for_one_secret_of_several(self, here, machine):
        with here.active():
            other = client_secrets.create(Application.objects.get(pk=machine.application.pk))[1]
        second = RelyingParty(here, machine.application, other)
        for client in (machine, second):
            send(client)

        assert is_planned(lambda: send(machine))
        assert is_planned(lambda: send(second))

    def test_ends_with_the_moment_at_which_its_secret_expires(self, here, machine):
        with here.active():
            application = Application.objects.get(pk=machine.application.pk)
            expires_at = timezone.now() + timedelta(seconds=2)
            secret = client_secrets.create(application, expires_at=expires_at)[1]
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
            applications.rotate_secret(Application.objects.get(pk=machine.application.pk))

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
            statement.prepared()
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
            assignments.replace(roles.SCOPES, role.pk, [str(scope.pk)])
            if condition.startswith("_has_same"):
                assignments.replace(bindings.ROLES, machine.application.pk, [str(role.pk)])
            application = Application.objects.get(pk=machine.application.pk)
            if condition == "_is_further_secret":
                machine.secret = client_secrets.create(application)[1]
            rows = Application.objects.filter(pk=application.pk)
            further = ApplicationSecret.objects.filter(application=application)
        claims = [{"name": "tier", "source": {"value": "gold"}, "into": ["access_token"]}]
        changes: dict[str, Callable[[], object]] = {
            "_is_unchanged": lambda: applications.change(application, {"custom_claims": claims}),
            # As a digest that is renewed for a new key of ENCRYPTION_KEYS.
            "_is_first_secret": lambda: rows.update(secret_digest=client_secrets.new_secret()[1]),
            "_is_further_secret": lambda: further.update(expires_at=timezone.now() - timedelta(seconds=1)),
            "_is_active_key": keys.rotate,
            "_has_no_roles": lambda: assignments.add(bindings.OF_ROLE, role.pk, [str(application.pk)]),
            "_has_same_scopes": lambda: assignments.replace(roles.SCOPES, role.pk, []),
            "_has_same_resource": lambda: resources.change(api, {"access_token_ttl": 60}, expected=None),
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


class TestAllSteps:
    """What is unusual passes all steps, even if there is a plan for a request like it."""

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://rp.example"},
            {"Origin": "null"},
            {"Cookie": "gatehouse-csrf=x"},
            {"Authorization": "basic {0}"},
            {"Authorization": "Basic  {0}"},
            {"Authorization": "BASIC {0}"},
        ],
    )
    def test_are_taken_for_unusual_headers(self, machine, headers):
        text = base64.b64encode(":".join(machine.basic).encode()).decode()
        headers = {"Authorization": "Basic {0}"} | headers
        headers = {name: value.format(text) for name, value in headers.items()}
        send(machine, auth=None, headers={"Authorization": f"Basic {text}"})

        assert not is_planned(lambda: send(machine, auth=None, headers=headers))

    @pytest.mark.parametrize(
        "body",
        [
            "grant_type=client_credentials&",
            "grant_type=client%5Fcredentials",
            "grant%5Ftype=client_credentials",
            "grant_type=client_credentials&x=y",
            "scope=&grant_type=client_credentials",
        ],
    )
    def test_are_taken_for_the_first_of_each_spelling(self, machine, body):
        send(machine)

        assert not is_planned(lambda: send(machine, body))
        assert is_planned(lambda: send(machine, body))

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ("grant_type=client_credentials&grant_type=client_credentials", 400),
            ("grant_type=client_credentials&client_secret=x", 400),
            ("grant_type=client_credentials&client_id=another", 401),
            ("grant_type=client_credentials&x=%00", 400),
            (b"grant_type=client_credentials&x=\0", 400),
            (b"grant_type=client_credentials&x=\xff", 400),
            ("grant_type=client_credentials&resource=https://unknown.example", 400),
            ("grant_type=client_credentials&organization_id=unknown", 400),
            ("grant_type=refresh_token", 400),
            ("", 400),
        ],
    )
    def test_refuse_what_they_refused_before(self, machine, body, status):
        send(machine)

        assert [send(machine, body).status_code for _ in range(2)] == [status] * 2

    @pytest.mark.parametrize(
        "path", ["/oidc/token?", "/oidc/token?x=y", "/oidc/token/", "//oidc/token", "/oidc/token%00"]
    )
    def test_answer_other_addresses(self, here, machine, path):
        send(machine)

        answer = here.post(path, data=CREDENTIALS, auth=machine.basic)

        assert answer.status_code == (200 if path.endswith("?") else 400 if "?" in path else 404)

    @pytest.mark.parametrize(
        "form",
        [
            "grant_type=client_credentials&client_id={0}&client_secret={1}&client_secret={1}",
            "grant_type=client_credentials&client_id={0}&client_secret={1}&client%5Fsecret=x",
            "grant_type=client_credentials&client%5Fsecret=x&client_id={0}&client_secret={1}",
            "grant_type=client_credentials&client_id={0}&client_id={0}&client_secret={1}",
            "grant_type=client_credentials&client_id={0}&client%5Fid=x&client_secret={1}",
            "grant_type=client_credentials&client_id={0}&client_secret={1}\n",
            "grant_type=client_credentials&client_id={0}&client_secret={1}%00",
            "grant_type=client_credentials&client_id={0}&xclient_secret={1}",
        ],
    )
    def test_refuse_a_secret_in_the_body_that_is_hidden_or_repeated(self, machine, form):
        right = "grant_type=client_credentials&client_id={0}&client_secret={1}"
        for _ in range(2):
            assert send(machine, right.format(*machine.basic), auth=None).status_code == 200

        for _ in range(2):
            assert send(machine, form.format(*machine.basic), auth=None).status_code in {400, 401}

    def test_are_taken_for_the_other_way_to_authenticate(self, machine):
        form = {**CREDENTIALS, "client_id": machine.client_id, "client_secret": machine.secret}
        send(machine)

        assert not is_planned(lambda: machine.token(auth=None, **form))
        assert is_planned(lambda: machine.token(auth=None, **form))
        assert is_planned(lambda: send(machine))

    def test_judge_a_wrong_secret(self, machine):
        send(machine)
        wrong = [machine.secret[:-1], f"{machine.secret}x", machine.secret.swapcase(), "wrong", "%00", "é"]

        answers = [send(machine, auth=(machine.client_id, secret)) for secret in wrong]

        assert [answer.status_code for answer in answers] == [401] * len(wrong)
        failures = Entry.objects.filter(tenant_id=machine.world.tenant.pk, payload__result="failed")
        assert failures.count() == len(wrong)

    def test_answer_in_another_tenant_with_the_same_client_id_and_secret(self, here, machine):
        rival = SurfacesWorld.of(cast.new_world("Rival"))
        rival.get("/.well-known/openid-configuration")
        send(machine)
        stranger = RelyingParty(rival, machine.application, machine.secret)
        assert [send(stranger).status_code for _ in range(2)] == [401, 401]
        with here.active():
            digest = Application.objects.get(pk=machine.application.pk).secret_digest
        twin = rival.application("MachineToMachine")
        with rival.active():
            twins = Application.objects.filter(pk=twin.application.pk)
            twins.update(client_id=machine.client_id, secret_digest=digest)

        tokens = [send(client).json()["access_token"] for client in (machine, stranger, machine, stranger)]

        issuers = [claims_of(token)["iss"] for token in tokens]
        assert issuers == [here.issuer, rival.issuer] * 2

    def test_are_taken_with_tracing_and_logs_of_requests(self, machine):
        send(machine)

        for setting in ("TRACING", "LOG_REQUESTS"):
            with override_settings(**{setting: True}):
                assert surfaces.serve({"PATH_INFO": f"/t/{machine.world.tenant.slug}/oidc/token"}) is None

    def test_are_taken_for_a_long_form(self, machine):
        body = "grant_type=client_credentials&x=" + "y" * 2_000

        assert not any(is_planned(lambda: send(machine, body)) for _ in range(3))


class TestMemory:
    def test_a_client_has_few_plans(self, machine):
        for number in range(50):
            send(machine, f"grant_type=client_credentials&x={number}")

        assert len(plans_of(machine)) == plan_store._MOST_OF_CLIENT
        assert is_planned(lambda: send(machine, "grant_type=client_credentials&x=49"))

    def test_the_oldest_plans_make_room(self, here, monkeypatch):
        clients = [here.application("MachineToMachine") for _ in range(3)]
        send(clients[0])
        monkeypatch.setattr(plan_store, "_MOST_BYTES", plan_store._plans.size * 5 // 2)

        for client in clients[1:]:
            send(client)

        assert [len(plans_of(client)) for client in clients] == [0, 1, 1]

    def test_no_plan_holds_a_secret(self, machine):
        form = {**CREDENTIALS, "client_id": machine.client_id, "client_secret": machine.secret}
        send(machine)
        machine.token(auth=None, **form)

        assert len(plans_of(machine)) == 2
        assert machine.secret not in repr(plan_store._plans.of_tenants)

    @pytest.mark.parametrize("more", [{}, {"scope": "scope-0"}])
    def test_a_client_with_very_many_scopes_has_none(self, here, machine, more):
        with here.active():
            api = resources.create(name="API", indicator="https://api.example")
            role = Role.objects.create(name="Robot", type=Role.Type.MACHINE)
            scopes = [Scope(resource=api, name=f"scope-{number}") for number in range(700)]
            ids = [str(scope.pk) for scope in Scope.objects.bulk_create(scopes)]
            assignments.replace(roles.SCOPES, role.pk, ids)
            assignments.replace(bindings.ROLES, machine.application.pk, [str(role.pk)])

        answers = [machine.token(**CREDENTIALS, **more) for _ in range(2)]

        assert [answer.status_code for answer in answers] == [200, 200]
        assert plan_store._plans.of_tenants == {}

    def test_a_refusal_makes_none(self, machine):
        send(machine, auth=(machine.client_id, "wrong"))
        send(machine, "grant_type=client_credentials&resource=https://unknown.example")

        assert plan_store._plans.of_tenants == {}


def test_the_server_of_the_run_has_compared_plans_with_all_steps(acme):
    machine = acme.application("MachineToMachine")

    answers = [machine.token(**CREDENTIALS) for _ in range(6)]  # more than one for each worker

    [*_, last] = (answer.headers["X-Request-Id"] for answer in answers)
    by_id = {line[3]: line[0] for line in comparison.lines() if line[0] != "differs"}
    assert by_id[last] == "by its surface"
    assert comparison.differences() == []
