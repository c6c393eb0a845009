"""AW06: with many long names of roles, a token was too long for our endpoints: nobody could revoke it.

Later the same was true of many scopes, of claims with long names, and of many organizations.
"""

import json
from typing import Any

import httpx
import orjson
import pytest

from audit.models import Entry
from identity.organizations.models import Membership, Organization
from identity.resources import services as resources
from identity.resources.models import Resource, Scope
from identity.roles.models import Role, RoleScope, UserRole
from identity.users.models import User
from oidc.applications.models import Application, ApplicationRole
from tests.support.cast import RelyingParty, World, query_of
from tests.support.end_session import HOME, PATH, is_asked, sent_to, visit
from tests.support.independent import bearer, claims_of
from tests.support.management import administrator, refusal_of
from tests.support.token_endpoint import refusal

API = "https://orders.example"
LETTER = "𝄞"  # four bytes
TEXTS = ("given_name", "family_name", "middle_name", "nickname")
URLS = ("profile", "website")
ADDRESS = ("formatted", "locality", "region", "country")


def constant(name: str, value: str, into: list[str]) -> dict[str, Any]:
    return {"name": name, "source": {"value": value}, "into": into}


def give_roles(user: User, number: int, length: int) -> None:
    made = [Role(name=str(each).rjust(length, "r"), type=Role.Type.USER) for each in range(number)]
    Role.objects.bulk_create(made)
    UserRole.objects.bulk_create(UserRole(user=user, role=role) for role in made)


def give_scopes(api: Resource, holder: User | Application, number: int, length: int) -> list[str]:
    """Give a user or an application scopes of an API, and return their names."""
    is_user = isinstance(holder, User)
    role = Role.objects.create(name="Holder", type=Role.Type.USER if is_user else Role.Type.MACHINE)
    scopes = Scope.objects.bulk_create(
        Scope(resource=api, name=f"{each:04}".rjust(length, "s")) for each in range(number)
    )
    RoleScope.objects.bulk_create(RoleScope(role=role, scope=scope) for scope in scopes)
    if is_user:
        UserRole.objects.create(user=holder, role=role)
    else:
        ApplicationRole.objects.create(application=holder, role=role)
    return [scope.name for scope in scopes]


def join_organizations(user: User, number: int) -> None:
    made = Organization.objects.bulk_create(Organization(name=f"Company {each}") for each in range(number))
    Membership.objects.bulk_create(Membership(organization=each, user=user) for each in made)


def is_read_and_revoked(client: RelyingParty, token: str) -> None:
    """Check that each endpoint reads an access token, and that it is worth nothing once it is revoked."""
    world = client.world
    assert world.get("/oidc/userinfo", headers=bearer(token)).status_code == 200
    assert world.get("/api/session/context", headers=bearer(token)).status_code == 200
    assert world.post("/oidc/userinfo", data={"access_token": token}).status_code == 200
    assert world.post("/oidc/revoke", data={"token": token}, auth=client.basic).status_code == 200
    assert world.get("/oidc/userinfo", headers=bearer(token)).status_code == 401


def are_too_many(answer: httpx.Response) -> bool:
    """Say whether the token endpoint refuses for too many scopes."""
    is_plain = "name fewer" in answer.json()["error_description"]
    return is_plain and refusal(answer) == (400, "invalid_scope")


class TestRoles:
    @pytest.mark.parametrize(
        ("number", "length", "is_listed"), [(200, 12, True), (98, 28, True), (200, 200, False)]
    )
    def test_attack_AW06_the_longest_token_can_be_read_and_revoked(self, acme, number, length, is_listed):
        user = acme.user()
        with acme.active():
            Resource.objects.create(
                name="Orders",
                indicator=API,
                claims=["roles", "groups"],
                custom_claims=[constant(name, "x" * 1000, ["access_token"]) for name in "abcd"],
            )
            give_roles(user, number, length)
        client = acme.application()

        token = client.tokens_for(user, scope="openid", resource=API)["access_token"]

        claims = claims_of(token)
        assert ("groups" in claims, claims.get("groups_truncated", False)) == (is_listed, not is_listed)
        is_read_and_revoked(client, token)

    def test_attack_AW06_197_roles_of_28_characters_can_be_sent_in_the_header(self, acme):
        user = acme.user()
        with acme.active():
            Resource.objects.create(name="Orders", indicator=API, claims=["roles"])
            give_roles(user, 197, 28)
        client = acme.application()

        token = client.tokens_for(user, scope="openid", resource=API)["access_token"]

        assert len(claims_of(token)["roles"]) == 197
        is_read_and_revoked(client, token)


