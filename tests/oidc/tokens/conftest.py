"""An application, and an access token of somebody who signed in there."""

import pytest

from tests.support.independent import bearer


@pytest.fixture
def client(acme):
    return acme.application()


@pytest.fixture
def token(acme, client):
    """An access token that is as good as any."""
    good = client.tokens_for(acme.user())["access_token"]
    assert acme.get("/oidc/userinfo", headers=bearer(good)).status_code == 200
    return good
