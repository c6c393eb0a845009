"""What ends that a browser is remembered."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors import forgetting, services
from identity.factors.models import KnownBrowser
from identity.users import assigned_passwords
from identity.users import services as users
from identity.users.models import User
from tests.support.factors import (
    TOTP,
    enrol,
    half,
    has_session,
    switch_on,
)
from tests.support.remembered_browsers import (
    MINE,
    is_asked,
    known,
    remembering,
    trust,
    with_cookie,
)


@pytest.fixture
def app(acme, app):
    """The authenticator of the user, in a tenant in which browsers can be remembered."""
    trust(acme)
    return app


def change_password(acme, user):
    assigned_passwords.set_password(User.objects.get(pk=user.pk), "an other 1 entirely", is_proven=True)


def suspend(acme, user):
    users.suspend(User.objects.get(pk=user.pk))
    users.reactivate(User.objects.get(pk=user.pk))


def add_and_remove(acme, user):
    enrol(acme, user)
    services.remove(user, services.get_factors(user)[-1].id)


def switch_off_and_on(acme, user):
    trust(acme, is_on=False)
    trust(acme)


def shorten(acme, user):
    KnownBrowser.objects.update(remembered_at=timezone.now() - timedelta(days=2))
    trust(acme, days=1)


def let_it_expire(acme, user):
    KnownBrowser.objects.update(remembered_until=timezone.now())


def move_epoch(acme, user):
    User.objects.filter(pk=user.pk).update(epoch=user.epoch + 7)


def forget_all(acme, user):
    forgetting.forget_all(user)


ENDS = [
    suspend, add_and_remove, switch_off_and_on, shorten, let_it_expire, move_epoch, forget_all,
]  # fmt: skip


class TestTheEnd:
    @pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
    def test_decision_M35_it_ends(self, acme, user, app, end):
        browser = remembering(acme, user, app)
        with acme.active():
            end(acme, user)

        assert is_asked(browser, user)

    def test_decision_M35_a_row_of_one_factor_waives_nothing(self, acme, user, app):
        browser = remembering(acme, user, app)
        with acme.active():
            assert KnownBrowser.objects.update(remembered_level=1) == 1

        assert is_asked(browser, user)

    def test_case_MT27_after_a_new_password(self, acme, user, app):
        browser = remembering(acme, user, app)
        with acme.active():
            change_password(acme, user)

        assert not has_session(browser.sign_in(user, password="an other 1 entirely"))

    def test_case_MT27_the_cookie_of_another_user(self, acme, user, app):
        other = acme.user()
        enrol(acme, other)
        browser = remembering(acme, user, app)

        assert is_asked(browser, other)

    def test_case_MT27_the_cookie_in_another_tenant(self, acme, rival, user, app):
        browser = remembering(acme, user, app)
        switch_on(rival)
        trust(rival)
        theirs = rival.user()
        enrol(rival, theirs)
        cookie = known(browser)
        name = cookie.name.replace(acme.tenant.slug, rival.tenant.slug)

        assert is_asked(with_cookie(rival.browser(), cookie, name), theirs)

    def test_case_MT27_a_copy_that_was_stolen_before_forget_all(self, acme, user, app):
        browser = remembering(acme, user, app)
        stolen = known(browser)
        assert browser.http.delete(f"{acme.address}{MINE}").status_code == 200

        assert is_asked(with_cookie(acme.browser(), stolen), user)
        assert is_asked(browser, user)

    def test_case_MT27_a_copy_that_was_planted_before_it_was_remembered(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)
        assert has_session(browser.post(TOTP, json={"code": app.code()}))
        copied = known(browser)
        half(browser, user)
        assert has_session(browser.post(TOTP, json={"code": app.code(), "remember": True}))

        assert is_asked(with_cookie(acme.browser(), copied), user)
        assert not is_asked(browser, user)
