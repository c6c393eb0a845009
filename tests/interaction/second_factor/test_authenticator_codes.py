"""Codes of an authenticator as the second factor."""

import pytest
from django.conf import settings

from identity.users.models import User
from tests.support import audit_log, factors
from tests.support.factors import (
    BACKUP,
    NEXT,
    SET_UP_VERIFY,
    TOTP,
    enrol,
    give_backup_codes,
    half,
    has_session,
    switch_on,
)
from tests.support.threads import at_once


@pytest.fixture
def user(user_with_email):
    return user_with_email


class TestTotp:
    def test_decision_M31_a_code_counts_once(self, acme, user):
        app = enrol(acme, user)
        first, second = acme.browser(), acme.browser()
        half(first, user)
        half(second, user)
        code = app.code()

        assert has_session(first.post(TOTP, json={"code": code}))
        assert second.post(TOTP, json={"code": code}).status_code == 401

    def test_an_earlier_code_counts_no_longer(self, acme, user):
        app = enrol(acme, user)
        earlier, later = app.code(), app.code()
        first, second = acme.browser(), acme.browser()
        half(first, user)
        half(second, user)

        assert has_session(first.post(TOTP, json={"code": later}))
        assert second.post(TOTP, json={"code": earlier}).status_code == 401

    def test_decision_M31_eight_at_once_give_one_session(self, acme, user):
        app = enrol(acme, user)
        browsers = [acme.browser() for _ in range(8)]
        for browser in browsers:
            half(browser, user)
        code = app.code()

        answers = at_once(8, lambda number: browsers[number].post(TOTP, json={"code": code}))

        assert sorted(answer.status_code for answer in answers) == [200] + [401] * 7

    def test_two_tabs_give_one_session(self, acme, user):
        app = enrol(acme, user)
        browser = acme.browser()
        half(browser, user)
        typed = [app.code(), app.code()]

        answers = at_once(2, lambda number: browser.post(TOTP, json={"code": typed[number]}))

        assert sum(has_session(answer) for answer in answers) == 1
        with acme.active():
            assert User.objects.get(pk=user.pk).sessions.count() == 1

    def test_the_strongest_is_offered_first(self, acme, user):
        enrol(acme, user)
        give_backup_codes(acme, user)
        browser = acme.browser()

        result = half(browser, user)["next"]

        assert result["preferred"] == "Totp"
        assert [method["type"] for method in result["methods"]] == [
            "Totp",
            "EmailVerificationCode",
            "BackupCode",
        ]
        assert browser.get(NEXT).json()["result"] == result

    def test_case_MT39_secrets_are_not_in_the_log(self, acme, user):
        app = enrol(acme, user)
        spare = give_backup_codes(acme, user)
        browser = acme.browser()
        half(browser, user)
        code = app.code()
        browser.post(BACKUP, json={"code": spare[0]})
        half(browser, user)
        browser.post(TOTP, json={"code": code})

        written = " ".join(str(vars(entry)) for entry in audit_log.entries(acme))

        assert "Mfa.Create" in written
        for secret in (app.key, app.key.replace(" ", ""), spare[0], spare[0].replace("-", ""), f"'{code}'"):
            assert secret not in written

    def test_case_MT39_secrets_are_not_in_errors_and_the_log_of_the_server(self, acme, user):
        app = enrol(acme, user)
        spare = give_backup_codes(acme, user)
        browser = acme.browser()
        half(browser, user)

        errors = [
            browser.post(TOTP, json={"code": spare[0]}),
            browser.post(TOTP, json={"code": [spare[0]]}),
            browser.post(BACKUP, json={"code": app.key}),
            browser.post(
                BACKUP, content=f'{{"code": "{spare[0]}"', headers={"Content-Type": "application/json"}
            ),
            browser.post(SET_UP_VERIFY, json={"enrolment": spare[0], "code": "1"}),
        ]
        written = (settings.VAR / "server.log").read_text() + "".join(answer.text for answer in errors)

        assert all(answer.status_code in {400, 401, 403} for answer in errors)
        for secret in (app.key, app.key.replace(" ", ""), spare[0], spare[0].replace("-", "")):
            assert secret not in written


def test_decision_M32_backup_codes_are_given_only_beside_another_factor(acme):
    switch_on(acme)
    user = acme.user()
    with pytest.raises(factors.backup_codes.NoOtherFactor):
        give_backup_codes(acme, user)
