"""A change that was committed before a request arrived counts, although the request is served in a batch."""

import pytest

from identity.core import tenancy
from identity.sessions import services as sessions
from identity.tenants import services as tenants
from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.keys import services as keys
from tests.support.batching import new_families
from tests.support.cast import RelyingParty
from tests.support.independent import claims_of, header_of
from tests.support.simultaneous import refresh_request, send, token_request, userinfo_request


def stored(client: RelyingParty) -> Application:
    return Application.objects.get(pk=client.application.pk)


def test_a_new_secret_replaces_the_earlier_one(here, machine):
    with here.active():
        secret = applications.rotate_secret(stored(machine), is_proven=True)

    assert send([token_request(machine) for _ in range(16)]) == [401] * 16
    assert send([token_request(machine, secret=secret) for _ in range(16)]) == [200] * 16


def test_a_new_key_signs(here, machine):
    with here.active():
        active = str(keys.rotate().pk)

    requests = [token_request(machine) for _ in range(16)]

    assert send(requests) == [200] * 16
    assert {header_of(request.json["access_token"])["kid"] for request in requests} == {active}


@pytest.mark.parametrize("change", [users.suspend, users.remove])
def test_tokens_of_a_suspended_or_deleted_user_are_refused(here, change):
    client, tokens = new_families(here, 4)
    other, others = new_families(here, 4)
    with here.active():
        change(User.objects.get(pk=claims_of(tokens[0]["id_token"])["sub"]))

    requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
    requests += [userinfo_request(client, each["access_token"]) for each in tokens]
    requests += [refresh_request(other, each["refresh_token"]) for each in others]

    assert send(requests) == [400] * 4 + [401] * 4 + [200] * 4


def test_tokens_of_ended_sessions_are_refused(here):
    client, user, other = here.application(), here.user(), here.user()
    tokens = [client.tokens_for(each, scope="openid")["access_token"] for each in (user, other) * 4]
    requests = [userinfo_request(client, token) for token in tokens]
    assert [send(requests) for _ in range(8)] == [[200] * 8] * 8

    with here.active():
        sessions.end_all(user)

    assert send(requests) == [401, 200] * 4


def test_clients_of_a_deleted_tenant_are_refused(here, machine):
    with tenancy.using(tenancy.EVERYWHERE):
        tenants.remove(here.tenant)

    statuses = send([token_request(machine) for _ in range(16)])

    # A worker knows a tenant for some seconds. Its applications are deleted.
    assert set(statuses) <= {401, 404}
