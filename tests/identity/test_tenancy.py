"""Tenants: how a path picks one, what one is born with, and that nothing leaks between two."""

import secrets
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.apps import apps
from django.conf import settings as configured
from django.db import IntegrityError
from django.test import Client
from django.urls import get_script_prefix, set_script_prefix

from audit import context
from audit.models import Entry
from database import ids
from identity.core import tenancy
from identity.core.errors import Invalid
from identity.core.models import Link, TenantManager, TenantModel
from identity.organizations.models import MemberCount
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from identity.users.models import User, UserCount
from interaction.experience.models import SignInExperience
from oidc.applications.models import Application
from oidc.keys.models import SigningKey
from tests.support import cast, independent, wire
from tests.support.independent import bearer
from tests.support.threads import at_once

TENANT_MODELS = [
    model for model in apps.get_models() if issubclass(model, TenantModel | Link | UserCount | MemberCount)
]
OURS = [
    model
    for model in apps.get_models()
    if model.__module__.startswith(("identity.", "oidc.", "interaction."))
]

# One path of every shape: an envelope, OAuth's JSON, a page.
API = ["/api/interaction/sign-in-experience", "/api/admin/me", "/api/nothing"]
OAUTH = [
    "/.well-known/openid-configuration",
    "/oidc/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server",
    "/.well-known/jwks.json",
    "/oidc/token",
    "/oidc/userinfo",
]
PAGES = ["/", "/sign-in", "/account", "/oidc/authorize", "/oidc/end-session", "/nothing"]


def new_slug():
    return f"t-{secrets.token_hex(4)}"


def label(model):
    return model._meta.label


def is_not_found(answer, path):
    """Check for a 404 of the shape that belongs to the path."""
    assert answer.status_code == 404, answer.text
    if path.startswith("/api/"):
        assert answer.json() == {"code": 404, "message": answer.json()["message"], "result": ""}
    elif path in OAUTH:
        assert set(answer.json()) == {"error", "error_description"}
    else:
        assert answer.headers["Content-Type"].startswith("text/html")
        assert "There is nothing here" in answer.text


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


class TestPaths:
    """/t/{slug} is moved into the script prefix."""

    @pytest.mark.parametrize("path", API + OAUTH + PAGES)
    @pytest.mark.parametrize("slug", ["default", "no-such-tenant", "UPPER", "a_b", "%2e%2e", "x" * 64, "é"])
    def test_decision_T1_an_unknown_tenant_is_404_in_the_shape_of_the_path(self, address, slug, path):
        answer = httpx.get(f"{address}/t/{slug}{path}")

        is_not_found(answer, path)

    @pytest.mark.parametrize("slug", ["default", "no-such-tenant"])
    def test_decision_T1_an_unknown_tenant_takes_no_post(self, address, slug):
        answer = httpx.post(
            f"{address}/t/{slug}/api/admin/sign-in", json={"username": "admin", "password": "x"}
        )

        is_not_found(answer, "/api/admin/sign-in")

    @pytest.mark.parametrize("path", ["/t", "/t/", "/t//", "/t//sign-in", "/t/default", "/t/{slug}"])
    def test_a_prefix_without_a_path_is_404(self, acme, address, path):
        answer = httpx.get(f"{address}{path.format(slug=acme.tenant.slug)}")

        assert answer.status_code == 404

    @pytest.mark.parametrize(
        "path",
        [
            "/t/{acme}/t/{rival}/.well-known/jwks.json",
            "/t/{acme}/../{rival}/.well-known/jwks.json",
            "/t/{acme}//.well-known/jwks.json",
            "//t/{acme}/.well-known/jwks.json",
            "/./t/{acme}/.well-known/jwks.json",
            "/T/{acme}/.well-known/jwks.json",
            "/t/{acme}%2F.well-known/jwks.jsonx",
            "/t/{acme};x=1/.well-known/jwks.json",
            "/t/{acme}%00/.well-known/jwks.json",
            "/t/{acme}%0a/.well-known/jwks.json",
            "/t/{acme}%20/.well-known/jwks.json",
            "/t/{acme}/.well-known/jwks.json/",
            "/t/{acme}/.well-known/..%2f..%2ft/{rival}/.well-known/jwks.json",
        ],
    )
    def test_other_spellings_are_no_tenant(self, acme, rival, address, path):
        spelt = path.format(acme=acme.tenant.slug, rival=rival.tenant.slug)

        answer = wire.send(address, "GET", spelt.encode())

        assert answer.status == 404
        assert b'"keys"' not in answer.body

    def test_decision_T1_the_same_path_is_another_place_in_each_tenant(self, acme, rival, address):
        path = "/.well-known/jwks.json"

        sets = [httpx.get(f"{place}{path}").json() for place in (address, acme.address, rival.address)]

        kids = [key["kid"] for published in sets for key in published["keys"]]
        assert len(set(kids)) == len(kids) == 3

    def test_decision_T1_every_address_that_a_page_shows_stays_in_the_tenant(self, acme):
        client = acme.application()
        browser = acme.browser()

        page = browser.get(browser.authorize(client).headers["Location"])

        assert f'action="/t/{acme.tenant.slug}/sign-in"' in page.text
        assert 'href="/sign-in' not in page.text

    def test_a_relative_looking_static_url_does_not_carry_the_first_tenants_prefix(self, acme, rival):
        first, second = acme.get("/sign-in").text, rival.get("/sign-in").text

        assert acme.tenant.slug in first
        assert acme.tenant.slug not in second
        assert "/static/" in second
        assert f"{rival.tenant.slug}/static/" not in second


