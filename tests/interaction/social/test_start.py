"""The way to a provider: which buttons are offered, and where each one leads."""

import secrets
from contextlib import ExitStack
from dataclasses import replace

import pytest
from django.test import Client

from identity.core.slots import Slots
from identity.limits import rules
from interaction.connectors import services as connectors
from interaction.journeys.social import provider as provider_calls
from interaction.journeys.social.errors import Busy
from interaction.social.models import SocialAttempt
from tests.support import openid
from tests.support.cast import World, query_of
from tests.support.social import away, connect
from tests.support.social_pages import EXPIRED, Refusal, find_refusal

pytestmark = pytest.mark.usefixtures("development")


class TestStart:
    @pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
    def test_decision_X1_another_site_cannot_begin_it(self, acme, provider, site):
        connect(acme, provider.config)

        answer = acme.get("/social/oidc", headers={"Sec-Fetch-Site": site})

        assert answer.status_code == 403
        with acme.active():
            assert not SocialAttempt.objects.exists()

    @pytest.mark.parametrize("connector_id", ["github", "OIDC", "oidc/x", "%00", "..%2f", "x" * 3000])
    def test_what_is_not_there_is_not_offered(self, acme, provider, connector_id):
        connect(acme, provider.config)

        answer = acme.get(f"/social/{connector_id}")

        assert find_refusal(answer, "This way to sign in is not available") == Refusal(404)

    def test_a_connector_that_is_switched_off_is_not_offered(self, acme, provider):
        connect(acme, provider.config, enabled=False)

        assert find_refusal(acme.get("/social/oidc"), "not available") == Refusal(404)

    def test_a_message_connector_is_not_offered(self, acme):
        connect(acme, {}, "outbox-email", kind="Email")

        assert find_refusal(acme.get("/social/outbox-email"), "not available") == Refusal(404)

    def test_decision_T2_another_tenants_connector_is_not_offered(self, acme, rival, provider):
        connect(rival, provider.config)

        assert find_refusal(acme.get("/social/oidc"), "not available") == Refusal(404)

    def test_one_whose_provider_nobody_knows_leads_nowhere_but_back(self, acme):
        connect(acme, {"app_id": "1", "app_secret": "2"}, "line")

        assert find_refusal(acme.get("/social/line"), "not available") == Refusal(404)

    def test_decision_X1_an_unknown_request_is_told(self, acme, provider):
        connect(acme, provider.config)

        assert find_refusal(acme.get("/social/oidc?interaction=x"), EXPIRED) == Refusal(400)

    def test_who_waits_for_providers_leaves_threads_to_others(self, acme, provider, monkeypatch):
        connect(acme, provider.config)
        monkeypatch.setattr(provider_calls, "PROVIDERS", Slots(2))
        inside = Client()

        with acme.active(), provider_calls.provider_call():
            page = inside.get(f"/t/{acme.tenant.slug}/social/oidc")
        later = inside.get(f"/t/{acme.tenant.slug}/social/oidc")

        assert (page.status_code, page["Retry-After"]) == (503, "2")
        assert "Many people are signing in" in page.content.decode()
        assert later.status_code == 303

    def test_attack_my_slow_provider_takes_the_slots_of_your_tenant(self, acme, rival, provider, monkeypatch):
        connect(rival, provider.config)
        monkeypatch.setattr(provider_calls, "PROVIDERS", Slots(4))
        inside = Client()

        with acme.active(), ExitStack() as waiting:
            for _ in range(3):
                waiting.enter_context(provider_calls.provider_call())
            with pytest.raises(Busy), provider_calls.provider_call():
                pass
            page = inside.get(f"/t/{rival.tenant.slug}/social/oidc")

        assert page.status_code == 303

    def test_decision_X6_an_address_begins_so_many_and_no_more(self, acme, provider, monkeypatch):
        connect(acme, provider.config)
        monkeypatch.setattr(rules, "SIGN_INS", replace(rules.SIGN_INS, max_hits=2))
        inside = Client(REMOTE_ADDR=f"2001:db8:{secrets.randbelow(9999)}:{secrets.randbelow(9999)}::1")

        statuses = [inside.get(f"/t/{acme.tenant.slug}/social/oidc").status_code for _ in range(3)]

        assert statuses == [303, 303, 429]

    def test_sends_what_the_standards_ask_for_and_nothing_else(self, acme, provider):
        connector = connect(acme, provider.config)

        asked = [query_of(away(acme.browser())) for _ in range(2)]

        assert asked[0].keys() == {
            "response_type", "client_id", "redirect_uri", "scope", "state", "nonce",
            "code_challenge", "code_challenge_method",
        }  # fmt: skip
        assert asked[0]["redirect_uri"] == f"{acme.issuer}/social/callback/{connector.pk}"
        for secret in ("state", "nonce", "code_challenge"):
            assert len(asked[0][secret]) >= 43
            assert asked[0][secret] != asked[1][secret]

    def test_the_provider_is_asked_once_where_it_speaks(self, acme, provider):
        connect(acme, provider.config)

        for _ in range(3):
            away(acme.browser())

        assert len(provider.web.asked) <= 2  # the five minutes may end between


class TestOffered:
    def shown(self, world: World) -> list[dict[str, str]]:
        listed = world.get("/api/interaction/sign-in-experience").json()["result"]["social_connectors"]
        page = world.get("/sign-in").text
        for one in listed:
            assert f"/social/{one['connector_id']}" in page
            assert one["name"] in page
        assert page.count("/social/") == len(listed)
        return list(listed)

    def test_an_enabled_connector_is_a_button_until_it_is_none(self, acme, provider):
        assert self.shown(acme) == []
        connector = connect(acme, provider.config, enabled=False)
        assert self.shown(acme) == []
        with acme.active():
            connectors.change(connector, {"enabled": True}, expected=None, is_proven=True)
        assert self.shown(acme) == [{"connector_id": "oidc", "name": "OpenID Connect", "type": "Social"}]
        with acme.active():
            connectors.remove(connector, expected=None, is_proven=True)
        assert self.shown(acme) == []

    def test_the_newest_come_first_and_one_of_each(self, acme, rival, provider):
        connect(acme, provider.config)
        connect(acme, openid.CLIENT, "google")
        connect(acme, provider.config | {"display_name": "Acme <Staff>"})
        connect(acme, {"app_id": "1"}, "line")
        connect(rival, openid.CLIENT, "github")
        connect(acme, {}, "outbox-email", kind="Email")

        listed = acme.get("/api/interaction/sign-in-experience").json()["result"]["social_connectors"]

        assert [(one["connector_id"], one["name"]) for one in listed] == [
            ("line", "line"),
            ("oidc", "Acme <Staff>"),
            ("google", "Google"),
        ]
        assert "Acme &lt;Staff&gt;" in acme.get("/sign-in").text

    def test_of_two_of_one_provider_the_newest_counts(self, acme, provider):
        connect(acme, openid.CLIENT | {"issuer": "http://127.0.0.1:9"})
        connect(acme, provider.config)

        assert away(acme.browser()).startswith(provider.issuer)

    def test_any_name_makes_a_page(self, acme):
        connect(acme, {}, "a/b?c#d e\u00e4")

        page = acme.get("/sign-in")

        assert page.status_code == 200
        assert f"/t/{acme.tenant.slug}/social/a/b%3Fc%23d%20e%C3%A4" in page.text
