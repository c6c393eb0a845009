"""POST /api/interaction/sign-in: who comes in, where they go on, and from which pages."""

import json

import httpx
import pytest
from django.conf import settings

from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience.models import SignInExperience
from oidc.grants.models import AuthorizationRequest
from tests.support.cast import PASSWORD, query_of
from tests.support.sign_in_api import PATH, Refusal, credentials, find_refusal, refusal_message, sessions


def interaction_of(answer: httpx.Response) -> str:
    return query_of(answer.headers["Location"])["interaction"]


class TestSuccess:
    def test_says_where_to_go_and_sets_the_session_cookie(self, acme):
        answer = acme.post(PATH, json=credentials(acme.user()))

        assert answer.status_code == 200
        assert answer.json() == {
            "code": 0,
            "message": "success",
            "result": {"redirect_to": f"/t/{acme.tenant.slug}/account"},
        }
        assert answer.headers["Cache-Control"] == "no-store"
        assert f"gatehouse-session.{acme.tenant.slug}" in answer.cookies

    def test_decision_X1_the_cookie_is_for_this_site_alone_and_for_no_script(self, acme):
        answer = acme.post(PATH, json=credentials(acme.user()))

        name, *flags = answer.headers["Set-Cookie"].split("; ")
        assert len(name.partition("=")[2]) >= 43
        assert set(flags) >= {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=1209600"}
        assert not any(flag.startswith("Domain") for flag in flags)

    @pytest.mark.parametrize(
        "typed",
        [
            "Alice.Example",
            "alice.example",
            "ALICE.EXAMPLE",
            "\uff41lice.example",  # full width, the same after NFKC
            " alice.example ",
            "Alice@Example.com",
            "alice@example.com",
            "+4915112345678",
            "4915112345678",
            "+49 (151) 123-456.78",
            "\uff0b4915112345678",
        ],
    )
    def test_takes_username_email_or_phone_as_people_type_them(self, acme, typed):
        acme.user("Alice.Example", email="Alice@Example.com", phone="+49 151 12345678")

        answer = acme.post(PATH, json={"identifier": typed, "password": PASSWORD})

        assert answer.status_code == 200, answer.text

    def test_ignores_fields_it_does_not_know(self, acme):
        user = acme.user()

        answer = acme.post(
            PATH,
            json=credentials(user, redirect_to="https://evil.example/", user_id="1", amr=["otp"], tenant="x"),
        )

        assert answer.json()["result"]["redirect_to"] == f"/t/{acme.tenant.slug}/account"
        with acme.active():
            assert Session.objects.get().amr == ["pwd"]

    def test_takes_json_with_a_charset(self, acme):
        body = json.dumps(credentials(acme.user())).encode()

        answer = acme.post(PATH, content=body, headers={"Content-Type": "application/json; charset=utf-8"})

        assert answer.status_code == 200

    def test_counts_the_sign_in_and_is_no_edit(self, acme):
        user = acme.user()

        acme.post(PATH, json=credentials(user))

        with acme.active():
            after = User.objects.get()
        assert (after.login_count, after.updated_at) == (1, user.updated_at)
        assert after.last_sign_in_at is not None

    def test_a_user_of_another_tenant_is_nobody(self, acme, rival):
        user = rival.user()

        answer = acme.post(PATH, json=credentials(user))

        assert find_refusal(answer) == Refusal(401)

    def test_in_one_tenant_signs_nobody_in_in_another(self, acme, rival):
        browser = acme.browser()
        browser.sign_in(acme.user())

        answer = browser.get(f"{rival.address}/account")

        assert answer.headers["Location"] == f"/t/{rival.tenant.slug}/sign-in"


class TestInteraction:
    def test_decision_X1_names_the_request_that_goes_on(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tabs = [interaction_of(browser.authorize(client, state=f"tab-{tab}")) for tab in range(3)]

        answer = browser.sign_in(user, interaction=tabs[1])

        onward = answer.json()["result"]["redirect_to"]
        assert onward == f"/t/{acme.tenant.slug}/oidc/authorize/{tabs[1]}"
        assert query_of(browser.get(onward).headers["Location"])["state"] == "tab-1"

    def test_decision_X1_without_one_the_newest_is_meant(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tabs = [interaction_of(browser.authorize(client)) for _ in range(3)]

        answer = browser.sign_in(user)

        assert answer.json()["result"]["redirect_to"].endswith(tabs[2])

    def test_decision_X1_the_newest_that_is_not_done(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tabs = [interaction_of(browser.authorize(client)) for _ in range(2)]
        browser.get(browser.sign_in(user).json()["result"]["redirect_to"])

        answer = browser.sign_in(user)

        assert answer.json()["result"]["redirect_to"].endswith(tabs[0])

    def test_decision_X1_with_none_at_all_it_is_the_account_page(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        browser.get(f"/oidc/authorize/{interaction_of(browser.authorize(client))}")
        browser.get(browser.sign_in(user).json()["result"]["redirect_to"])

        answer = browser.sign_in(user)

        assert answer.json()["result"]["redirect_to"] == f"/t/{acme.tenant.slug}/account"

    @pytest.mark.parametrize(
        "wrong", ["x", "00000000-0000-0000-0000-000000000000", " ", "../../account", "%00"]
    )
    def test_an_unknown_one_is_400_and_signs_nobody_in(self, acme, wrong):
        answer = acme.browser().sign_in(acme.user(), interaction=wrong)

        assert find_refusal(answer) == Refusal(400)
        assert sessions(acme) == 0

    def test_case_A26_that_of_another_browser_is_400(self, acme):
        client, user = acme.application(), acme.user()
        victim, thief = acme.browser(), acme.browser()
        interaction = interaction_of(victim.authorize(client))
        thief.authorize(client)

        answer = thief.sign_in(user, interaction=interaction)

        assert "interaction" in refusal_message(answer, 400)
        with acme.active():
            assert not AuthorizationRequest.objects.filter(session__isnull=False).exists()

    def test_that_of_another_tenant_is_400(self, acme, rival):
        browser = rival.browser()
        interaction = interaction_of(browser.authorize(rival.application()))

        answer = browser.post(f"{acme.address}{PATH}", json=credentials(acme.user(), interaction=interaction))

        assert find_refusal(answer) == Refusal(400)

    def test_one_that_is_done_is_400(self, acme):
        user = acme.user()
        browser = acme.browser()
        interaction = interaction_of(browser.authorize(acme.application()))
        browser.get(browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"])

        answer = browser.sign_in(user, interaction=interaction)

        assert find_refusal(answer) == Refusal(400)

    def test_the_request_waits_on_when_the_password_was_wrong(self, acme):
        user = acme.user()
        browser = acme.browser()
        interaction = interaction_of(browser.authorize(acme.application()))

        browser.sign_in(user, password="not this", interaction=interaction)
        answer = browser.sign_in(user, interaction=interaction)

        assert answer.json()["result"]["redirect_to"].endswith(interaction)


class TestSameOrigin:
    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example",
            "null",
            "",
            "http://127.0.0.1",
            "http://localhost:{port}",
            "https://127.0.0.1:{port}",
            "http://127.0.0.1:{port}/",
            "http://127.0.0.1:{port}.evil.example",
            "http://evil.example@127.0.0.1:{port}",
            "http://127.0.0.1:{port}0",
            "http://127.0.0.1:{port} https://evil.example",
        ],
    )
    def test_decision_X1_refuses_a_foreign_origin(self, acme, origin):
        user = acme.user()

        answer = acme.post(
            PATH, json=credentials(user), headers={"Origin": origin.format(port=settings.PORT)}
        )

        assert find_refusal(answer) == Refusal(403)
        assert sessions(acme) == 0

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE", "", "nonsense"])
    def test_case_J03_refuses_what_the_browser_calls_foreign(self, acme, site):
        user = acme.user()

        answer = acme.post(PATH, json=credentials(user), headers={"Sec-Fetch-Site": site})

        assert find_refusal(answer) == Refusal(403)
        assert sessions(acme) == 0

    @pytest.mark.parametrize("site", ["same-origin", "none"])
    def test_takes_our_own_pages(self, acme, site):
        headers = {"Origin": settings.BASE_URL, "Sec-Fetch-Site": site}

        answer = acme.post(PATH, json=credentials(acme.user()), headers=headers)

        assert answer.status_code == 200

    def test_a_foreign_host_header_makes_no_origin_ours(self, acme):
        headers = {"Origin": "http://evil.example", "Host": "evil.example"}

        answer = acme.post(PATH, json=credentials(acme.user()), headers=headers)

        assert find_refusal(answer) == Refusal(403)

    def test_case_C16_no_other_origin_may_read_or_send(self, acme):
        headers = {
            "Origin": "https://rp.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        acme.application(redirect_uris=["https://rp.example/callback"])

        answer = httpx.options(f"{acme.address}{PATH}", headers=headers)

        assert not any(name.lower().startswith("access-control") for name in answer.headers)

    @pytest.mark.parametrize(
        "content_type",
        [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/json-patch+json",
            "application/jsonp",
            "text/json",
            "",
            "application",
            "text/plain; application/json",
        ],
    )
    def test_decision_X1_takes_json_only(self, acme, content_type):
        body = json.dumps(credentials(acme.user())).encode()

        answer = acme.post(PATH, content=body, headers={"Content-Type": content_type})

        assert find_refusal(answer) == Refusal(415)
        assert sessions(acme) == 0


class TestExperience:
    PATH = "/api/interaction/sign-in-experience"

    def test_shows_what_a_front_end_needs_and_no_more(self, acme):
        answer = acme.get(self.PATH)

        shown = answer.json()["result"]
        assert shown.keys() == {
            "branding",
            "sign_in",
            "sign_up",
            "password_policy",
            "terms_of_use_url",
            "privacy_policy_url",
            "social_connectors",
            "captcha",
        }
        assert shown["social_connectors"] == []
        assert [method["identifier"] for method in shown["sign_in"]["methods"]] == [
            "username",
            "email",
            "phone",
        ]

    def test_is_that_of_the_tenant(self, acme, rival):
        with acme.active():
            SignInExperience.objects.update(terms_of_use_url="https://acme.example/terms")

        ours, theirs = acme.get(self.PATH).json(), rival.get(self.PATH).json()

        assert ours["result"]["terms_of_use_url"] == "https://acme.example/terms"
        assert theirs["result"]["terms_of_use_url"] == ""