class TestPrefixInThisProcess:
    """The script prefix is a variable of the thread: the next request must not inherit it."""

    @pytest.fixture(autouse=True)
    def _at_the_root(self):
        set_script_prefix("/")
        yield
        set_script_prefix("/")

    @pytest.mark.parametrize("path", API + OAUTH + PAGES)
    def test_decision_T1_is_restored_after_an_answer(self, acme, path):
        Client().get(f"/t/{acme.tenant.slug}{path}")

        assert get_script_prefix() == "/"
        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.scope()

    def test_decision_T1_is_restored_after_a_failure(self, acme, monkeypatch):
        monkeypatch.setattr("oidc.provider.discovery.cacheable_json", _fail)

        answer = Client(raise_request_exception=False).get(
            f"/t/{acme.tenant.slug}/.well-known/openid-configuration"
        )

        assert answer.status_code == 500
        assert get_script_prefix() == "/"
        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.scope()

    def test_the_next_request_of_the_thread_is_at_the_root(self, acme):
        browser = Client()
        browser.get(f"/t/{acme.tenant.slug}/.well-known/openid-configuration")

        document = browser.get("/.well-known/openid-configuration").json()

        assert document["issuer"] == configured.BASE_URL
        assert document["token_endpoint"] == f"{configured.BASE_URL}/oidc/token"

    def test_two_threads_do_not_see_each_others_prefix(self, acme, rival):
        def work(index):
            path = f"/t/{(acme, rival)[index].tenant.slug}/.well-known/openid-configuration"
            return {Client().get(path).json()["token_endpoint"] for _ in range(50)}

        seen = at_once(2, work)

        assert seen == [{f"{acme.issuer}/oidc/token"}, {f"{rival.issuer}/oidc/token"}]


def _fail(*_, **__):
    raise RuntimeError("broken on purpose")


def everything():
    """How many rows there are of what a tenant is born with."""
    with tenancy.using(tenancy.EVERYWHERE):
        return [model.objects.count() for model in (Tenant, SigningKey, SignInExperience, Entry)]


