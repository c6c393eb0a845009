"""The verifier of an authorization code (PKCE)."""

import string

import pytest

from tests.support.cast import new_secret, s256
from tests.support.refusals import refusal

MISMATCH = "code_verifier does not match the code_challenge of the authorization request."


class TestVerifier:
    @pytest.mark.parametrize(
        "sent",
        [
            pytest.param(None, id="missing"),
            pytest.param("", id="empty"),
            pytest.param("x" * 43, id="wrong"),
            pytest.param("é" * 43, id="no ascii"),
            pytest.param("a" * 20_000, id="huge"),
        ],
    )
    @pytest.mark.parametrize("type", ["Traditional", "SPA", "Native"])
    def test_case_B06_must_be_the_one_of_the_challenge(self, acme, type, sent):  # noqa: A002
        client = acme.application(type)
        code = acme.browser().code_for(client, acme.user())

        refused = client.redeem(code, code_verifier=sent)

        status, error = refusal(refused)
        assert status == 400
        assert error in {"invalid_grant", "invalid_request"}
        assert client.redeem(code).status_code == 200, "a refused request consumes nothing"

    @pytest.mark.parametrize(
        "verifier",
        ["a" * 42, "a" * 129, "a" * 42 + "!", "a" * 42 + "+", "a" * 43 + "\n", "ä" * 43, "a b" * 20],
    )
    def test_decision_O5_case_B06_must_be_well_formed_even_when_it_fits(self, acme, verifier):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), code_challenge=s256(verifier))

        answer = client.redeem(code, code_verifier=verifier)

        assert refusal(answer) == (400, "invalid_grant")

    @pytest.mark.parametrize("verifier", ["a" * 43, "a" * 128, string.ascii_letters + string.digits + "-._~"])
    def test_decision_O5_may_have_43_to_128_unreserved_characters(self, acme, verifier):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), code_challenge=s256(verifier))

        answer = client.redeem(code, code_verifier=verifier)

        assert answer.status_code == 200

    @pytest.mark.parametrize("sent", [new_secret(), "x", ""])
    def test_case_B07_that_nobody_announced_is_refused(self, acme, sent):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), code_challenge=None, code_challenge_method=None)

        refused = client.redeem(code, code_verifier=sent)

        assert refusal(refused) == (400, "invalid_grant")
        assert client.redeem(code, code_verifier=None).status_code == 200

    @pytest.mark.parametrize(("verifier", "sent"), [("a" * 43, "b" * 43), ("a" * 42, "a" * 42)])
    def test_is_named_if_it_is_refused(self, acme, verifier, sent):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), code_challenge=s256(verifier))

        refused = client.redeem(code, code_verifier=sent)

        assert refused.json() == {"error": "invalid_grant", "error_description": MISMATCH}

    @pytest.mark.parametrize("name", ["code", "code_verifier", "redirect_uri"])
    def test_a_missing_parameter_is_named_as_everywhere(self, acme, name):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())

        refused = client.redeem(**{"code": code, name: None})

        assert refused.json() == {
            "error": "invalid_request",
            "error_description": f"The parameter {name} is missing.",
        }

    def test_the_challenge_itself_is_no_verifier(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())

        answer = client.redeem(code, code_verifier=s256(client.verifier))

        assert refusal(answer) == (400, "invalid_grant")
