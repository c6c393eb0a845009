"""Changes between the token requests of an application for a user, which no worker may miss."""

from contextlib import suppress
from datetime import timedelta
from typing import Any, ClassVar

import httpx
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
from oidc.grants.models import Consent, ConsentTarget
from oidc.keys import previous_keys
from oidc.keys import services as keys
from oidc.settings import services as oidc_settings
from tests.support.cast import Browser, RelyingParty, World
from tests.support.in_process import InProcessWorld
from tests.support.independent import claims_of, header_of

API = "https://refreshed.example"
_FRESH = ("iat", "exp", "jti", "at_hash", "sid", "family_id", "epoch_hash")
SCOPE = "openid profile email roles offline_access"


class Changes(RuleBasedStateMachine):
    """A user whose application asks several servers for tokens, each with a grant of its own.

    ``here`` has no plans. ``workers`` have. The user signed in at the same time for all grants.
    """

    # What a request may have besides its code or refresh token.
    forms: ClassVar[tuple[dict[str, str], ...]] = ({}, {"resource": API}, {"scope": "openid"})

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
        self.prepare(here.browser())
        self.is_noticed()

    # The user

    @rule(name=st.sampled_from(["Ada", "Grace"]))
    def rename_the_user(self, name: str) -> None:
        with self.here.active():
            users.change(User.objects.get(pk=self.user.pk), {"name": name}, is_proven=True)

    @rule(suspended=st.booleans())
    def suspend_the_user(self, *, suspended: bool) -> None:
        with self.here.active():
            (users.suspend if suspended else users.reactivate)(User.objects.get(pk=self.user.pk))

    @rule()
    def begin_a_new_epoch(self) -> None:
        with self.here.active():
            User.objects.filter(pk=self.user.pk).update(epoch=F("epoch") + 1)

    @rule(given=st.booleans())
    def change_the_users_role(self, *, given: bool) -> None:
        with self.here.active():
            assignments.replace(
                roles.USERS, self.role.pk, [str(self.user.pk)] if given else [], is_proven=True
            )

    @rule(names=st.sets(st.sampled_from(["read", "write"])))
    def change_the_scopes_of_the_role(self, names: set[str]) -> None:
        with self.here.active():
            scopes = Scope.objects.filter(resource__indicator=API, name__in=names)
            assignments.replace(
                roles.SCOPES, self.role.pk, [str(scope.pk) for scope in scopes], is_proven=True
            )

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

    # What was granted

    @rule(level=st.integers(1, 2))
    def change_the_level_of_the_sign_in(self, level: int) -> None:
        self.change_grants(level=level)

    @rule()
    def consent(self) -> None:
        with self.here.active():
            Consent.objects.filter(user=self.user).delete()
            consent = Consent.objects.create(
                user=self.user, application=self.client.application, scopes=SCOPE.split()
            )
            api = Resource.objects.get(indicator=API)
            ConsentTarget.objects.create(consent=consent, resource=api, scopes=["read"])
            self.change_grants(consent_id=consent.pk)

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
            oidc_settings.change({"refresh_token_absolute_seconds": hours and hours * 3600}, is_proven=True)

    @rule()
    def rotate_the_secret(self) -> None:
        with self.here.active():
            self.auth = (self.client.client_id, applications.rotate_secret(self.row(), is_proven=True))
        # Requests with the old one are refused; they come from ``is_noticed``.
        self.is_noticed(auth=self.client.basic)
        with self.here.active():
            self.client = RelyingParty(self.here, self.row(), self.auth[1], self.client.verifier)

    @rule()
    def use_a_secret_that_expires(self) -> None:
        with self.here.active():
            ApplicationSecret.objects.filter(application=self.client.application).delete()
            expires_at = timezone.now() + timedelta(hours=1)
            secret = client_secrets.create(self.row(), expires_at=expires_at, is_proven=True)[1]
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
            resources.change(
                api, {"access_token_ttl": seconds, "required_acr": acr}, expected=None, is_proven=True
            )

    @rule()
    def rotate_the_key(self) -> None:
        with self.here.active(), suppress(previous_keys.TooMany):
            keys.rotate()

    @invariant()
    def is_noticed(self, auth: Any = None) -> None:
        if not hasattr(self, "organization"):
            return
        for form in (*self.forms, {"organization_id": str(self.organization.pk)}):
            for _ in range(2):  # the second time by the plan of the first, if there was none
                answers = self.ask_all(auth or self.auth, form)
                assert answers == [answers[-1]] * len(answers), form

    # For each kind of grant

    def prepare(self, browser: Browser) -> None:
        """Have the user sign in, and get a grant for each server."""
        raise NotImplementedError

    def ask_all(self, auth: tuple[str, str], form: dict[str, str]) -> list[Any]:
        """Ask each server for tokens, and describe the answers and what is stored."""
        raise NotImplementedError

    def change_grants(self, **fields: Any) -> None:
        """Change columns of all grants."""
        raise NotImplementedError

    def row(self) -> Application:
        return Application.objects.get(pk=self.client.application.pk)

    def change_application(self, **fields: Any) -> None:
        with self.here.active():
            applications.change(self.row(), fields, is_proven=True)


def described(answer: httpx.Response) -> tuple[int, Any]:
    body = answer.json()
    if answer.status_code != 200:
        return answer.status_code, body
    found: list[Any] = ["refresh_token" in body]
    body.pop("refresh_token", None)
    for name in ("access_token", "id_token"):
        token = body.pop(name)
        claims = claims_of(token)
        claims["lifetime"] = claims["exp"] - claims["iat"]
        same = {key: value for key, value in claims.items() if key not in _FRESH}
        found.append((header_of(token), same, sorted(claims)))
    return answer.status_code, (body, found)
