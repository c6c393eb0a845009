"""Refreshes that a plan answers, those that none may answer, and attacks on the plans."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.db.models import F
from django.test import override_settings
from django.utils import timezone

from audit.models import Entry
from identity.core import assignments
from identity.resources import services as resources
from identity.resources.models import Resource
from identity.roles import services as roles
from identity.roles.models import Role
from identity.tenants.middleware import get_cached
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from oidc.applications import client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants import rotation
from oidc.grants.models import Consent, RefreshFamily
from oidc.keys import services as keys
from oidc.provider.token import plan_store
from oidc.provider.token.endpoint import STEPS
from oidc.settings import services as oidc_settings
from tests.support import cast, comparison
from tests.support.call_order import recorded
from tests.support.cast import RelyingParty
from tests.support.in_process import SurfacesWorld
from tests.support.independent import claims_of, header_of, key_set, verified
from tests.support.threads import at_once, rounds

API = "https://api.example"
REFUSED = (400, "invalid_grant")
CHANGES_OF_A_USER = (
    users.suspend,
    lambda user: credentials.set_password(user, "another correct horse"),
    users.remove,
)


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
def user(here: SurfacesWorld) -> User:
    return here.user(name="Ada")


class Refreshing:
    """A client that refreshes again and again, and says whether a plan answered the last refresh."""

    def __init__(self, client: RelyingParty, user: User, **form: Any) -> None:
        self.client, self.form = client, form
        self.tokens = client.tokens_for(user)

    @property
    def family(self) -> RefreshFamily:
        with self.client.world.active():
            return RefreshFamily.objects.get(pk=self.tokens["refresh_token"].partition(".")[0])

    def send(self, token: str | None = None, **changes: Any) -> Any:
        token = self.tokens["refresh_token"] if token is None else token
        with recorded(*STEPS) as steps:
            answer = self.client.refresh(token, **(self.form | changes))
        self.is_planned = not steps
        return answer

    def __call__(self) -> dict[str, Any]:
        answer = self.send()
        assert answer.status_code == 200, answer.text
        self.tokens = answer.json()
        return self.tokens

    def refusal(self, token: str | None = None) -> tuple[int, str]:
        answer = self.send(token)
        assert not self.is_planned
        return answer.status_code, answer.json().get("error")


@pytest.fixture
def refresh(here: SurfacesWorld, user: User) -> Refreshing:
    """A client whose next refresh is answered by a plan."""
    refreshing = Refreshing(here.application(), user)
    refreshing()
    refreshing()
    assert refreshing.is_planned
    return refreshing


def entries_of(world: SurfacesWorld, key: str) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "pk"))


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

        entry = Entry.objects.get(request_id=answer.headers["X-Request-Id"])
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
                roles.SCOPES, role.pk, [str(resources.add_scope(api.pk, name=name).pk) for name in "ab"]
            )
            assignments.add(roles.USERS, role.pk, [str(user.pk)])
        refresh = Refreshing(here.application(), user, resource=API, scope="openid a")
        refresh()

        tokens = refresh()

        assert refresh.is_planned
        assert tokens["scope"] == "openid a"
        assert header_of(tokens["access_token"])["alg"] == "RS256"
        with here.active():
            assignments.replace(roles.SCOPES, role.pk, [])
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


def change_application(refresh: Refreshing, **fields: Any) -> None:
    with refresh.client.world.active():
        applications.change(Application.objects.get(pk=refresh.client.application.pk), fields)


class TestAChangeBetweenTwoRefreshes:
    def test_of_the_user_is_in_the_tokens(self, here, user, refresh):
        with here.active():
            User.objects.filter(pk=user.pk).update(name="Grace")

        assert claims_of(refresh()["id_token"])["name"] == "Grace"
        assert refresh.is_planned

    def test_of_the_application_passes_all_steps_once(self, here, refresh):
        claim = {"name": "tier", "source": {"value": "gold"}, "into": ["id_token"]}
        change_application(refresh, custom_claims=[claim])

        seen = [(claims_of(refresh()["id_token"])["tier"], refresh.is_planned) for _ in range(2)]

        assert seen == [("gold", False), ("gold", True)]

    def test_of_the_grant_types_refuses(self, refresh):
        change_application(refresh, grant_types=["authorization_code"])

        assert refresh.refusal() == (400, "unauthorized_client")

    def test_of_the_required_acr_refuses_and_consumes_nothing(self, refresh):
        generation = refresh.family.generation
        change_application(refresh, required_acr="urn:service:acr:2fa")

        assert refresh.refusal()[0] == 400
        assert refresh.family.generation == generation

    def test_of_the_tenants_lifetimes_refuses(self, here, refresh):
        with here.active():
            RefreshFamily.objects.filter(pk=refresh.family.pk).update(
                rotated_at=F("rotated_at") - timedelta(hours=2)
            )
            oidc_settings.change({"refresh_token_idle_seconds": 3600})

        assert refresh.refusal() == REFUSED

    def test_of_the_tenants_absolute_lifetime_passes_all_steps_once(self, here, refresh):
        with here.active():
            oidc_settings.change({"refresh_token_absolute_seconds": 90_000})

        seen = []
        for _ in range(2):
            refresh()
            seen.append(refresh.is_planned)

        assert seen == [False, True]

    def test_of_the_tenants_lifetimes_is_in_the_row(self, here, refresh):
        with here.active():
            oidc_settings.change({"refresh_token_idle_seconds": 3600})

        refresh()

        assert refresh.family.idle_expires_at - refresh.family.rotated_at == timedelta(hours=1)

    def test_of_the_key_signs_with_the_new_one(self, here, refresh):
        with here.active():
            keys.rotate()

        tokens = [refresh() for _ in range(2)]

        assert header_of(tokens[0]["access_token"]) == header_of(tokens[1]["access_token"])
        for each in tokens:
            assert verified(each["id_token"], key_set(here))

    def test_of_the_first_secret_refuses_the_old_one(self, here, refresh):
        with here.active():
            applications.rotate_secret(Application.objects.get(pk=refresh.client.application.pk))

        assert refresh.refusal() == (401, "invalid_client")

    def test_of_the_first_secret_alone_refuses_the_old_one(self, here, refresh):
        """The version of the application stays the same."""
        with here.active():
            rows = Application.objects.filter(pk=refresh.client.application.pk)
            rows.update(secret_digest=client_secrets.new_secret()[1])

        assert refresh.refusal() == (401, "invalid_client")

    @pytest.mark.parametrize("ends_by", ["deletion", "time"])
    def test_of_a_further_secret_refuses_it(self, here, refresh, ends_by):
        row = Application.objects.get
        with here.active():
            expires_at = timezone.now() + timedelta(hours=1)
            application = row(pk=refresh.client.application.pk)
            secret, text = client_secrets.create(application, expires_at=expires_at)
        refresh.form["auth"] = (refresh.client.client_id, text)
        refresh()
        refresh()
        assert refresh.is_planned
        with here.active():
            if ends_by == "time":  # the version of the application stays the same
                type(secret).objects.filter(pk=secret.pk).update(expires_at=timezone.now())
            else:
                client_secrets.remove(application, secret.pk)

        assert refresh.refusal() == (401, "invalid_client")

    @pytest.mark.parametrize("change", CHANGES_OF_A_USER, ids=("suspended", "password", "deleted"))
    def test_of_what_the_user_may_refuses(self, here, user, refresh, change):
        with here.active():
            change(User.objects.get(pk=user.pk))

        assert refresh.refusal() == REFUSED

    def test_of_the_roles_that_the_application_demands_refuses(self, here, user, refresh):
        with here.active():
            role = Role.objects.create(name="Staff", type=Role.Type.USER)
        assignment = partial(assignments.replace, roles.USERS, role.pk)
        with here.active():
            assignment([str(user.pk)])
        change_application(refresh, allowed_role_ids=[str(role.pk)])
        refresh()
        refresh()
        assert refresh.is_planned
        with here.active():
            assignment([])

        assert refresh.refusal() == REFUSED
        with here.active():
            assignment([str(user.pk)])
        refresh()
        assert refresh.is_planned

    def test_of_the_consent_refuses(self, here, user, refresh):
        change_application(refresh, is_third_party=True)
        family = refresh.family
        with here.active():
            consent = Consent.objects.create(
                user=user, application=refresh.client.application, scopes=family.scope.split()
            )
            RefreshFamily.objects.filter(pk=family.pk).update(consent_id=consent.pk)
        refresh()
        assert claims_of(refresh()["access_token"])["consent_id"] == str(consent.pk)
        assert refresh.is_planned
        with here.active():
            consent.delete()

        assert refresh.refusal() == REFUSED

    def test_of_an_api_is_in_the_tokens(self, here, user):
        with here.active():
            api = resources.create(name="API", indicator=API, access_token_ttl=600)
        refresh = Refreshing(here.application(), user, resource=API)
        assert [refresh()["expires_in"] for _ in range(2)] == [600, 600]
        with here.active():
            resources.change(Resource.objects.get(pk=api.pk), {"access_token_ttl": 700}, expected=None)

        assert refresh()["expires_in"] == 700
        assert refresh.is_planned
        with here.active():
            resources.remove(Resource.objects.get(pk=api.pk), expected=None)
        assert refresh.refusal()[0] == 400
        assert refresh.send(resource=None).status_code == 200, "nothing was used up"

    def test_that_deletes_the_application_refuses(self, here, refresh):
        with here.active():
            applications.remove(Application.objects.get(pk=refresh.client.application.pk))

        assert refresh.refusal() == (401, "invalid_client")


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
        assert plan_store._plans.of_tenants == {}

    def test_a_refresh_token_that_is_spelled_unusually_makes_no_plan(self, here, user):
        client = here.application()
        token = client.tokens_for(user)["refresh_token"].replace(".", "%2E")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        body = f"grant_type=refresh_token&refresh_token={token}"

        answer = here.post("/oidc/token", content=body, headers=form, auth=client.basic)

        assert answer.status_code == 200
        assert plan_store._plans.of_tenants == {}

    def test_a_secret_that_is_stored_with_an_older_key_makes_one_after_it_is_renewed(self, here, user):
        refresh = Refreshing(here.application(), user)

        with override_settings(ENCRYPTION_KEYS={"00000000": bytes(32)} | settings.ENCRYPTION_KEYS):
            refresh()
            assert plan_store._plans.of_tenants == {}
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