class TestScopes:
    def test_attack_AW06_500_are_too_many_for_a_token_of_a_user(self, acme):
        user = acme.user()
        with acme.active():
            api = Resource.objects.create(name="Orders", indicator=API)
            names = give_scopes(api, user, 500, 16)
        client = acme.application()
        browser = acme.browser()
        code = browser.code_for(client, user, scope="openid offline_access", resource=API)

        assert are_too_many(client.redeem(code))
        assert are_too_many(client.redeem(code)), "the code was not used up"
        tokens = client.tokens_for(user, browser, scope=f"openid {names[7]}", resource=API)
        assert tokens["scope"] == f"openid {names[7]}"

    def test_attack_AW06_a_refresh_for_fewer_can_follow(self, acme):
        user = acme.user()
        with acme.active():
            api = Resource.objects.create(name="Orders", indicator=API)
            names = give_scopes(api, user, 500, 16)
        client = acme.application()
        token = client.tokens_for(user, scope="openid offline_access")["refresh_token"]

        assert are_too_many(client.refresh(token, resource=API))
        answer = client.refresh(token, resource=API, scope=f"openid {' '.join(names[:300])}")

        assert answer.status_code == 200
        is_read_and_revoked(client, answer.json()["access_token"])

    @pytest.mark.parametrize("resource", [API, None])
    def test_attack_AW06_they_are_too_many_for_an_application(self, acme, resource):
        machine = acme.application("MachineToMachine")
        with acme.active():
            api = Resource.objects.create(name="Orders", indicator=API)
            names = give_scopes(api, machine.application, 500, 16)

        def ask(scope: str | None = None) -> Any:
            return machine.token(grant_type="client_credentials", resource=resource, scope=scope)

        assert are_too_many(ask())
        assert are_too_many(ask(" ".join(names)))
        assert ask(" ".join(names[:300])).status_code == 200
        failed = Entry.objects.filter(tenant_id=acme.tenant.pk, payload__error="invalid_scope")
        assert failed.count() == 2

    @pytest.mark.parametrize(("more", "status"), [(0, 200), (1, 400)])
    def test_those_of_a_token_have_at_most_6_kib(self, acme, more, status):
        machine = acme.application("MachineToMachine")
        with acme.active():
            api = Resource.objects.create(name="Orders", indicator=API)
            give_scopes(api, machine.application, 24, 255)  # with spaces 6143 characters
            role = Role.objects.get(name="Holder")
            last = Scope.objects.create(resource=api, name="x" * more) if more else None
            if last:
                RoleScope.objects.create(role=role, scope=last)

        answer = machine.token(grant_type="client_credentials", resource=API)

        assert answer.status_code == status

    def test_the_preview_of_claims_says_so(self, acme):
        user = acme.user()
        with acme.active():
            give_scopes(Resource.objects.create(name="Orders", indicator=API), user, 500, 16)
        client = acme.application()

        answer = administrator(acme).post(
            f"/applications/{client.application.pk}/claims-preview", user_id=str(user.pk), resource=API
        )

        assert "scope" in refusal_of(answer, 400)


class TestNamesOfClaims:
    def test_attack_AW06_names_of_claims_count(self, acme):
        user = acme.user()
        declared = [constant(f"{each}".rjust(70, "n"), "x" * 60, ["access_token"]) for each in range(40)]
        with acme.active():
            Resource.objects.create(name="Orders", indicator=API, custom_claims=declared[20:])
        client = acme.application(custom_claims=declared[:20])

        claims = claims_of(client.tokens_for(user, scope="openid", resource=API)["access_token"])

        custom = {name: value for name, value in claims.items() if name.startswith("n")}
        assert 3900 < sum(len(name) + len(orjson.dumps(value)) for name, value in custom.items()) <= 4096
        omitted = Entry.objects.get(tenant_id=acme.tenant.pk, key="CustomClaim.Omit").payload["claims"]
        assert len(omitted) == 40 - len(custom)


