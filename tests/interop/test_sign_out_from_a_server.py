"""A server signs people out without their browser: it posts what it would have sent the browser with."""

import pytest

from tests.support import clients
from tests.support.relying_parties import Person, new_origin, running, shown


@pytest.fixture
def elsewhere(ada, secured):
    """The same person in another browser."""
    other = Person(ada.world, secured, ada.user)
    yield other
    other.browser.http.close()


def test_decision_Q3_the_session_of_the_ID_token_ends_and_no_other(ada, elsewhere, secured):
    origin, client = new_origin(), clients.named("openid-client")
    application = ada.world.application(
        redirect_uris=[f"{origin}{client.callback}"], post_logout_redirect_uris=[f"{origin}/"]
    )
    with running(client.program, application, secured, origin):
        elsewhere.enter(elsewhere.open(f"{origin}/login"))
        ada.enter(ada.open(f"{origin}/login"))
        assert (ada.is_signed_in, elsewhere.is_signed_in) == (True, True)

        answer = shown(ada.open(f"{origin}/logout-from-server"))

        assert answer == {"status": 303, "location": f"{origin}/"}
        assert (ada.is_signed_in, elsewhere.is_signed_in) == (False, True)
