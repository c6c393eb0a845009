"""The second factor that changes of an account need, and how long its proof counts."""

import pytest
from django.utils import timezone

from identity.sessions.models import Session
from identity.users.models import User
from interaction.journeys.second_factor.reauthentication import SignInAgain
from interaction.pages import error_messages
from tests.support import account, cast, factors
from tests.support.cast import PASSWORD
from tests.support.factors import enrol, switch_on
from tests.support.forms import form, forms
from tests.support.security_pages import let_proofs_age


class TestOtherChanges:
    @pytest.fixture
    def inside(self, acme, user):
        switch_on(acme, "Totp")
        account.allow(acme, username_change=True, deletion=True)
        self.app = enrol(acme, user)
        browser = factors.signed_in(acme, user, self.app)
        let_proofs_age(acme)
        return browser

    @pytest.mark.parametrize("page", ["password", "email", "phone", "username", "data", "delete"])
    def test_decision_M43_each_needs_the_second_factor_too(self, acme, inside, page):
        asked = inside.get(f"/account/{page}")
        forced = inside.post(
            f"/account/{page}", data=forms(inside.get("/account/profile"))[0].fields | {"password": PASSWORD}
        )

        assert asked.headers["Location"].endswith(f"/confirm?back=account-{page}")
        assert forced.headers["Location"].endswith(f"/confirm?back=account-{page}")
        done = form(inside.get(asked.headers["Location"])).submit(inside, code=self.app.code())
        assert done.headers["Location"].endswith(f"/account/{page}")
        assert inside.get(f"/account/{page}").status_code == 200

    def test_decision_M55_the_download_lists_the_factors(self, acme, user, inside):
        with acme.active():
            Session.objects.update(second_factor_at=timezone.now())

        data = account.send(inside, "data", password=PASSWORD).json()

        (factor,) = data["second_factors"]
        assert factor.keys() == {"type", "name", "added_at", "last_used_at"}
        assert factor["type"] == "Totp"
        assert self.app.key.replace(" ", "") not in str(data)

    def test_a_wrong_code_confirms_nothing(self, acme, inside):
        page = inside.get("/confirm?back=account-password")

        wrong = form(page).submit(inside, code="000000")

        assert wrong.status_code == 401
        assert inside.get("/account/password").status_code == 303

    def test_it_leads_back_to_pages_of_the_account_only(self, acme, inside):
        page = inside.get("/confirm?back=https://elsewhere.example")

        done = form(page).submit(inside, code=self.app.code())

        assert done.headers["Location"].endswith("/account")

    def test_the_lock_counts_here_too(self, acme, inside):
        for _ in range(10):
            form(inside.get("/confirm")).submit(inside, code="000000")

        answer = form(inside.get("/confirm")).submit(inside, code=self.app.code())

        assert answer.status_code == 401
        assert answer.headers["Retry-After"]


def test_the_time_of_a_confirmation_is_that_of_the_setting(settings):
    settings.CONFIRM_SECONDS = 120

    [message] = error_messages.get_messages(SignInAgain())

    assert message == "Sign in again first. Then you have 2 minutes to make this change."


def test_a_page_says_for_how_long_a_new_sign_in_counts(acme):
    browser, user = cast.signed_in(acme)
    with acme.active():
        User.objects.filter(pk=user.pk).update(password="")
    let_proofs_age(acme)

    page = browser.get("/account/password")

    assert "Then you have 5 minutes to make this change." in page.text
