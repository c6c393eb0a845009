"""The exchange of an authorization code for tokens."""

import pytest

from audit.models import Entry
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily
from tests.support.cast import CALLBACK, new_secret
from tests.support.independent import claims_of
from tests.support.refusals import refusal

OTHER_CALLBACK = "https://rp.example/other"


class TestRedeem:
    def test_answers_with_the_members_of_the_interface(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())

        answer = client.redeem(code)

        tokens = answer.json()
        assert answer.status_code == 200
        assert set(tokens) == {
            *("access_token", "token_type", "expires_in", "scope", "id_token", "refresh_token")
        }
        assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
        assert tokens["scope"] == "openid profile email phone offline_access"

    @pytest.mark.parametrize("type", ["Traditional", "SPA", "Native"])
    def test_decision_O7_case_D01_gives_no_refresh_token_without_offline_access(self, acme, type):  # noqa: A002
        client = acme.application(type)

        tokens = client.tokens_for(acme.user(), scope="openid profile")

        assert set(tokens) == {"access_token", "token_type", "expires_in", "scope", "id_token"}
        with acme.active():
            assert not RefreshFamily.objects.filter(application=client.application).exists()

    def test_decision_O7_gives_a_refresh_token_with_nothing_but_openid_and_offline_access(self, acme):
        tokens = acme.application().tokens_for(acme.user(), scope="openid offline_access")

        assert tokens["refresh_token"]
        assert tokens["scope"] == "openid offline_access"

    def test_decision_O7_grants_no_offline_access_to_an_application_that_may_not_refresh(self, acme):
        client = acme.application(grant_types=["authorization_code"])

        tokens = client.tokens_for(acme.user(), scope="openid offline_access")

        assert "refresh_token" not in tokens
        assert tokens["scope"] == "openid"

    def test_an_application_that_may_not_refresh_need_not_ask_for_it(self, acme):
        client = acme.application(grant_types=["authorization_code"])

        assert client.tokens_for(acme.user(), scope="openid")["scope"] == "openid"

    def test_decision_O7_issues_no_family_when_the_grant_was_taken_away_before_the_exchange(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        with acme.active():
            Application.objects.filter(pk=client.application.pk).update(grant_types=["authorization_code"])

        tokens = client.redeem(code).json()

        assert "refresh_token" not in tokens
        assert client.userinfo(tokens["access_token"]).status_code == 200

    def test_decision_O3_drops_unknown_scopes_and_says_what_was_granted(self, acme):
        asked = "openid  made:up profile openid \u00e9t\u00e9 admin"

        tokens = acme.application().tokens_for(acme.user(), scope=asked)

        assert tokens["scope"] == "openid profile"
        assert claims_of(tokens["access_token"])["scope"] == "openid profile"

    def test_ignores_a_scope_that_comes_with_the_exchange(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), scope="openid")

        tokens = client.redeem(code, scope="openid profile email offline_access").json()

        assert tokens["scope"] == "openid"
        assert "refresh_token" not in tokens

    def test_leaves_one_audit_entry_that_tells_no_secret(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)

        tokens = client.redeem(code).json()

        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Exchange")
        assert entry.payload["result"] == "success"
        assert entry.payload["grant_type"] == "authorization_code"
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
        for secret in (code, client.secret, client.verifier, *tokens.values()):
            assert str(secret) not in str(entry.payload) or secret in {"Bearer", 3600, tokens["scope"]}

    def test_leaves_an_audit_entry_of_a_refusal(self, acme):
        client = acme.application()

        client.redeem("made-up")

        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Exchange")
        assert entry.payload["result"] == "failed"
        assert entry.payload["error"] == "invalid_grant"
        assert entry.application_id == str(client.application.pk)
        assert "made-up" not in str(entry.payload)

    def test_works_for_the_loopback_port_that_a_native_application_chose(self, acme):
        client = acme.application("Native", redirect_uris=["http://127.0.0.1/cb"])
        chosen = "http://127.0.0.1:51234/cb"
        code = acme.browser().code_for(client, acme.user(), redirect_uri=chosen)

        elsewhere = client.redeem(code, redirect_uri="http://127.0.0.1:51235/cb", auth=None)
        there = client.token(
            auth=None,
            client_id=client.client_id,
            grant_type="authorization_code",
            code=code,
            redirect_uri=chosen,
            code_verifier=client.verifier,
        )

        assert elsewhere.status_code in {400, 401}
        assert there.status_code == 200


class TestRedirectUri:
    @pytest.mark.parametrize(
        "sent",
        [
            OTHER_CALLBACK,
            "https://rp.example/call%62ack",
            "https://rp.example/callback/",
            "https://rp.example/callback?",
            "https://rp.example:443/callback",
            "https://RP.example/callback",
            "http://rp.example/callback",
            " https://rp.example/callback",
            "https://evil.example/callback",
            "not a uri",
            "https://[",
        ],
    )
    def test_case_B05_must_be_that_of_the_request_to_the_letter(self, acme, sent):
        client = acme.application(redirect_uris=[CALLBACK, OTHER_CALLBACK])
        code = acme.browser().code_for(client, acme.user())

        refused = client.redeem(code, redirect_uri=sent)

        assert refusal(refused) == (400, "invalid_grant")
        said = "redirect_uri differs from the one in the authorization request."
        assert refused.json()["error_description"] == said
        assert client.redeem(code).status_code == 200, "a refused request consumes nothing"

    @pytest.mark.parametrize("sent", [None, ""])
    def test_case_B05_must_be_sent(self, acme, sent):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())

        refused = client.redeem(code, redirect_uri=sent)

        assert refusal(refused) == (400, "invalid_request")
        assert client.redeem(code).status_code == 200


class TestCode:
    @pytest.mark.parametrize("sent", [None, ""])
    def test_must_be_sent(self, acme, sent):
        client = acme.application()

        answer = client.token(grant_type="authorization_code", redirect_uri=CALLBACK, code=sent)

        assert refusal(answer) == (400, "invalid_request")

    @pytest.mark.parametrize("sent", ["x", "é" * 40, "' OR 1=1 --", "..", "%00", "\U0001f600", "a" * 16_000])
    def test_that_was_never_issued_is_refused(self, acme, sent):
        client = acme.application()

        answer = client.redeem(sent)

        assert refusal(answer) == (400, "invalid_grant")

    def test_stands_for_its_own_request_only(self, acme):
        client, ada, ben = acme.application(), acme.user(), acme.user()
        of_ada = acme.browser().code_for(client, ada)
        of_ben = acme.browser().code_for(client, ben, scope="openid")

        guessed = client.redeem(new_secret())
        tokens = [client.redeem(code).json() for code in (of_ben, of_ada)]

        assert refusal(guessed) == (400, "invalid_grant")
        assert [claims_of(each["id_token"])["sub"] for each in tokens] == [str(ben.pk), str(ada.pk)]
        assert tokens[0]["scope"] == "openid"

    def test_case_B11_is_not_taken_from_a_query_and_not_consumed(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": client.verifier,
        }

        got = acme.get("/oidc/token", params=form, auth=client.basic)
        posted = acme.post("/oidc/token", params=form, data={"x": "y"}, auth=client.basic)

        assert refusal(got) == (405, "invalid_request")
        assert got.headers["Allow"] == "POST, OPTIONS"
        assert refusal(posted) == (400, "invalid_request")
        assert client.redeem(code).status_code == 200
