"""Batches that the loop of a worker serves, as their clients see them."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from identity.organizations.models import MemberRole, Membership
from identity.resources import services as resources
from identity.resources.models import Resource
from identity.roles.models import Role, RoleScope, UserRole
from oidc.applications.models import AllowedRole
from oidc.grants.models import Consent
from tests.support.batching import THREADS, only_postgresql, refresh_all
from tests.support.cast import RelyingParty
from tests.support.independent import claims_of
from tests.support.role_claims import give_roles, join
from tests.support.simultaneous import (
    Request,
    code_request,
    locked,
    refresh_request,
    send,
    sending,
    token_request,
    userinfo_request,
    wait_for_waiting,
)
from tests.support.third_parties import Estate, connect

pytestmark = only_postgresql


@contextmanager
def threads_waiting(client: RelyingParty, tokens: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Let all threads of the worker wait for a lock during the block, each with a refresh of these tokens."""
    families = [each["refresh_token"].partition(".")[0] for each in tokens]
    held = [refresh_request(client, each["refresh_token"]) for each in tokens]
    with ExitStack() as stack:
        statement = "SELECT FROM grants_refreshfamily WHERE id = ANY(%s) FOR UPDATE"
        session = stack.enter_context(locked(statement, families))
        stack.enter_context(sending(held))
        wait_for_waiting(THREADS)
        yield
        assert [request.status for request in held] == [0] * len(held)
        session.rollback()
    assert [request.status for request in held] == [200] * len(held)


def answer_of(request: Request) -> Any:
    assert send([request]) == [200], request.content
    return request.json


def test_answers_while_all_threads_wait(here, machine):
    client, user = here.application(), here.user()
    browser = here.browser()
    tokens = [client.tokens_for(user, browser) for _ in range(THREADS + 2)]
    *waiting, free = refresh_all(client, tokens, 3)
    # The worker reads the key that signed the token once.
    assert send([userinfo_request(client, free["access_token"])]) == [200]
    codes = [browser.code_for(client, user) for _ in range(6)]
    assert [send([code_request(client, code)]) for code in codes[:3]] == [[200]] * 3  # with a plan since then

    with threads_waiting(client, waiting):
        requests = [token_request(machine) for _ in range(12)]
        requests += [userinfo_request(client, free["access_token"]) for _ in range(4)]
        requests.append(refresh_request(client, free["refresh_token"]))
        requests += [code_request(client, code) for code in codes[3:]]

        assert send(requests) == [200] * 20


def test_reads_the_roles_and_organizations_of_userinfo_while_all_threads_wait(here, machine):
    claim = {"name": "floor", "source": "organization.metadata.floor", "into": ["userinfo"]}
    client, user = here.application(custom_claims=[claim]), here.user(name="Ada")
    give_roles(here, user, "Auditor", "Clerk")
    organization = join(here, user, "Globex", "editor", metadata={"floor": 7})
    join(here, user, "Initech")
    browser = here.browser()
    waiting = refresh_all(client, [client.tokens_for(user, browser) for _ in range(THREADS + 1)], 3)
    scopes = ("roles", "groups", "urn:service:scope:organizations", "urn:service:scope:organization_roles")
    tokens = client.tokens_for(user, browser, scope=f"openid offline_access {' '.join(scopes)}")
    in_organization = client.refresh(tokens["refresh_token"], organization_id=organization).json()
    requests = [userinfo_request(client, each["access_token"]) for each in (tokens, in_organization)]
    by_django = [answer_of(replace(each, headers=each.headers | {"Cookie": "a=b"})) for each in requests]
    assert [each["roles"] for each in by_django] == [["Auditor", "Clerk"], ["editor"]]
    assert [each.get("floor") for each in by_django] == [None, 7]

    with threads_waiting(client, waiting):
        assert [answer_of(each) for each in requests] == by_django

        with here.active():
            UserRole.objects.filter(user=user, role__name="Clerk").delete()
            MemberRole.objects.filter(membership__user=user).delete()
        found = [answer_of(each) for each in requests]
        assert [each["roles"] for each in found] == [["Auditor"], []]
        assert [each["organization_roles"] for each in found] == [[], []]

        with here.active():
            Membership.objects.filter(user=user, organization=organization).delete()
        assert answer_of(requests[1]).keys().isdisjoint({"floor", "organization_id", "organization_is_admin"})
        assert len(answer_of(requests[0])["organizations"]) == 1


