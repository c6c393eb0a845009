"""Tenants: whose rows a query reads, and that nothing leaks between two."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.apps import apps
from django.conf import settings as configured
from django.db import IntegrityError

from audit import context
from audit.models import Entry
from database import ids
from identity.core import tenancy
from identity.core.models import CounterShard, Link, TenantManager, TenantModel
from identity.users.models import User
from oidc.applications.models import Application
from tests.support import cast, independent
from tests.support.independent import bearer

TENANT_MODELS = [model for model in apps.get_models() if issubclass(model, TenantModel | Link | CounterShard)]
OURS = [
    model
    for model in apps.get_models()
    if model.__module__.startswith(("identity.", "oidc.", "interaction."))
]


def label(model):
    return model._meta.label


class TestManagers:
    """No tenant, no query."""

    def test_the_walk_finds_them(self):
        assert {label(model) for model in TENANT_MODELS} >= {
            *("users.User", "identity_sessions.Session", "keys.SigningKey", "applications.Application"),
            *("grants.RefreshFamily", "grants.AuthorizationCode", "experience.SignInExperience"),
        }

    def test_decision_T2_every_row_of_ours_belongs_to_a_tenant(self):
        without = {label(model) for model in OURS if model._meta.managed and model not in TENANT_MODELS}

        # Those of submissions name their tenant as text; see ``IdempotencyKey``.
        assert without == {
            *("tenants.Tenant", "tenants.RetiredTenant"),
            *("submissions.IdempotencyKey", "submissions.ShownOnce", "submissions.UsedOnce"),
        }

    @pytest.mark.parametrize("model", TENANT_MODELS, ids=label)
    def test_every_manager_of_a_tenant_model_knows_its_tenant(self, model):
        assert isinstance(model._default_manager, TenantManager)
        for manager in model._meta.managers:
            assert isinstance(manager, TenantManager)

    @pytest.mark.parametrize("model", TENANT_MODELS, ids=label)
    @pytest.mark.parametrize(
        "query",
        [
            lambda objects: objects.all(),
            lambda objects: objects.count(),
            lambda objects: objects.first(),
            lambda objects: objects.filter(pk=ids.new()).exists(),
            lambda objects: objects.get(pk=ids.new()),
            lambda objects: objects.create(),
            lambda objects: objects.bulk_create([objects.model()]),
            lambda objects: objects.update(updated_at=None),
            lambda objects: objects.in_bulk([]),
            lambda objects: objects.get_or_create(pk=ids.new()),
        ],
        ids=[
            "all",
            "count",
            "first",
            "exists",
            "get",
            "create",
            "bulk",
            "update",
            "in_bulk",
            "get_or_create",
        ],
    )
    def test_decision_T2_without_a_tenant_every_query_is_refused(self, model, query):
        with pytest.raises(tenancy.NoActiveTenant):
            query(model._default_manager)

    @pytest.mark.parametrize("model", TENANT_MODELS, ids=label)
    def test_a_row_that_is_made_everywhere_belongs_nowhere_and_is_refused(self, model):
        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(tenancy.NoActiveTenant):
            model()

    def test_related_managers_are_no_way_around(self, acme):
        user = acme.user()

        with pytest.raises(tenancy.NoActiveTenant):
            user.sessions.count()

    @pytest.mark.parametrize("model", TENANT_MODELS, ids=label)
    def test_decision_T2_one_tenant_does_not_see_the_rows_of_another(self, acme, rival, model):
        with acme.active():
            seen = set(model._default_manager.values_list("tenant_id", flat=True))
            assert not model._default_manager.filter(tenant=rival.tenant).exists()

        assert seen <= {acme.tenant.pk}

    def test_decision_T2_unique_means_unique_in_the_tenant(self, acme, rival):
        here, there = acme.user("alice", email="a@b.example"), rival.user("alice", email="a@b.example")

        assert here.pk != there.pk
        with acme.active():
            assert User.objects.find_by_identifier("alice").get() == here
        with rival.active():
            assert User.objects.find_by_identifier("alice").get() == there

    def test_decision_T2_an_id_of_another_tenant_is_unknown(self, acme, rival):
        theirs = rival.user()

        with acme.active():
            assert not User.objects.filter(pk=theirs.pk).exists()
            assert User.objects.filter(pk=theirs.pk).update(name="taken") == 0
            assert User.objects.filter(pk=theirs.pk).delete() == (0, {})
        with rival.active():
            assert User.objects.get(pk=theirs.pk).name == ""


class TestUsing:
    def test_is_over_when_the_block_is(self, acme):
        with acme.active():
            assert tenancy.active_id() == acme.tenant.pk

        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.active()

    def test_is_over_when_the_block_fails(self, acme):
        with pytest.raises(ZeroDivisionError), acme.active():
            _ = 1 / 0

        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.scope()

    def test_nests(self, acme, rival):
        with acme.active():
            with rival.active():
                assert tenancy.active_id() == rival.tenant.pk
                assert context.current().tenant_id == rival.tenant.pk

            assert tenancy.active_id() == acme.tenant.pk
            assert context.current().tenant_id == acme.tenant.pk

    def test_everywhere_sees_all_and_is_no_tenant(self, acme, rival):
        here, there = acme.user(), rival.user()

        with tenancy.using(tenancy.EVERYWHERE):
            assert User.objects.filter(pk__in=[here.pk, there.pk]).count() == 2
            with pytest.raises(tenancy.NoActiveTenant):
                tenancy.active()

    def test_a_new_thread_has_no_tenant(self, acme):
        with acme.active(), ThreadPoolExecutor(1) as pool:
            refusal = pool.submit(tenancy.active).exception()

        assert isinstance(refusal, tenancy.NoActiveTenant)


class TestTwoTenants:
    """A token, a cookie, a code of one is worth nothing in the other."""

    def test_case_G06_a_token_of_one_is_refused_by_the_other(self, acme, rival):
        client, user = acme.application(), acme.user()
        token = client.tokens_for(user)["access_token"]

        assert acme.get("/oidc/userinfo", headers=bearer(token)).status_code == 200
        assert rival.get("/oidc/userinfo", headers=bearer(token)).status_code == 401
        assert httpx.get(f"{configured.BASE_URL}/oidc/userinfo", headers=bearer(token)).status_code == 401

    def test_case_G06_one_client_id_in_both_is_two_clients(self, acme, rival):
        here, there = acme.application("MachineToMachine"), rival.application("MachineToMachine")
        with rival.active():
            Application.objects.filter(pk=there.application.pk).update(client_id=here.client_id)
            there.application.refresh_from_db()

        ours, theirs = (party.token(grant_type="client_credentials") for party in (here, there))
        crossed = here.world.post(
            "/oidc/token", data={"grant_type": "client_credentials"}, auth=(here.client_id, there.secret)
        )

        assert independent.claims_of(ours.json()["access_token"])["iss"] == acme.issuer
        assert independent.claims_of(theirs.json()["access_token"])["iss"] == rival.issuer
        assert crossed.status_code == 401

    def test_decision_T2_one_client_id_twice_in_a_tenant_is_impossible(self, acme):
        first, second = acme.application(), acme.application()

        with acme.active(), pytest.raises(IntegrityError):
            Application.objects.filter(pk=second.application.pk).update(client_id=first.client_id)

    def test_case_G06_the_same_user_id_behind_the_same_client_id_does_not_help(self, acme, rival):
        """Even when everything in the token exists there too, the key is not that tenant's."""
        client, user = acme.application(), acme.user()
        token = client.tokens_for(user)["access_token"]
        there = rival.application()
        with rival.active():
            Application.objects.filter(pk=there.application.pk).update(client_id=client.client_id)

        answer = rival.get("/oidc/userinfo", headers=bearer(token))

        assert answer.status_code == 401

    def test_case_G07_a_session_of_one_is_none_in_the_other(self, acme, rival):
        client, there = acme.application(), rival.application()
        browser = acme.browser()
        client.tokens_for(acme.user(), browser)
        abroad = cast.Browser(rival, browser.http)

        answer = abroad.authorize(there, prompt="none")

        assert cast.query_of(answer.headers["Location"])["error"] == "login_required"

    def test_case_G07_not_even_under_the_others_cookie_name(self, acme, rival):
        client, there = acme.application(), rival.application()
        browser = acme.browser()
        client.tokens_for(acme.user(), browser)
        stolen = {
            name.replace(acme.tenant.slug, rival.tenant.slug): value
            for name, value in browser.http.cookies.items()
        }
        abroad = rival.browser()
        abroad.http.cookies.update(stolen)

        answer = abroad.authorize(there, prompt="none")

        assert len(stolen) >= 2
        assert cast.query_of(answer.headers["Location"])["error"] == "login_required"

    def test_case_B17_a_code_of_one_is_unknown_to_the_other(self, acme, rival):
        client, there = acme.application(), rival.application()
        code = acme.browser().code_for(client, acme.user())
        with rival.active():
            Application.objects.filter(pk=there.application.pk).update(client_id=client.client_id)
            there.application.refresh_from_db()

        stolen = there.redeem(code, code_verifier=client.verifier)

        assert stolen.json()["error"] == "invalid_grant"
        assert client.redeem(code).status_code == 200

    def test_a_refresh_token_of_one_is_unknown_to_the_other(self, acme, rival):
        client, there = acme.application(), rival.application()
        token = client.tokens_for(acme.user())["refresh_token"]

        stolen = there.refresh(token)

        assert stolen.json()["error"] == "invalid_grant"
        assert client.refresh(token).status_code == 200

    def test_revoking_in_one_a_token_of_the_other_does_nothing(self, acme, rival):
        client, there = acme.application(), rival.application()
        tokens = client.tokens_for(acme.user())

        for token in (tokens["access_token"], tokens["refresh_token"]):
            assert rival.post("/oidc/revoke", data={"token": token}, auth=there.basic).status_code == 200

        assert client.userinfo(tokens["access_token"]).status_code == 200
        assert client.refresh(tokens["refresh_token"]).status_code == 200

    def test_a_person_of_one_cannot_sign_in_to_the_other(self, acme, rival):
        answer = rival.browser().sign_in(acme.user())

        assert answer.status_code == 401

    def test_case_A26_an_interaction_of_one_is_unknown_to_the_other(self, acme, rival):
        browser = acme.browser()
        answer = browser.authorize(acme.application())
        interaction = cast.query_of(answer.headers["Location"])["interaction"]

        abroad = cast.Browser(rival, browser.http).get("/sign-in", params={"interaction": interaction})

        assert abroad.status_code == 400
        assert browser.get("/sign-in", params={"interaction": interaction}).status_code == 200

    def test_audit_entries_are_filed_under_their_tenant(self, acme, rival):
        acme.browser().sign_in(acme.user())

        assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Password").count() == 1
        assert not Entry.objects.filter(tenant_id=rival.tenant.pk, key="SignIn.Password").exists()
