"""A code as the first factor, before the second is proven."""

import pytest

from identity.users.models import User
from tests.support import codes, factors
from tests.support.factors import (
    TOTP,
    enrol,
    has_session,
    switch_on,
)


class TestVerification:
    """A code alone must not verify the address: codes as the second factor would go to the same mailbox."""

    @pytest.fixture
    def mailbox(self, acme):
        codes.reachable(switch_on(acme))
        return codes.new_email()

    @pytest.fixture
    def user(self, acme, mailbox):
        return acme.user(email=mailbox)

    @pytest.fixture
    def app(self, acme, user):
        return enrol(acme, user)

    @pytest.fixture
    def browser(self, acme, mailbox, app):
        """A browser that has proven the address, and waits for the second factor."""
        browser = acme.browser()
        answer = codes.enter(browser, mailbox, codes.sent(browser, mailbox))
        assert (answer.status_code, has_session(answer)) == (200, False)
        return browser

    def flags(self, acme, user):
        with acme.active():
            found = User.objects.get(pk=user.pk)
        return found.email_verified, found.email_proven

    def test_a_code_proves_the_address_with_the_second_factor(self, acme, user, app, browser):
        before = self.flags(acme, user)

        answer = browser.post(TOTP, json={"code": app.code()})

        assert has_session(answer)
        assert before == (False, True)
        assert self.flags(acme, user) == (True, True)

    def test_a_code_to_the_address_before_proves_no_new_one(self, acme, user, app, browser):
        with acme.active():
            User.objects.filter(pk=user.pk).update(email="b@b.org", email_key="b@b.org")
        assert factors.pending(acme)[0].proven_key

        answer = browser.post(TOTP, json={"code": app.code()})

        assert (answer.status_code, has_session(answer)) == (404, False)
        assert self.flags(acme, user) == (False, True)
