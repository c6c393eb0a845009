"""The next step of an authorization request, for each state of the browser's user."""

from urllib.parse import urlencode
from uuid import uuid4

import pytest

from identity.sessions import services as sessions
from oidc.provider import parameters
from oidc.provider.authorization import steps
from oidc.provider.authorization.request import validate
from oidc.provider.authorization.steps import Step
from tests.support import management
from tests.support.cast import signed_in


@pytest.fixture
def organization(acme):
    return str(management.administrator(acme).created("/organizations", name="Org")["id"])


@pytest.mark.parametrize("prompt", [None, "none"])
def test_is_the_code_only_for_a_member_of_the_named_organization(acme, organization, prompt):
    client = acme.application()
    browser, user = signed_in(acme)
    secret = next(value for name, value in browser.http.cookies.items() if "-session." in name)

    def find_step(organization_id: str | None) -> Step:
        sent = client.request(organization_id=organization_id, prompt=prompt)
        with acme.active():
            authorization = validate(parameters.decode(urlencode(sent)))
            return steps.next_step(authorization, sessions.find(secret), None)

    assert find_step(None) is Step.ISSUE
    assert find_step(organization) is find_step(str(uuid4())) is Step.UNKNOWN_ORGANIZATION
    management.administrator(acme).post(f"/organizations/{organization}/users", user_ids=[str(user.pk)])
    assert find_step(organization) is Step.ISSUE