@dataclass
class Refreshing:
    """A client, its newest tokens, and what its refreshes ask for."""

    client: RelyingParty
    tokens: dict[str, Any]
    form: dict[str, str]

    def build_request(self) -> Request:
        sent = {"grant_type": "refresh_token", "refresh_token": self.tokens["refresh_token"]}
        return token_request(self.client, **sent, **self.form)

    def tell(self, answer: dict[str, Any]) -> list[Any]:
        """Keep the tokens of an answer, and return what is the same in answers that grant the same."""
        self.tokens = answer
        return [answer["scope"], *(_without_times(answer[name]) for name in ("access_token", "id_token"))]


def _without_times(token: str) -> dict[str, Any]:
    passing = {"iat", "exp", "jti", "at_hash", "epoch_hash"}
    return {name: value for name, value in claims_of(token).items() if name not in passing}


def refresh_one_by_one(refreshing: Sequence[Refreshing]) -> list[list[Any]]:
    """Refresh so that no request waits for a connection of the loop, or else a thread may serve it."""
    return [each.tell(answer_of(each.build_request())) for each in refreshing]


def refresh_by_django(each: Refreshing) -> list[Any]:
    request = each.build_request()
    return each.tell(answer_of(replace(request, headers=request.headers | {"Cookie": "a=b"})))


def refresh_together(refreshing: Sequence[Refreshing]) -> list[list[Any]]:
    requests = [each.build_request() for each in refreshing]
    assert send(requests) == [200] * len(requests), [request.content for request in requests]
    return [each.tell(request.json) for each, request in zip(refreshing, requests, strict=True)]


def test_reads_what_a_refresh_depends_on_while_all_threads_wait(here, machine):
    estate = Estate(here.at(settings.BASE_URL))
    api = estate.api("Orders", {"read": "Read orders", "write": "Write orders"})
    organization = estate.organization("Globex", {"edit": "Edit documents"})
    give_roles(here, estate.user, "Auditor")
    browser = here.browser()
    browser.sign_in(estate.user)
    at_api, in_organization = {"resource": api}, {"organization_id": organization}
    targets: list[dict[str, str]] = [{}, at_api, in_organization, at_api | in_organization]
    waiting = here.application()
    held = [waiting.tokens_for(estate.user, browser) for _ in range(THREADS + 1)]
    held = refresh_all(waiting, held, 3)
    refreshing = []
    for form in targets:
        third = here.application(is_third_party=True)
        tokens = connect(browser, third, scope="openid offline_access roles", **form)
        refreshing.append(Refreshing(third, tokens, form))
    with here.active():
        role_id = str(Role.objects.get(name="Auditor").pk)
        row = Resource.objects.get(indicator=api)
        resources.change(row, {"access_token_signing_alg": "RS256"}, expected=None, is_proven=True)
    restricted = here.application(allowed_role_ids=[role_id])
    for form in targets:
        tokens = restricted.tokens_for(estate.user, browser, scope="openid offline_access roles")
        refreshing.append(Refreshing(restricted, tokens, form))
    for _ in range(3):
        refresh_together(refreshing)
    by_django = [refresh_by_django(each) for each in refreshing]
    identity = "openid offline_access roles"
    further = ("", " read write", " edit", " read write")
    assert [each[0] for each in by_django] == [identity + scopes for scopes in further] * 2

    with threads_waiting(waiting, held):
        assert refresh_one_by_one(refreshing) == by_django

        with here.active():
            RoleScope.objects.filter(scope__name="write").delete()
            Membership.objects.filter(user=estate.user).update(is_admin=True)
        changed = refresh_one_by_one(refreshing)
        assert [each[0] for each in changed] == [each[0].replace(" write", "") for each in by_django]
        is_admin = [access_claims.get("organization_is_admin") for _, access_claims, _ in changed]
        assert is_admin == [None, None, True, True] * 2

    with here.active():
        Consent.objects.filter(user=estate.user).delete()
        AllowedRole.objects.all().delete()
    requests = [each.build_request() for each in refreshing]
    assert send(requests) == [400] * len(requests)
    assert {request.json["error"] for request in requests} == {"invalid_grant"}


def test_leaves_to_threads_what_needs_further_statements(here, machine):
    """A claim that is too large is recorded."""
    claim = {"name": "big", "source": {"value": "x" * 2_000}, "into": ["userinfo"]}
    client, user = here.application(custom_claims=[claim]), here.user(name="Ada")
    browser = here.browser()
    tokens = client.tokens_for(user, browser, scope="openid offline_access")

    for _ in range(4):
        requests: list[Request] = []
        for _ in range(6):
            requests.append(token_request(machine))
            requests.append(userinfo_request(client, tokens["access_token"]))
        assert send(requests) == [200] * 12
        assert [request.json for request in requests[1::2]] == [{"sub": str(user.pk)}] * 6
