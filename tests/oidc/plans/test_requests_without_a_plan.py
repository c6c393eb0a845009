"""Requests that no issuing plan may answer, and attacks on the memory of the plans."""

import base64
from typing import Any

import pytest
from django.test import override_settings

from audit.models import Entry
from config.server import surfaces
from identity.core import assignments, tenancy
from identity.resources import services as resources
from identity.resources.models import Scope
from identity.roles import services as roles
from identity.roles.models import Role
from oidc.applications import bindings
from oidc.applications.models import Application
from oidc.provider.token import plan_store
from tests.support import cast, comparison
from tests.support.cast import RelyingParty
from tests.support.in_process import SurfacesWorld
from tests.support.independent import claims_of
from tests.support.issuing_plans import CREDENTIALS, is_planned, send


def plans_of(client: RelyingParty) -> tuple[Any, ...]:
    tenant = client.world.tenant
    return plan_store._plans.get(tenancy.ActiveTenant(tenant.pk, tenant.slug), client.client_id)


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
            scopes = [Scope(resource=api, name=f"scope-{number}") for number in range(600)]
            ids = [str(scope.pk) for scope in Scope.objects.bulk_create(scopes)]
            assignments.replace(roles.SCOPES, role.pk, ids, is_proven=True)
            assignments.replace(bindings.ROLES, machine.application.pk, [str(role.pk)], is_proven=True)

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
