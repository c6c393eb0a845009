"""GET /oidc/authorize/:id: a pending request goes on after the pages."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import jwt
import pytest
from django.conf import settings

from identity.resources.models import Resource
from oidc.grants import codes, requests
from oidc.grants.models import AuthorizationCode, AuthorizationRequest
from tests.support import cast
from tests.support.authorize import (
    WITH_CODE,
    Refusal,
    find_code,
    find_refusal,
    interaction_at,
    next_page,
    parked,
    sent_back,
)
from tests.support.cast import signed_in
from tests.support.in_process import InProcessWorld


class TestResume:
    def test_case_A25_what_was_asked_for_stays_what_it_was(self, acme):
        client, user = acme.application(), acme.user()
        other = acme.application(redirect_uris=["https://other.example/"])
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(client, scope="openid"), acme)
        tampered = {
            "client_id": other.client_id,
            "redirect_uri": "https://other.example/",
            "scope": "openid email offline_access",
            "code_challenge": cast.s256("attacker" * 8),
            "state": "evil",
            "redirect_to": "https://evil.example/",
            "next": "//evil.example",
        }

        signed = browser.sign_in(user, interaction=interaction, **tampered).json()["result"]["redirect_to"]
        answer = browser.get(f"{signed}?{urlencode(tampered)}")

        said = sent_back(answer, client)
        assert said["state"] == "af0ifjsldkj"
        assert client.redeem(said["code"]).json()["scope"] == "openid"

    def test_case_A26_does_not_go_on_in_another_browser(self, acme):
        client = acme.application()
        interaction = interaction_at("sign-in", acme.browser().authorize(client), acme)
        thief, _ = signed_in(acme)
        thief.authorize(client, prompt="login")  # has a browser cookie of its own

        answer = thief.get(f"/oidc/authorize/{interaction}")

        assert answer.status_code == 400
        assert "Location" not in answer.headers
        assert "This sign-in has expired" in answer.text

    def test_case_A26_does_not_go_on_in_another_tenant(self, acme, rival):
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(acme.application()), acme)
        mark = browser.http.cookies[f"gatehouse-browser.{acme.tenant.slug}"]

        answer = rival.get(
            f"/oidc/authorize/{interaction}",
            headers={"Cookie": f"gatehouse-browser.{rival.tenant.slug}={mark}"},
        )

        assert answer.status_code == 400

    def test_answers_once(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(client), acme)
        browser.sign_in(user, interaction=interaction)

        first = browser.get(f"/oidc/authorize/{interaction}")
        second = browser.get(f"/oidc/authorize/{interaction}")

        assert sent_back(first, client).keys() == WITH_CODE
        assert second.status_code == 400

    def test_answers_once_however_many_ask_at_the_same_time(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(client), acme)
        browser.sign_in(user, interaction=interaction)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())

        with ThreadPoolExecutor(8) as threads:
            answers = list(
                threads.map(
                    lambda _: acme.get(f"/oidc/authorize/{interaction}", headers={"Cookie": cookies}),
                    range(8),
                )
            )

        assert sorted(answer.status_code for answer in answers) == [303] + [400] * 7
        with acme.active():
            assert AuthorizationCode.objects.count() == 1

    def test_issues_no_code_when_another_request_was_answered_meanwhile(self, acme, monkeypatch):
        here = InProcessWorld.of(acme)
        client, user, browser = here.application(), here.user(), here.browser()
        interaction = interaction_at("sign-in", browser.authorize(client), here)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        issue = codes.issue

        def issue_late(**bound):
            requests.finish(bound["pending_request"])
            return issue(**bound)

        monkeypatch.setattr(codes, "issue", issue_late)

        answer = browser.get(onward)

        assert answer.status_code == 400
        assert "This sign-in has expired" in answer.text
        with acme.active():
            assert not AuthorizationCode.objects.exists()

    def test_what_is_refused_by_now_is_told_to_the_application_once(self, acme):
        client, browser = acme.application(), acme.browser()
        with acme.active():
            resource = Resource.objects.create(name="Orders", indicator="https://orders.example")
        interaction = interaction_at("sign-in", browser.authorize(client, resource=resource.indicator), acme)
        with acme.active():
            resource.delete()

        first = browser.get(f"/oidc/authorize/{interaction}")
        second = browser.get(f"/oidc/authorize/{interaction}")

        assert find_refusal(first, client) == Refusal("invalid_target")
        assert second.status_code == 400
        assert parked(acme) == 0

    def test_waits_an_hour_and_no_longer(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(client), acme)
        with acme.active():
            waiting = AuthorizationRequest.objects.get()
            assert timedelta(minutes=59) < waiting.expires_at - waiting.created_at < timedelta(minutes=61)
            AuthorizationRequest.objects.update(expires_at=waiting.created_at)

        answers = [
            browser.get(f"/oidc/authorize/{interaction}"),
            browser.get(f"/sign-in?interaction={interaction}"),
            browser.sign_in(user, interaction=interaction),
        ]

        assert [answer.status_code for answer in answers] == [400, 400, 400]

    @pytest.mark.parametrize("request_id", [str(uuid4()), "1", "x", "..", "%00", "A" * 36, "0" * 32])
    def test_an_unknown_one_is_told_to_the_person(self, acme, request_id):
        browser, _ = signed_in(acme)

        answer = browser.get(f"/oidc/authorize/{request_id}")

        assert answer.status_code in {400, 404}
        assert "Location" not in answer.headers

    def test_without_a_session_leads_back_to_the_sign_in_page(self, acme):
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(acme.application()), acme)

        answer = browser.get(f"/oidc/authorize/{interaction}")

        assert next_page(answer, acme) == ("sign-in", interaction)

    @pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE"])
    def test_takes_get_only(self, acme, method):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(client), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        answer = browser.http.request(method, f"{settings.BASE_URL}{onward}")

        assert answer.status_code in {403, 405}
        assert sent_back(browser.get(onward), client).keys() == WITH_CODE

    def test_case_B18_tabs_keep_nonce_scope_and_verifier_apart(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        verifiers = [cast.new_secret() for _ in range(4)]
        scopes = ["openid", "openid email", "openid profile", "openid phone"]
        interactions = [
            interaction_at(
                "sign-in",
                browser.authorize(
                    client, nonce=f"nonce-{tab}", scope=scopes[tab], code_challenge=cast.s256(verifiers[tab])
                ),
                acme,
            )
            for tab in range(4)
        ]

        browser.sign_in(user, interaction=interactions[2])
        codes = {
            tab: find_code(browser.get(f"/oidc/authorize/{interactions[tab]}"), client)
            for tab in (3, 0, 2, 1)
        }

        for tab, code in codes.items():
            tokens = client.redeem(code, code_verifier=verifiers[tab]).json()
            assert tokens["scope"] == scopes[tab]
            claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
            assert claims["nonce"] == f"nonce-{tab}"

    def test_case_A30_a_browser_keeps_its_twenty_newest_requests(self, acme):
        client = acme.application()
        browser = acme.browser()

        interactions = [interaction_at("sign-in", browser.authorize(client), acme) for _ in range(25)]

        assert parked(acme) == 20
        pages = [browser.get(f"/sign-in?interaction={one}").status_code for one in interactions]
        assert pages == [400] * 5 + [200] * 20

    def test_case_A30_a_hundred_at_once_leave_no_pile(self, acme):
        client = acme.application()
        browser = acme.browser()
        browser.authorize(client)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())

        with ThreadPoolExecutor(16) as threads:
            answers = list(
                threads.map(
                    lambda _: acme.get(
                        "/oidc/authorize", params=client.request(), headers={"Cookie": cookies}
                    ),
                    range(100),
                )
            )

        assert {answer.status_code for answer in answers} == {303}
        assert parked(acme) <= 36  # twenty, and at most those that were stored beside the last one

    def test_case_A30_one_browser_does_not_push_out_the_requests_of_another(self, acme):
        client = acme.application()
        quiet, busy = acme.browser(), acme.browser()
        waiting = interaction_at("sign-in", quiet.authorize(client), acme)

        for _ in range(25):
            busy.authorize(client)

        assert quiet.get(f"/sign-in?interaction={waiting}").status_code == 200

    def test_case_J17_a_request_is_never_answered_for_whoever_signed_in_elsewhere(self, acme):
        client, alice, bob = acme.application(), acme.user(), acme.user()
        browser = acme.browser()
        first = interaction_at("sign-in", browser.authorize(client), acme)
        second = interaction_at("sign-in", browser.authorize(client), acme)

        browser.sign_in(alice, interaction=first)
        browser.sign_in(bob, interaction=second)

        assert next_page(browser.get(f"/oidc/authorize/{first}"), acme) == ("sign-in", first)
        code = find_code(browser.get(f"/oidc/authorize/{second}"), client)
        claims = jwt.decode(client.redeem(code).json()["id_token"], options={"verify_signature": False})
        assert claims["sub"] == str(bob.pk)