class TestOrganizations:
    WANTED = json.dumps(
        {
            "id_token": {"organizations": None, "organization_roles": None},
            "userinfo": {"organizations": None},
        }
    )

    def test_attack_AW06_an_id_token_of_a_user_with_400_is_a_hint(self, acme):
        user = acme.user()
        with acme.active():
            join_organizations(user, 400)

        here = visit(acme, user=user, claims=self.WANTED)

        claims = claims_of(here.hint)
        assert claims["organizations_truncated"] is True
        assert (claims["organization_roles"], "organizations" in claims) == ([], False)
        told = here.client.userinfo(here.tokens["access_token"]).json()
        assert len(told["organizations"]) == 400
        answer = acme.post(PATH, data={"id_token_hint": here.hint, "post_logout_redirect_uri": HOME})
        assert sent_to(answer) == (HOME, {})
        assert not here.is_signed_in()

    @pytest.mark.parametrize(("number", "is_listed"), [(157, True), (158, False)])
    def test_those_of_a_token_have_at_most_6_kib(self, acme, number, is_listed):
        user = acme.user()
        with acme.active():
            join_organizations(user, number)

        claims = claims_of(visit(acme, user=user, claims=self.WANTED).hint)

        assert ("organizations" in claims) == is_listed
        assert claims.get("organizations_truncated", False) != is_listed


@pytest.fixture
def everything(acme: World) -> tuple[RelyingParty, User]:
    """A client and a user whose tokens are as long as they can be."""
    text = LETTER * 256
    address = dict.fromkeys(ADDRESS, text) | {"street_address": LETTER * 512, "postal_code": LETTER * 64}
    profile = dict.fromkeys(TEXTS, text) | dict.fromkeys(URLS, f"https://{LETTER * 2040}")
    user = acme.user(
        f"u{LETTER * 127}",
        name=text,
        email=f"{'a' * 64}@{'b' * 60}.example",
        avatar=f"https://{'a' * 2040}",
        profile=profile | {"address": address},
        custom_data={"gender": LETTER * 16_000},
    )
    names = [f"{each}".rjust(128, "n") for each in range(20)]
    client = acme.application(
        post_logout_redirect_uris=[HOME],
        custom_claims=[constant(name, "x" * 74, ["id_token"]) for name in names],
    )
    with acme.active():
        api = resources.create(
            name="Orders",
            indicator=f"{API}/{LETTER * 2025}",
            access_token_signing_alg="RS256",
            claims=["roles", "groups"],
            custom_claims=[constant(name, "x" * 74, ["access_token"]) for name in names],
        )
        give_scopes(api, user, 24, 255)
        give_roles(user, 98, 28)
        join_organizations(user, 157)
    return client, user


class TestEverything:
    def test_attack_AW06_the_longest_access_token_can_be_read_and_revoked(self, acme, everything):
        client, user = everything

        code = acme.browser().code_for(client, user, scope="openid profile email phone offline_access")
        with acme.active():
            indicator = Resource.objects.get(name="Orders").indicator

        token = client.redeem(code, resource=indicator).json()["access_token"]

        assert 33_000 < len(token) < 37_000
        is_read_and_revoked(client, token)

    def test_attack_AW06_the_longest_id_token_is_a_hint(self, acme, everything):
        client, user = everything
        browser = acme.browser()
        names = ("name", "username", "preferred_username", "picture", "email", "address", "gender")
        lists = ("roles", "groups", "organizations", "organization_roles")
        wanted = json.dumps({"id_token": dict.fromkeys((*names, *TEXTS, *URLS, *lists))})
        hint = client.tokens_for(user, browser, scope="openid", claims=wanted)["id_token"]
        assert 60_000 < len(hint) < 76_000
        assert "gender" not in claims_of(hint)
        same_origin, cross_site = ({"Sec-Fetch-Site": each} for each in ("same-origin", "cross-site"))

        asked = client.request(scope="openid", prompt="none", id_token_hint=hint)
        silent = browser.post("/oidc/authorize", data=asked, headers=same_origin)
        stranger = acme.browser().post("/oidc/authorize", data=asked | {"prompt": "login"})
        form = {"id_token_hint": hint, "post_logout_redirect_uri": HOME, "state": "s"}
        bounced = acme.post(PATH, data=form, headers=cross_site)

        assert "code" in query_of(silent.headers["Location"])
        assert stranger.status_code == 303
        assert "error" not in query_of(stranger.headers["Location"])
        assert len(bounced.headers["Location"]) < 1000
        assert is_asked(browser.get(bounced.headers["Location"]))
        assert sent_to(acme.post(PATH, data=form)) == (HOME, {"state": "s"})
