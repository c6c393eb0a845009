"""How long sessions and refresh tokens live, by tenant and by application: decision Q15."""

from datetime import timedelta
from functools import partial

import jwt
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily
from tests.support import management, operators, second
from tests.support.account import Sender
from tests.support.admin_pages import operate
from tests.support.authorize import (
    WITH_CODE,
    Refusal,
    find_code,
    find_refusal,
    interaction_at,
    next_page,
    sent_back,
)
from tests.support.cast import signed_in
from tests.support.forms import form
from tests.support.lifetimes import is_invalid_grant, let_pass, set_tenant
from tests.support.management import refusal_of, result_of
from tests.support.threads import at_once, rounds

REFRESH = ("refresh_token_idle_seconds", "refresh_token_absolute_seconds")
YEAR = timedelta(days=365)
# So many seconds after its last refresh, an application has no access token that works.
AFTER_ACCESS = settings.ACCESS_TOKEN_SECONDS + settings.REFRESH_TOKEN_GRACE_SECONDS + 1


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def set_application(admin, client, **lifetimes):
    return admin.patch(f"/applications/{client.application.pk}", oidc_client_metadata=lifetimes)


def cookie_of(answer):
    [cookie] = [text for text in answer.headers.get_list("Set-Cookie") if "gatehouse-session" in text]
    return cookie


