"""Plans for refreshes against all steps: no change between two refreshes is missed by any worker."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.db.models import F
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from identity.core import assignments
from identity.factors.levels import ACR
from identity.organizations.models import Membership, Organization
from identity.resources import services as resources
from identity.resources.models import Resource, Scope
from identity.roles import services as roles
from identity.roles.models import Role
from identity.users import services as users
from identity.users.models import User
from oidc.applications import client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application, ApplicationSecret
from oidc.grants.models import Consent, ConsentTarget, RefreshFamily
from oidc.keys import previous_keys
from oidc.keys import services as keys
from oidc.settings import services as oidc_settings
from tests.support import second, server
from tests.support.cast import RelyingParty, World
from tests.support.in_process import InProcessWorld
from tests.support.independent import claims_of, header_of
from tests.support.properties import run_machine

API = "https://refreshed.example"
_FRESH = ("iat", "exp", "jti", "at_hash", "sid", "family_id", "epoch_hash")
_SCOPE = "openid profile email roles offline_access"


class Changes(RuleBasedStateMachine):
    """A user whose application refreshes at several servers, each with a family of its own.

    ``here`` has no plans. ``workers`` have. The user signed in at the same time for all families.
    """

    def __init__(self, here: InProcessWorld, workers: list[World]) -> None:
        super().__init__()
        self.worlds = [*workers, here]
        self.here = here

    @initialize()
    def begin(self) -> None:
        here = self.here
        self.client = here.application()
        self.auth = self.client.basic
        self.user = here.user(name="Ada", email=f"{self.client.client_id}@rp.example")
        with here.active():
            self.role = Role.objects.create(name=f"Role {self.client.client_id}", type=Role.Type.USER)
            self.organization = Organization.objects.create(name="Org")
            if not Resource.objects.filter(indicator=API).exists():
                api = resources.create(name="API", indicator=API)
                for name in ("read", "write"):
                    resources.add_scope(api.pk, name=name)
        browser = here.browser()
        self.tokens = [
            self.client.tokens_for(self.user, browser, scope=_SCOPE)["refresh_token"] for _ in self.worlds
        ]
        self.families = [token.partition(".")[0] for token in self.tokens]
        self.is_noticed()

    # The user

    @rule(name=st.sampled_from(["Ada", "Grace"]))
    def rename_the_user(self, name: str) -> None:
        with self.here.active():
            users.change(User.objects.get(pk=self.user.pk), {"name": name})

    @rule(suspended=st.booleans())
    def suspend_the_user(self, *, suspended: bool) -> None:
        with self.here.active():
            (users.suspend if suspended else users.reactivate)(User.objects.get(pk=self.user.pk))

    @rule()
    def begin_a_new_epoch(self) -> None:
        self.change_families(epoch=F("epoch"))
        with self.here.active():
            User.objects.filter(pk=self.user.pk).update(epoch=F("epoch") + 1)

    @rule()
    def give_the_families_the_epoch(self) -> None:
        with self.here.active():
            self.change_families(epoch=User.objects.get(pk=self.user.pk).epoch)

    @rule(given=st.booleans())
    def change_the_users_role(self, *, given: bool) -> None:
        with self.here.active():
            assignments.replace(roles.USERS, self.role.pk, [str(self.user.pk)] if given else [])

    @rule(names=st.sets(st.sampled_from(["read", "write"])))
    def change_the_scopes_of_the_role(self, names: set[str]) -> None:
        with self.here.active():
            scopes = Scope.objects.filter(resource__indicator=API, name__in=names)
            assignments.replace(roles.SCOPES, self.role.pk, [str(scope.pk) for scope in scopes])

    @rule(member=st.booleans())
    def change_the_membership(self, *, member: bool) -> None:
        with self.here.active():
            Membership.objects.filter(user=self.user, organization=self.organization).delete()
            if member:
                Membership.objects.create(user=self.user, organization=self.organization)

    @rule(required=st.booleans())
    def demand_two_factors_in_the_organization(self, *, required: bool) -> None:
        with self.here.active():
            Organization.objects.filter(pk=self.organization.pk).update(is_mfa_required=required)

    # The families

    @rule(level=st.integers(1, 2))
    def change_the_level_of_the_sign_in(self, level: int) -> None:
        self.change_families(level=level)

    @rule(hours=st.integers(1, 30))
    def let_time_pass(self, hours: int) -> None:
        passed = timedelta(hours=hours)
        self.change_families(
            **{
                name: F(name) - passed
                for name in ("rotated_at", "created_at", "idle_expires_at", "expires_at")
            }
        )

    @rule(name=st.sampled_from(["ended_at", "expires_at", "idle_expires_at"]))
    def end_the_families(self, name: str) -> None:
        self.change_families(**{name: timezone.now()})

    @rule()
    def begin_the_families_again(self) -> None:
        now = timezone.now()
        later = now + timedelta(days=5)
        self.change_families(
            ended_at=None, expires_at=later, idle_expires_at=later, rotated_at=now, created_at=now
        )

    @rule()
    def consent(self) -> None:
        with self.here.active():
            Consent.objects.filter(user=self.user).delete()
            consent = Consent.objects.create(
                user=self.user, application=self.client.application, scopes=_SCOPE.split()
            )
            api = Resource.objects.get(indicator=API)
            ConsentTarget.objects.create(consent=consent, resource=api, scopes=["read"])
            self.change_families(consent_id=consent.pk)

    @rule()
    def withdraw_the_consent(self) -> None:
        with self.here.active():
            Consent.objects.filter(user=self.user).delete()

    # The application

    @rule(third_party=st.booleans())
    def change_the_party(self, *, third_party: bool) -> None:
        self.change_application(is_third_party=third_party)

    @rule(value=st.sampled_from(["gold", None]))
    def change_the_claims(self, value: str | None) -> None:
        both = ["access_token", "id_token"]
        self.change_application(
            custom_claims=[{"name": "tier", "source": {"value": value}, "into": both}] if value else []
        )

    @rule(value=st.sampled_from(["", *(ACR[level] for level in sorted(ACR)[:2])]))
    def change_the_required_acr(self, value: str) -> None:
        self.change_application(required_acr=value)

    @rule(algorithm=st.sampled_from(["", "EdDSA"]))
    def change_the_algorithm(self, algorithm: str) -> None:
        self.change_application(id_token_signed_response_alg=algorithm)

    @rule(may=st.booleans())
    def change_the_grants(self, *, may: bool) -> None:
        grants = ["authorization_code", *(["refresh_token"] if may else [])]
        self.change_application(grant_types=grants)

    @rule(restricted=st.booleans())
    def restrict_the_application(self, *, restricted: bool) -> None:
        self.change_application(
            allowed_role_ids=[str(self.role.pk)] if restricted else [], allowed_organization_ids=[]
        )

    @rule(hours=st.sampled_from([None, 2]))
    def change_the_lifetime(self, hours: int | None) -> None:
        self.change_application(refresh_token_idle_seconds=hours and hours * 3600)

    @rule(hours=st.sampled_from([None, 1]))
    def change_the_lifetime_of_the_tenant(self, hours: int | None) -> None:
        with self.here.active():
            oidc_settings.change({"refresh_token_absolute_seconds": hours and hours * 3600})

    @rule()
    def rotate_the_secret(self) -> None:
        with self.here.active():
            self.auth = (self.client.client_id, applications.rotate_secret(self.row()))
        # Requests with the old one are refused; they come from ``is_noticed``.
        self.is_noticed(auth=self.client.basic)
        with self.here.active():
            self.client = RelyingParty(self.here, self.row(), self.auth[1], self.client.verifier)

    @rule()
    def use_a_secret_that_expires(self) -> None:
        with self.here.active():
            ApplicationSecret.objects.filter(application=self.client.application).delete()
            expires_at = timezone.now() + timedelta(hours=1)
            secret = client_secrets.create(self.row(), expires_at=expires_at)[1]
        self.auth = (self.client.client_id, secret)

    @rule()
    def let_the_secret_expire(self) -> None:
        with self.here.active():
            ApplicationSecret.objects.filter(application=self.client.application).update(
                expires_at=timezone.now()
            )

    @rule()
    def use_the_first_secret(self) -> None:
        self.auth = self.client.basic

    # The rest

    @rule(seconds=st.sampled_from([600, 3600]), acr=st.sampled_from(["", ACR[sorted(ACR)[1]]]))
    def change_the_api(self, seconds: int, acr: str) -> None:
        with self.here.active():
            api = Resource.objects.get(indicator=API)
            resources.change(api, {"access_token_ttl": seconds, "required_acr": acr}, expected=None)

    @rule()
    def rotate_the_key(self) -> None:
        with self.here.active(), suppress(previous_keys.TooMany):
            keys.rotate()

    @invariant()
    def is_noticed(self, auth: Any = None) -> None:
        if not hasattr(self, "families"):
            return
        organization = str(self.organization.pk)
        for more in ({}, {"resource": API}, {"organization_id": organization}, {"scope": "openid"}):
            for _ in range(2):  # the second time by the plan of the first, if there was none
                answers = [
                    self.refresh(number, auth or self.auth, more) for number in range(len(self.worlds))
                ]
                assert answers == [answers[-1]] * len(answers), more

    def refresh(self, number: int, auth: tuple[str, str], more: dict[str, str]) -> tuple[Any, ...]:
        form = {"grant_type": "refresh_token", "refresh_token": self.tokens[number], **more}
        answer = self.worlds[number].post("/oidc/token", data=form, auth=auth)
        if answer.status_code == 200:
            self.tokens[number] = answer.json()["refresh_token"]
        with self.here.active():
            family = RefreshFamily.objects.get(pk=self.families[number])
        # In hours: the families were rotated one after the other, and a rule ends all at the same moment.
        hours = round((family.idle_expires_at - family.rotated_at) / timedelta(hours=1))
        return *described(answer), family.generation, family.ended_at is None, hours

    def row(self) -> Application:
        return Application.objects.get(pk=self.client.application.pk)

    def change_application(self, **fields: Any) -> None:
        with self.here.active():
            applications.change(self.row(), fields)

    def change_families(self, **fields: Any) -> None:
        with self.here.active():
            RefreshFamily.objects.filter(pk__in=self.families).update(**fields)


def described(answer: httpx.Response) -> tuple[int, Any]:
    body = answer.json()
    if answer.status_code != 200:
        return answer.status_code, body
    assert body.pop("refresh_token")
    found = []
    for name in ("access_token", "id_token"):
        token = body.pop(name)
        claims = claims_of(token)
        claims["lifetime"] = claims["exp"] - claims["iat"]
        same = {key: value for key, value in claims.items() if key not in _FRESH}
        found.append((header_of(token), same, sorted(claims)))
    return answer.status_code, (body, found)


@pytest.fixture
def workers(acme: World) -> Iterator[list[World]]:
    """Two servers of the same installation, which know nothing of each other."""
    ports = [str(second.free_port()) for _ in range(2)]
    with (
        server.process(PORT=ports[0], WEB_CONCURRENCY="1"),
        server.process(PORT=ports[1], WEB_CONCURRENCY="1"),
    ):
        yield [acme.at(f"http://127.0.0.1:{port}") for port in ports]


def test_no_change_is_missed_by_another_worker(here, workers):
    run_machine(partial(Changes, here, workers), examples=3, steps=15)