class TestProvision:
    @pytest.mark.parametrize("slug", ["a", "0", "-", "a-b", "x" * 63, "123", "--"])
    def test_decision_T4_slugs_of_small_letters_digits_and_dashes(self, slug):
        unique = f"{slug}{secrets.token_hex(4)}"[-63:]

        with tenancy.using(tenancy.EVERYWHERE):
            tenant = tenants.provision(slug=unique, name="Some name")

        assert Tenant.objects.get(slug=unique) == tenant

    @pytest.mark.parametrize(
        "slug",
        [
            "",
            "A",
            "a_b",
            "a.b",
            "a b",
            " a",
            "a\n",
            "\na",
            "x" * 64,
            "ä",
            "\uff41",
            "a/b",
            "..",
            "a\0",
            "\u0661",
        ],
    )
    def test_decision_T4_other_slugs_are_refused(self, slug):
        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(Invalid) as refusal:
            tenants.provision(slug=slug, name="Some name")

        assert refusal.value.field == "slug"

    def test_a_slug_is_taken_once(self, acme):
        before = Entry.objects.filter(key="Tenant.Create").count()

        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(Invalid) as refusal:
            tenants.provision(slug=acme.tenant.slug, name="Again")

        assert (refusal.value.field, refusal.value.rule) == ("slug", "already exists")
        assert Tenant.objects.get(slug=acme.tenant.slug).name == "Acme"
        assert Entry.objects.filter(key="Tenant.Create").count() == before

    def test_decision_T1_default_exists_and_cannot_be_made_again(self, address):
        assert Tenant.objects.get(pk="default").slug == "default"

        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(Invalid):
            tenants.provision(slug="default", name="Again")

    def test_a_slug_that_many_ask_for_goes_to_one(self):
        slug = new_slug()

        def work(_):
            try:
                with tenancy.using(tenancy.EVERYWHERE):
                    return tenants.provision(slug=slug, name="Wanted").pk
            except Invalid:
                return None

        won = [pk for pk in at_once(6, work) if pk]

        assert len(won) == 1
        with tenancy.using(Tenant.objects.get(pk=won[0]).to_active()):
            assert SigningKey.objects.count() == 1
            assert SignInExperience.objects.count() == 1

    def test_decision_T3_is_born_with_an_active_key_and_an_experience(self, acme):
        with acme.active():
            assert SigningKey.objects.active().count() == SigningKey.objects.count() == 1
            assert SignInExperience.objects.count() == 1

    def test_decision_X2_the_experience_is_the_default_one(self, acme):
        shown = acme.get("/api/interaction/sign-in-experience").json()["result"]

        assert shown["sign_in"]["methods"] == [
            {"identifier": "username", "password": True, "verification_code": False},
            {"identifier": "email", "password": True, "verification_code": True},
            {"identifier": "phone", "password": True, "verification_code": True},
        ]
        assert shown["sign_up"] == {
            "identifiers": ["username"],
            "password": True,
            "verify": False,
            "agree_to_terms": "automatic",
        }
        assert shown["password_policy"]["min_length"] == 8
        assert set(shown["branding"].values()) == {""}

    def test_decision_T3_all_or_nothing(self, settings):
        slug = new_slug()
        before = everything()
        # The last of them fails: it wants an argument.
        settings.TENANT_PROVISIONERS = [*settings.TENANT_PROVISIONERS, "database.ids.parse"]

        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(TypeError):
            tenants.provision(slug=slug, name="Half a tenant")

        assert not Tenant.objects.filter(slug=slug).exists()
        assert everything() == before

    def test_decision_A1_is_written_down_in_the_new_tenant(self, acme):
        entry = Entry.objects.get(key="Tenant.Create", tenant_id=acme.tenant.pk)

        assert entry.payload == {"slug": acme.tenant.slug, "name": "Acme"}

    def test_decision_H8_ids_are_version_7(self, acme):
        parsed = ids.parse(acme.tenant.pk)

        assert parsed is not None
        assert parsed.version == 7

    def test_leaves_no_tenant_active(self, acme):
        with tenancy.using(tenancy.EVERYWHERE):
            tenants.provision(slug=new_slug(), name="Some name")

            assert tenancy.scope() == tenancy.EVERYWHERE

        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.scope()


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