class TestSessions:
    def test_decision_Q15_end_after_the_tenant_s_idle_time(self, acme, admin):
        client = acme.application()
        browser, _ = signed_in(acme)
        set_tenant(admin, session_idle_seconds=1000)

        let_pass(acme, Session, 990, "last_used_at")
        live = browser.authorize(client, prompt="none")
        let_pass(acme, Session, 1001, "last_used_at")

        assert sent_back(live, client).keys() == WITH_CODE
        assert find_refusal(browser.authorize(client, prompt="none"), client) == Refusal("login_required")

    def test_decision_Q15_end_after_the_tenant_s_absolute_time_however_they_are_used(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        let_pass(acme, Session, 1001, "updated_at", "auth_time", "created_at")

        before = browser.authorize(client, prompt="none")
        set_tenant(admin, session_absolute_seconds=1000)
        after = browser.authorize(client, prompt="none")
        browser.sign_in(user)

        assert sent_back(before, client).keys() == WITH_CODE
        assert find_refusal(after, client) == Refusal("login_required")
        assert sent_back(browser.authorize(client, prompt="none"), client).keys() == WITH_CODE

    def test_decision_Q15_a_new_sign_in_begins_the_time_anew(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        set_tenant(admin, session_absolute_seconds=1000)
        let_pass(acme, Session, 900, "updated_at", "auth_time", "created_at")

        browser.sign_in(user)
        let_pass(acme, Session, 900, "updated_at", "auth_time", "created_at")

        assert sent_back(browser.authorize(client, prompt="none"), client).keys() == WITH_CODE

    def test_decision_Q15_a_session_in_use_stays_live_with_a_short_idle_time(self, acme, admin):
        client = acme.application()
        browser, _ = signed_in(acme)
        set_tenant(admin, session_idle_seconds=60)

        for _ in range(3):
            let_pass(acme, Session, 50, "last_used_at")
            assert sent_back(browser.authorize(client, prompt="none"), client).keys() == WITH_CODE

    def test_decision_Q15_the_cookie_lives_as_long_as_the_session(self, acme, admin):
        user = acme.user()
        as_installed = cookie_of(acme.browser().sign_in(user))
        set_tenant(admin, session_absolute_seconds=1000)
        shorter = cookie_of(acme.browser().sign_in(user))

        with acme.active():
            session = Session.objects.latest("created_at")
        assert f"Max-Age={settings.SESSION_ABSOLUTE_SECONDS};" in as_installed
        assert "Max-Age=1000;" in shorter
        assert timedelta(seconds=990) < session.expires_at - timezone.now() <= timedelta(seconds=1000)

    def test_decision_Q15_access_tokens_of_an_ended_session_are_refused(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        token = client.tokens_for(user, browser, scope="openid")["access_token"]
        set_tenant(admin, session_idle_seconds=1000)

        before = client.userinfo(token).status_code
        let_pass(acme, Session, 1001, "last_used_at")

        assert (before, client.userinfo(token).status_code) == (200, 401)

    def test_decision_Q15_null_is_the_installation_s_again(self, acme, admin):
        client = acme.application()
        browser, _ = signed_in(acme)
        set_tenant(admin, session_idle_seconds=1000, session_absolute_seconds=1000)
        set_tenant(admin, session_idle_seconds=None, session_absolute_seconds=None)
        let_pass(acme, Session, 1001, "last_used_at", "updated_at", "auth_time")

        assert sent_back(browser.authorize(client, prompt="none"), client).keys() == WITH_CODE

    def test_decision_Q15_another_tenant_is_not_affected(self, acme, rival, admin):
        client = rival.application()
        browser, _ = signed_in(rival)
        set_tenant(admin, session_idle_seconds=1)
        let_pass(rival, Session, 10, "last_used_at")

        assert sent_back(browser.authorize(client, prompt="none"), client).keys() == WITH_CODE


class TestRefreshTokens:
    @pytest.mark.parametrize(
        ("tenant", "application", "effective"),
        [(None, None, None), (1000, None, 1000), (None, 500, 500), (1000, 500, 500), (1000, 2000, 1000)],
    )
    def test_decision_Q15_the_smaller_value_is_the_effective_one(
        self, acme, admin, tenant, application, effective
    ):
        before = acme.application()
        result_of(set_application(admin, before, **dict.fromkeys(REFRESH, application)))
        set_tenant(admin, **dict.fromkeys(REFRESH, tenant))
        after = admin.created(
            "/applications",
            name="New",
            type="Traditional",
            oidc_client_metadata=dict.fromkeys(REFRESH, application),
        )

        with acme.active():
            rows = [Application.objects.get(pk=pk) for pk in (before.application.pk, after["id"])]
        for row in rows:
            assert row.effective_refresh_idle_seconds == effective
            assert row.effective_refresh_absolute_seconds == effective
        shown = result_of(admin.get(f"/applications/{after['id']}"))["oidc_client_metadata"]
        assert [shown[name] for name in REFRESH] == [application] * 2

    def test_decision_Q15_a_change_of_either_counts_from_the_next_use(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        first = client.tokens_for(user, browser)["refresh_token"]
        let_pass(acme, RefreshFamily, 1001, "rotated_at")

        set_tenant(admin, refresh_token_idle_seconds=1000)
        refused = client.refresh(first)
        set_tenant(admin, refresh_token_idle_seconds=None)
        result_of(set_application(admin, client, refresh_token_idle_seconds=2000))
        second = client.tokens_for(user, browser)["refresh_token"]
        let_pass(acme, RefreshFamily, 1001, "rotated_at", "idle_expires_at")
        accepted = client.refresh(second)
        let_pass(acme, RefreshFamily, 2001, "rotated_at", "idle_expires_at")

        assert is_invalid_grant(refused)
        assert accepted.status_code == 200
        assert is_invalid_grant(client.refresh(accepted.json()["refresh_token"]))

    def test_decision_Q15_refreshing_ends_after_the_absolute_time(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        result_of(set_application(admin, client, refresh_token_absolute_seconds=1000))
        token = client.tokens_for(user, browser)["refresh_token"]
        with acme.active():
            family = RefreshFamily.objects.get()
        let_pass(acme, RefreshFamily, 900, "created_at", "expires_at")
        accepted = client.refresh(token)
        let_pass(acme, RefreshFamily, 101, "created_at")

        assert family.expires_at - family.created_at < timedelta(seconds=1010)
        assert accepted.status_code == 200
        assert is_invalid_grant(client.refresh(accepted.json()["refresh_token"]))

    def test_decision_Q15_the_row_says_when_it_ends(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        set_tenant(admin, refresh_token_idle_seconds=1000)
        token = client.tokens_for(user, browser)["refresh_token"]
        with acme.active():
            issued = RefreshFamily.objects.get().idle_expires_at - timezone.now()
        result_of(set_application(admin, client, refresh_token_idle_seconds=500))
        client.refresh(token)

        with acme.active():
            rotated = RefreshFamily.objects.get().idle_expires_at - timezone.now()
        assert timedelta(seconds=980) < issued <= timedelta(seconds=1000)
        assert timedelta(seconds=480) < rotated <= timedelta(seconds=500)

    def test_decision_Q15_what_a_node_of_0_1_3_wrote_is_limited_too(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        result_of(set_application(admin, client, **dict.fromkeys(REFRESH, 1000)))
        token = client.tokens_for(user, browser)["refresh_token"]
        with acme.active():
            RefreshFamily.objects.update(
                idle_expires_at=timezone.now() + YEAR, expires_at=timezone.now() + YEAR
            )
        let_pass(acme, RefreshFamily, 1001, "rotated_at")

        assert is_invalid_grant(client.refresh(token))

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="real concurrency is tested on PostgreSQL")
    def test_decision_Q15_an_application_that_is_new_meanwhile_gets_the_settings(self, acme, admin):
        for number in range(rounds(10)):
            seconds = 1000 + number
            body = {"name": "New", "type": "SPA"}
            calls = (
                partial(admin.patch, "/oidc-settings", refresh_token_idle_seconds=seconds),
                partial(admin.post, "/applications", **body),
            )

            answers = at_once(2, lambda index, calls=calls: calls[index]())

            assert [answer.status_code for answer in answers] == [200, 200]
            with acme.active():
                assert set(Application.objects.values_list("effective_refresh_idle_seconds", flat=True)) == {
                    seconds
                }


class TestWhatIsShown:
    def test_decision_Q15_what_a_lowered_lifetime_has_ended_is_shown_nowhere(self, acme, admin):
        client = acme.application(name="Shop")
        browser, user = signed_in(acme)
        client.tokens_for(user, browser)
        operator = operators.at(acme)
        pages = [f"/admin/users/user/{user.pk}/do/{name}/" for name in ("delete", "end-tokens")]
        let_pass(acme, RefreshFamily, AFTER_ACCESS, "rotated_at")
        shown = [operator.get(page).text for page in pages]

        result_of(set_application(admin, client, refresh_token_idle_seconds=1000))

        assert "1 refresh token ends." in shown[0]
        assert "Shop" in shown[1]
        assert "refresh token ends" not in operator.get(pages[0]).text
        assert "No application has a refresh token." in operator.get(pages[1]).text
        assert "No connected applications" in browser.get("/account/applications").text
        assert result_of(admin.get(f"/users/{user.pk}/grants"))["data"] == []

    @pytest.mark.parametrize("name", REFRESH)
    def test_an_application_whose_access_tokens_work_is_shown_and_can_be_removed(self, acme, admin, name):
        client = acme.application(name="Shop")
        browser, user = signed_in(acme)
        token = client.tokens_for(user, browser)["access_token"]
        let_pass(acme, RefreshFamily, 1001, "rotated_at", "created_at")
        result_of(set_application(admin, client, **{name: 1000}))

        page = form(browser.get("/account/applications"))
        before = client.userinfo(token).status_code
        page.submit(Sender(browser, "/account/applications"), revoke=str(client.application.pk))

        assert (before, client.userinfo(token).status_code) == (200, 401)
        assert "No connected applications" in browser.get("/account/applications").text

    def test_an_operator_ends_the_access_tokens_that_still_work(self, acme, admin):
        client = acme.application(name="Shop")
        browser, user = signed_in(acme)
        token = client.tokens_for(user, browser)["access_token"]
        let_pass(acme, RefreshFamily, 1001, "rotated_at")
        result_of(set_application(admin, client, refresh_token_idle_seconds=1000))
        operator = operators.at(acme)

        operate(operator, "users/user", user, "end-tokens", application_id=str(client.application.pk))

        assert client.userinfo(token).status_code == 401

    def test_an_api_with_longer_access_tokens_counts(self, acme, admin):
        client = acme.application(name="Shop")
        browser, user = signed_in(acme)
        client.tokens_for(user, browser)
        let_pass(acme, RefreshFamily, AFTER_ACCESS, "rotated_at")
        result_of(set_application(admin, client, refresh_token_idle_seconds=1000))
        before = browser.get("/account/applications").text
        body = {"name": "Files", "indicator": "https://files.example", "access_token_ttl": 2 * AFTER_ACCESS}

        result_of(admin.post("/resources", **body))

        assert "No connected applications" in before
        assert "Shop" in browser.get("/account/applications").text


class TestInstallation:
    def test_decision_Q15_a_lowered_value_of_the_installation_holds_too(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        token = client.tokens_for(user, browser)["refresh_token"]
        set_tenant(admin, session_idle_seconds=5000, session_absolute_seconds=5000)
        set_tenant(admin, **dict.fromkeys(REFRESH, 5000))
        let_pass(acme, Session, 1001, "last_used_at")
        let_pass(acme, RefreshFamily, 1001, "rotated_at")
        port = second.free_port()
        lowered = {"SESSION_IDLE_SECONDS": "1000", "REFRESH_TOKEN_IDLE_SECONDS": "1000"}

        with second.running(BASE_URL=settings.BASE_URL, PORT=str(port), **lowered):
            there = acme.at(f"http://127.0.0.1:{port}")
            refused = there.post(
                "/oidc/token",
                data={"grant_type": "refresh_token", "refresh_token": token},
                auth=client.basic,
            )
            cookies = dict(browser.http.cookies)
            silent = there.get("/oidc/authorize", params=client.request(prompt="none"), cookies=cookies)

        assert is_invalid_grant(refused)
        assert find_refusal(silent, client) == Refusal("login_required")


class TestDefaultMaxAge:
    def test_decision_Q15_an_older_sign_in_is_repeated(self, acme, admin):
        client = acme.application()
        browser, user = signed_in(acme)
        result_of(set_application(admin, client, default_max_age=1000))
        recent = browser.authorize(client)
        let_pass(acme, Session, 1001, "auth_time")

        interaction = interaction_at("sign-in", browser.authorize(client), acme)
        assert find_refusal(browser.authorize(client, prompt="none"), client) == Refusal("login_required")
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        tokens = client.redeem(find_code(browser.get(onward), client)).json()

        assert sent_back(recent, client).keys() == WITH_CODE
        claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
        assert timezone.now().timestamp() - claims["auth_time"] < 1000

    def test_decision_Q15_zero_asks_each_time(self, acme, admin):
        client = acme.application()
        browser, _ = signed_in(acme)
        result_of(set_application(admin, client, default_max_age=0))

        assert next_page(browser.authorize(client), acme).name == "sign-in"

    def test_decision_Q15_the_request_s_own_max_age_comes_first(self, acme, admin):
        client = acme.application()
        browser, _ = signed_in(acme)
        result_of(set_application(admin, client, default_max_age=10))
        let_pass(acme, Session, 500, "auth_time")

        assert sent_back(browser.authorize(client, max_age="1000"), client).keys() == WITH_CODE
        assert next_page(browser.authorize(client, max_age=""), acme).name == "sign-in"


class TestBadInput:
    @pytest.mark.parametrize("value", [0, -1, "60", 1.5, True, [], {}, 2**40])
    @pytest.mark.parametrize("field", REFRESH)
    def test_decision_Q15_of_refresh_lifetimes_is_refused(self, acme, admin, field, value):
        client = acme.application()

        message = refusal_of(set_application(admin, client, **{field: value}), 400)

        assert field in message

    @pytest.mark.parametrize("value", [-1, "60", 1.5, True, [], {}, 2**40])
    def test_decision_Q15_of_default_max_age_is_refused(self, acme, admin, value):
        client = acme.application()

        assert "default_max_age" in refusal_of(set_application(admin, client, default_max_age=value), 400)

    def test_decision_Q15_one_and_the_installation_s_value_are_accepted(self, acme, admin):
        client = acme.application()

        for name in REFRESH:
            most = getattr(settings, name.upper())
            assert field_of(set_application(admin, client, **{name: 1}), name) == 1
            assert field_of(set_application(admin, client, **{name: most}), name) == most
            assert name in refusal_of(set_application(admin, client, **{name: most + 1}), 400)
            assert field_of(set_application(admin, client, **{name: None}), name) is None

    @pytest.mark.parametrize("field", [*REFRESH, "default_max_age"])
    def test_decision_Q15_a_machine_application_has_none(self, acme, admin, field):
        client = acme.application("MachineToMachine")

        assert field in refusal_of(set_application(admin, client, **{field: 60}), 400)
        result_of(set_application(admin, client, **{field: None}))


def field_of(answer, name):
    return result_of(answer)["oidc_client_metadata"][name]


class TestOperatorsSite:
    def test_decision_Q15_lifetimes_are_set(self, acme, admin):
        client = acme.application()
        operator = operators.at(acme)
        typed = {
            "refresh_token_idle_seconds": "60",
            "refresh_token_absolute_seconds": "",
            "default_max_age": "0",
        }

        done = operate(operator, "applications/application", client.application, "lifetimes", **typed)
        typed["refresh_token_idle_seconds"] = str(settings.REFRESH_TOKEN_IDLE_SECONDS + 1)
        refused = operate(operator, "applications/application", client.application, "lifetimes", **typed)

        shown = result_of(admin.get(f"/applications/{client.application.pk}"))["oidc_client_metadata"]
        assert (done.status_code, refused.status_code) == (303, 400)
        assert [shown[name] for name in (*REFRESH, "default_max_age")] == [60, None, 0]
