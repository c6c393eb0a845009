"""The text of a refresh token: what a changed one is worth, and what is stored of it."""

import pytest
from django.conf import settings

from oidc.grants.models import RefreshFamily
from tests.support.refresh_families import GONE
from tests.support.refusals import refusal


class TestText:
    def test_case_D16_another_kind_of_token_is_no_refresh_token(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        code = browser.code_for(client, user)

        answers = [client.refresh(text) for text in (tokens["access_token"], tokens["id_token"], code)]

        assert [refusal(answer) for answer in answers] == [GONE] * 3
        assert client.redeem(code).status_code == 200

    def test_a_changed_part_makes_it_worthless_and_ends_nothing(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        token = client.tokens_for(user, browser)["refresh_token"]
        sibling = client.tokens_for(user, browser)["refresh_token"]
        family, generation, key, mac = token.split(".")
        other_family, _, _, other_mac = sibling.split(".")
        forged = [
            (family, "1", key, mac),
            (family, "99", key, mac),
            (family, "00", key, mac),
            (other_family, generation, key, mac),
            (family, generation, key, other_mac),
            (family, generation, "0" * 8, mac),
            (family, generation, key, mac[:-1]),
            (family, generation, key, mac + "A"),
            (family, generation, key, "A" * 43),
            (family, generation, key, ""),
            (family.upper(), generation, key, mac),
            (family.replace("-", ""), generation, key, mac),
            (family, "-1", key, mac),
            (family, "\u0660", key, mac),
            (family, "9" * 40, key, mac),
        ]

        answers = [client.refresh(".".join(parts)) for parts in forged]

        assert [refusal(answer) for answer in answers] == [GONE] * len(forged)
        assert client.refresh(token).status_code == 200
        assert client.refresh(sibling).status_code == 200

    @pytest.mark.parametrize(
        "around", ["{} ", " {}", "{}\n", "{}.", ".{}", "{}.{}", "{0}{0}", "é{}", "{}\u202e"]
    )
    def test_nothing_may_stand_around_it(self, acme, around):
        client = acme.application()
        token = client.tokens_for(acme.user())["refresh_token"]

        answer = client.refresh(around.format(token, token))

        assert refusal(answer) == GONE

    @pytest.mark.parametrize("text", ["x", "....", "1.2.3.4", "' OR 1=1 --", "a" * 16_000, "\U0001f600" * 50])
    def test_garbage_is_refused(self, acme, text):
        answer = acme.application().refresh(text)

        assert refusal(answer) == GONE

    def test_case_D17_the_database_and_the_log_never_hold_it(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())["refresh_token"]
        second = client.refresh(first).json()["refresh_token"]

        with acme.active():
            [stored] = RefreshFamily.objects.values()

        for token in (first, second):
            assert token.rpartition(".")[2] not in str(stored)
            assert token not in (settings.VAR / "server.log").read_text()
