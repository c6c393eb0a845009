"""Issuing plans against all steps: no change and no moment between two requests is missed by any worker."""

import time
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from identity.core import assignments
from identity.resources import services as resources
from identity.resources.models import Resource, Scope
from identity.roles import services as roles
from identity.roles.models import Role
from oidc.applications import bindings, client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application, ApplicationSecret
from oidc.keys import previous_keys
from oidc.keys import services as keys
from tests.support import codes
from tests.support.cast import World
from tests.support.in_process import InProcessWorld
from tests.support.independent import claims_of, header_of
from tests.support.properties import run_machine

APIS = ("https://one.example", "https://two.example")
_FRESH = ("iat", "exp", "jti")
one_of_two = st.integers(0, 1)


class Changes(RuleBasedStateMachine):
    """A machine application with two roles, two APIs and several secrets, and who answers its requests.

    ``here`` has no plans. ``workers`` have.
    """

    def __init__(self, here: InProcessWorld, workers: list[World]) -> None:
        super().__init__()
        self.here = here
        self.workers = workers

    @initialize()
    def begin(self) -> None:
        with self.here.active():
            self.application, secret = applications.register(name="Robot", type="MachineToMachine")
            self.secrets = [secret]
            names = [codes.new_email() for _ in range(2)]
            self.roles = [Role.objects.create(name=name, type=Role.Type.MACHINE).pk for name in names]
            for indicator in APIS:
                if not Resource.objects.filter(indicator=indicator).exists():
                    resources.create(name="API", indicator=indicator)

    @rule(name=st.sampled_from(["Robot", "Android"]))
    def rename_the_application(self, name: str) -> None:
        self.change_application(name=name)

    @rule(value=st.sampled_from(["gold", "silver", None]))
    def change_the_applications_claims(self, value: str | None) -> None:
        declared = [{"name": "tier", "source": {"value": value}, "into": ["access_token"]}] if value else []
        self.change_application(custom_claims=declared)

    @rule()
    def rotate_the_secret(self) -> None:
        with self.here.active():
            self.secrets.append(applications.rotate_secret(self.row(), is_proven=True))

    @rule()
    def add_a_secret(self) -> None:
        with self.here.active():
            if ApplicationSecret.objects.filter(application=self.application).count() < 3:
                self.secrets.append(client_secrets.create(self.row(), is_proven=True)[1])

    @rule()
    def add_a_secret_and_let_it_expire(self) -> None:
        with self.here.active():
            if ApplicationSecret.objects.filter(application=self.application).count() >= 3:
                return
            expires_at = timezone.now() + timedelta(seconds=1)
            self.secrets.append(client_secrets.create(self.row(), expires_at=expires_at, is_proven=True)[1])
        self.is_noticed()
        time.sleep(max(0, (expires_at - timezone.now()).total_seconds()) + 0.01)

    @rule(which=st.integers(0, 2))
    def delete_a_secret(self, which: int) -> None:
        with self.here.active():
            found = [secret["id"] for secret in client_secrets.find_all(self.row())]
            if len(found) > 1:
                with suppress(client_secrets.LastSecret):
                    client_secrets.remove(self.row(), found[which % len(found)])

    @rule(which=st.sets(one_of_two))
    def give_roles(self, which: set[int]) -> None:
        with self.here.active():
            given = [str(self.roles[one]) for one in which]
            assignments.replace(bindings.ROLES, self.application.pk, given, is_proven=True)

    @rule(which=one_of_two)
    def give_a_role_to_the_application(self, which: int) -> None:
        with self.here.active():
            assignments.add(bindings.OF_ROLE, self.roles[which], [str(self.application.pk)])

    @rule(which=one_of_two, names=st.sets(st.sampled_from(["read", "write"])), api=one_of_two)
    def change_the_scopes_of_a_role(self, which: int, names: set[str], api: int) -> None:
        with self.here.active():
            scopes = [str(self.scope(api, name).pk) for name in names]
            assignments.replace(roles.SCOPES, self.roles[which], scopes, is_proven=True)

    @rule(api=one_of_two, name=st.sampled_from(["read", "write"]))
    def delete_a_scope(self, api: int, name: str) -> None:
        with self.here.active():
            resources.remove_scope(self.scope(api, name), expected=None)

    @rule(api=one_of_two, name=st.sampled_from(["read", "write"]))
    def rename_a_scope(self, api: int, name: str) -> None:
        with self.here.active():
            scope = self.scope(api, name)
            if not Scope.objects.filter(resource=scope.resource_id, name=f"{name}2").exists():
                Scope.objects.filter(pk=scope.pk).update(name=f"{name}2")

    @rule(which=one_of_two)
    def replace_a_role(self, which: int) -> None:
        with self.here.active():
            roles.remove(Role.objects.get(pk=self.roles[which]), expected=None)
            new = Role.objects.create(name=codes.new_email(), type=Role.Type.MACHINE)
            self.roles[which] = new.pk

    @rule(api=one_of_two, seconds=st.sampled_from([600, 3600]))
    def change_the_lifetime_of_an_api(self, api: int, seconds: int) -> None:
        self.change_api(api, access_token_ttl=seconds)

    @rule(api=one_of_two, algorithm=st.sampled_from(["", "ES256", "EdDSA"]))
    def change_the_algorithm_of_an_api(self, api: int, algorithm: str) -> None:
        self.change_api(api, access_token_signing_alg=algorithm)

    @rule(api=one_of_two)
    def replace_an_api(self, api: int) -> None:
        with self.here.active():
            resources.remove(Resource.objects.get(indicator=APIS[api]), expected=None, is_proven=True)
            resources.create(name="API", indicator=APIS[api])

    @rule()
    def rotate_the_key(self) -> None:
        with self.here.active(), suppress(previous_keys.TooMany):
            keys.rotate()

    @rule()
    def replace_the_application(self) -> None:
        with self.here.active():
            applications.remove(self.row())
            self.application, secret = applications.register(name="Robot", type="MachineToMachine")
            self.secrets = [secret]

    @invariant()
    def is_noticed(self) -> None:
        if not hasattr(self, "secrets"):
            return
        self.secrets = self.secrets[-4:]
        client_id = self.application.client_id
        for secret in self.secrets:
            for more in ({}, {"resource": APIS[0]}, {"scope": "read"}):
                form = {"grant_type": "client_credentials", **more}
                worlds = [*self.workers, *self.workers, self.here]  # the last one makes plans in this process
                answers = [
                    described(world.post("/oidc/token", data=form, auth=(client_id, secret)))
                    for world in worlds
                ]
                # First by the plan of the last time, if there is one, then by the new one.
                assert answers == [answers[-1]] * len(answers)

    def row(self) -> Application:
        return Application.objects.get(pk=self.application.pk)

    def scope(self, api: int, name: str) -> Scope:
        resource = Resource.objects.get(indicator=APIS[api])
        found = Scope.objects.filter(resource=resource, name=name).first()
        return found or resources.add_scope(resource.pk, name=name)

    def change_application(self, **fields: Any) -> None:
        with self.here.active():
            applications.change(self.row(), fields, is_proven=True)

    def change_api(self, api: int, **fields: Any) -> None:
        with self.here.active():
            resources.change(Resource.objects.get(indicator=APIS[api]), fields, expected=None, is_proven=True)


def described(answer: httpx.Response) -> tuple[int, Any]:
    body = answer.json()
    if answer.status_code != 200:
        return answer.status_code, body
    token = body.pop("access_token")
    claims = claims_of(token)
    claims["lifetime"] = claims["exp"] - claims["iat"]
    same = {name: value for name, value in claims.items() if name not in _FRESH}
    return answer.status_code, (body, header_of(token), same)


def test_no_change_is_missed_by_another_worker(here, workers):
    run_machine(partial(Changes, here, workers), examples=3, steps=12)
