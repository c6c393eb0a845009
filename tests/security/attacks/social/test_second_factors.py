"""An account elsewhere with a user's address is one factor, and not the second."""

from identity.sessions.models import Session
from tests.support import codes, factors, social


def test_case_MT38_an_account_elsewhere_with_the_same_email_is_asked_for_the_factor(acme, provider):
    factors.switch_on(acme)
    email = codes.new_email()
    user = social.with_proven_email(acme, email)
    factors.enrol(acme, user)
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)
    browser = acme.browser()

    answer = social.came(browser, provider, sub="somebody", email=email, email_verified=True)

    assert answer.headers["Location"].endswith("/sign-in/second-factor")
    assert not factors.has_session(answer)
    assert not factors.is_signed_in(browser)
    with acme.active():
        assert not Session.objects.exists()
