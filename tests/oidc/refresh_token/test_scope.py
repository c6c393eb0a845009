"""The scope of a refresh: narrowed for once, and never widened."""

import pytest

from tests.support.independent import claims_of
from tests.support.refresh_families import family_of
from tests.support.refusals import refusal


class TestScope:
    def test_decision_O4_may_be_narrowed_for_one_answer(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user(email="a@acme.example"))

        second = client.refresh(first["refresh_token"], scope="openid email").json()
        third = client.refresh(second["refresh_token"]).json()

        assert second["scope"] == claims_of(second["access_token"])["scope"] == "openid email"
        assert set(client.userinfo(second["access_token"]).json()) == {"sub", "email", "email_verified"}
        assert "name" not in claims_of(second["id_token"])
        assert third["scope"] == first["scope"], "the family keeps its scope"

    def test_decision_O4_without_openid_there_is_no_id_token(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())

        second = client.refresh(first["refresh_token"], scope="profile").json()

        assert "id_token" not in second
        assert second["refresh_token"]
        assert client.userinfo(second["access_token"]).status_code == 403

    def test_decision_O3_case_D02_is_never_widened(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user(), scope="openid offline_access")

        second = client.refresh(
            first["refresh_token"], scope="openid profile email phone offline_access"
        ).json()

        assert second["scope"] == "openid offline_access"
        assert "username" not in claims_of(second["id_token"])

    def test_decision_O3_narrowed_once_it_is_not_widened_by_a_retry_of_the_narrow_token(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user(), scope="openid offline_access")
        client.refresh(first["refresh_token"])

        retry = client.refresh(first["refresh_token"], scope="openid profile").json()

        assert retry["scope"] == "openid"

    @pytest.mark.parametrize("scope", ["made:up", "OPENID", " ", "profile"])
    def test_decision_O4_words_outside_the_grant_are_dropped(self, acme, scope):
        client = acme.application()
        first = client.tokens_for(acme.user(), scope="openid offline_access")

        second = client.refresh(first["refresh_token"], scope=scope).json()

        granted = second["scope"]
        assert granted == claims_of(second["access_token"])["scope"]
        assert granted in {"", "openid offline_access"}
        assert ("id_token" in second) == ("openid" in granted)

    def test_an_empty_scope_counts_as_none(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())

        second = client.refresh(first["refresh_token"], scope="").json()

        assert second["scope"] == first["scope"]

    @pytest.mark.parametrize(
        "parameter",
        [
            {"resource": "https://api.example"},
            {"resource": "https://api.example", "organization_id": "x"},
            {"organization_id": "01890a5d-ac96-774b-bcce-b302099a8057"},
            {"organization_id": "not an id"},
        ],
    )
    def test_case_D12_D13_an_unknown_resource_or_organization_is_refused_and_uses_nothing_up(
        self, acme, parameter
    ):
        client = acme.application()
        first = client.tokens_for(acme.user())

        refused = client.refresh(first["refresh_token"], **parameter)

        assert refusal(refused) == (400, "invalid_request")
        assert family_of(client).generation == 0
        assert client.refresh(first["refresh_token"]).status_code == 200

    def test_case_D12_the_answer_does_not_tell_what_exists(self, acme, rival):
        client = acme.application()
        first = client.tokens_for(acme.user())

        answers = [
            client.refresh(first["refresh_token"], organization_id=guess).content
            for guess in (str(acme.tenant.pk), str(rival.tenant.pk), "x", str(client.application.pk))
        ]

        assert len(set(answers)) == 1
