"""An account is unlinked while another request of the user holds the row of the session."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.utils import timezone

from identity.factors.models import KnownBrowser
from identity.sessions.models import Session
from interaction.connectors.providers.base import Profile
from interaction.social import services as identities
from tests.support import social
from tests.support.cast import signed_in
from tests.support.forms import form
from tests.support.threads import count_waiting, wait_until

pytestmark = pytest.mark.usefixtures("development")

PAGE = "/account/linked"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
def test_it_does_not_deadlock_with_a_code_that_is_redeemed(acme, provider):
    """The redemption of a code locks the session, then inserts rows that refer to the user."""
    browser, user = signed_in(acme)
    connector = social.connect(acme, provider.config)
    with acme.active():
        profile = Profile(provider=provider.issuer, subject="ada-1")
        linked = identities.link(user, profile, connector, "Elsewhere")
    fields = form(browser.get(PAGE)).fields | {"unlink": str(linked.pk)}

    with ThreadPoolExecutor(1) as pool:
        with acme.active(), transaction.atomic():
            Session.objects.select_for_update(no_key=True).get()
            unlinking = pool.submit(browser.post, PAGE, data=fields)
            is_waiting = wait_until(lambda: count_waiting() >= 1)
            now = timezone.now()
            KnownBrowser.objects.create(user=user, token_hash="x", first_seen_at=now, last_seen_at=now)
        answer = unlinking.result()

    assert is_waiting
    assert answer.status_code == 303
    with acme.active():
        assert not identities.find_by_user(user)
