"""The way back from a provider counts once, in the browser that went there."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from interaction.connectors import services as connectors
from interaction.social.models import SocialAttempt
from oidc.grants.models import AuthorizationRequest
from tests.support.cast import Browser, query_of
from tests.support.social import SHARED_CALLBACK, away, back, callback_of, connect
from tests.support.social_pages import EXPIRED, NOBODY, Refusal, count_arrivals, entry, find_refusal

pytestmark = pytest.mark.usefixtures("development")


class TestState:
    @pytest.fixture
    def trip(self, acme, provider) -> tuple[Browser, dict[str, str]]:
        connect(acme, provider.config)
        browser = acme.browser()
        return browser, provider.approve(away(browser))

    def test_is_good_once(self, acme, provider, trip):
        browser, query = trip
        assert back(browser, query).status_code == 303
        provider.codes[query["code"]] = {"never": "asked"}

        assert find_refusal(back(browser, query), EXPIRED) == Refusal(400)

        assert provider.codes

    def test_is_good_once_also_when_it_failed(self, provider, trip):
        browser, query = trip
        back(browser, query | {"code": "wrong"})

        assert find_refusal(back(browser, query), EXPIRED) == Refusal(400)

    def test_is_good_once_of_many_at_the_same_time(self, acme, trip):
        browser, query = trip
        cookies = dict(browser.http.cookies)

        def go(_: int) -> int:
            return httpx.get(callback_of(query), params=query, cookies=cookies).status_code

        with ThreadPoolExecutor(6) as pool:
            codes = sorted(pool.map(go, range(6)))

        assert codes == [303, 400, 400, 400, 400, 400]

    def test_is_the_browsers_own(self, acme, provider, trip):
        """Otherwise the sender of a link could sign the reader in as themselves."""
        _, query = trip
        other = acme.browser()
        away(other)

        assert find_refusal(back(other, query), EXPIRED) == Refusal(400)
        assert find_refusal(back(acme.browser(), query), EXPIRED) == Refusal(400)

        assert count_arrivals(acme, other) == NOBODY
        assert query["code"] in provider.codes

    def test_another_browsers_try_does_not_use_it_up(self, acme, trip):
        browser, query = trip
        back(acme.browser(), query)

        assert back(browser, query).status_code == 303

    def test_ends_after_ten_minutes(self, acme, trip):
        browser, query = trip
        with acme.active():
            left = SocialAttempt.objects.get().expires_at - timezone.now()
            assert timedelta(minutes=9) < left <= timedelta(minutes=10)
            SocialAttempt.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

        assert find_refusal(back(browser, query), EXPIRED) == Refusal(400)

    @pytest.mark.parametrize("state", ["", "x", "\u0000", "\U0001f600", "x" * 7000])
    def test_a_made_up_one_is_none(self, acme, trip, state):
        browser, query = trip

        assert find_refusal(back(browser, query | {"state": state}), EXPIRED) == Refusal(400)

    def test_decision_T2_is_good_in_its_tenant_alone(self, acme, rival, provider, trip):
        connect(rival, provider.config)
        browser, query = trip
        browser.get(f"{rival.address}/social/oidc")

        for path in (SHARED_CALLBACK, callback_of(query).removeprefix(acme.address)):
            page = browser.get(f"{rival.address}{path}", params=query)

        assert find_refusal(page, EXPIRED) == Refusal(400)

    def test_is_stored_as_a_hash_and_the_rest_sealed(self, acme, provider, trip):
        _, query = trip
        with acme.active():
            (row,) = SocialAttempt.objects.values()

        assert query["state"] not in str(row)
        assert provider.codes[query["code"]]["nonce"] not in str(row)

    def test_no_browser_gathers_more_than_twenty(self, acme, trip):
        browser, query = trip
        for _ in range(20):
            away(browser)

        assert find_refusal(back(browser, query), EXPIRED) == Refusal(400)
        with acme.active():
            assert SocialAttempt.objects.count() == 20

    def test_those_that_are_over_are_forgotten(self, acme, trip):
        with acme.active():
            SocialAttempt.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

        away(acme.browser())

        with acme.active():
            assert SocialAttempt.objects.count() == 1


class TestReturn:
    @pytest.mark.parametrize(
        "given", [{"error": "access_denied"}, {"error": "access_denied", "code": "x"}, {}, {"code": ""}]
    )
    def test_somebody_who_did_not_go_on_can_try_again(self, acme, provider, given):
        connect(acme, provider.config)
        client, browser = acme.application(), acme.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]
        state = query_of(away(browser, interaction=interaction))["state"]

        page = back(browser, {"state": state} | given)

        assert find_refusal(page, "Sign-in canceled") == Refusal(400)
        assert f"/sign-in?interaction={interaction}" in page.text
        assert entry(acme).payload["error"] == "declined"
        returned = back(browser, provider.approve(away(browser, interaction=interaction)))
        assert returned.headers["Location"].endswith(interaction)

    def test_what_the_provider_says_is_not_repeated(self, acme, provider):
        connect(acme, provider.config)
        browser = acme.browser()
        state = query_of(away(browser))["state"]

        said = {"error": "<b>leaked</b>", "error_description": "leaked", "error_uri": "https://evil.example"}
        page = back(browser, {"state": state} | said)

        assert "leaked" not in page.text
        assert "evil.example" not in page.text

    @pytest.mark.parametrize("change", ["disable", "delete"])
    def test_a_connector_that_is_gone_meanwhile_lets_nobody_in(self, acme, provider, change):
        connector = connect(acme, provider.config)
        browser = acme.browser()
        query = provider.approve(away(browser))
        with acme.active():
            if change == "delete":
                connectors.remove(connector, expected=None, is_proven=True)
            else:
                connectors.change(connector, {"enabled": False}, expected=None, is_proven=True)

        page = back(browser, query)

        assert find_refusal(page, "This way to sign in is not available") == Refusal(404)
        assert count_arrivals(acme, browser) == NOBODY
        assert query["code"] in provider.codes

    def test_a_request_that_is_over_meanwhile_signs_nobody_in(self, acme, provider):
        connect(acme, provider.config)
        browser = acme.browser()
        interaction = query_of(browser.authorize(acme.application()).headers["Location"])["interaction"]
        query = provider.approve(away(browser, interaction=interaction))
        with acme.active():
            AuthorizationRequest.objects.all().delete()

        assert find_refusal(back(browser, query), EXPIRED) == Refusal(400)

        assert count_arrivals(acme, browser) == NOBODY

    @pytest.mark.parametrize("method", ["POST", "HEAD", "PUT", "DELETE"])
    def test_only_get_comes_back(self, acme, provider, method):
        connect(acme, provider.config)
        browser = acme.browser()
        query = provider.approve(away(browser))

        answer = browser.http.request(method, callback_of(query), params=query)

        # A form is answered with a redirect, which redeems nothing: see decision X16.
        assert answer.status_code in ({303} if method == "POST" else {403, 405})
        assert provider.codes
        assert back(browser, query).status_code == 303
