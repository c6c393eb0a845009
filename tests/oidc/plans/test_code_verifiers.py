"""PKCE verifiers of codes that a plan may redeem."""

from urllib.parse import urlencode

import pytest

from oidc.applications import services as applications
from oidc.applications.models import Application
from tests.support.cast import CALLBACK, new_secret, s256
from tests.support.code_plans import Redeeming
from tests.support.issuing_plans import FORM
from tests.support.refresh_plans import REFUSED, entries_of

NO_PKCE: dict[str, str | None] = {"code_challenge": None, "code_challenge_method": None}


class TestTheVerifier:
    @pytest.mark.parametrize("sent", ["x" * 43, "x" * 42, "x" * 129, "", "é" * 43, new_secret(), None])
    def test_must_be_that_of_the_code(self, here, redeem, sent):
        code = redeem.new_code()

        status, error = redeem.refusal(code, code_verifier=sent)

        assert (status, error) in {(400, "invalid_grant"), (400, "invalid_request")}
        failure = entries_of(here, "Token.Exchange")[-1]
        assert failure.payload["error"] == error
        assert redeem(code), "nothing was used up"
        assert redeem.is_planned

    def test_is_not_the_challenge_itself(self, redeem):
        assert redeem.refusal(code_verifier=s256(redeem.client.verifier)) == REFUSED

    def test_is_not_that_of_another_code(self, redeem):
        verifier = new_secret()
        code = redeem.new_code(code_challenge=s256(verifier))

        assert redeem.refusal(code) == REFUSED
        assert redeem(code, code_verifier=verifier)
        assert redeem.is_planned

    @pytest.mark.parametrize("verifier", ["a" * 42, "a" * 129, "a" * 42 + "!", "a" * 42 + "+", "ä" * 43])
    def test_must_be_well_formed_even_if_it_fits(self, redeem, verifier):
        code = redeem.new_code(code_challenge=s256(verifier))

        assert redeem.refusal(code, code_verifier=verifier) == REFUSED

    @pytest.mark.parametrize("sent", [new_secret(), "x", ""])
    def test_must_not_be_sent_without_a_challenge(self, redeem, sent):
        """Otherwise somebody has removed the challenge from the authorization request."""
        code = redeem.new_code(**NO_PKCE)

        assert redeem.refusal(code, code_verifier=sent) == REFUSED

    def test_must_be_sent_for_a_challenge_with_a_plan_without_one(self, here, user):
        redeem = Redeeming(here.application(), user, NO_PKCE, code_verifier=None)
        redeem()
        redeem()
        assert redeem.is_planned
        client = redeem.client

        code = client.world.browser().code_for(client, user)

        assert redeem.refusal(code)[0] == 400
        assert redeem.refusal(code, code_verifier="")[0] == 400
        assert redeem(code, code_verifier=client.verifier)

    def test_is_required_once_the_application_requires_it(self, here, user):
        redeem = Redeeming(here.application(), user, NO_PKCE, code_verifier=None)
        redeem()
        redeem()
        code = redeem.new_code()
        with here.active():
            applications.change(
                Application.objects.get(pk=redeem.client.application.pk),
                {"require_pkce": True},
                is_proven=True,
            )

        assert redeem.refusal(code) == (400, "invalid_request")

    @pytest.mark.parametrize(
        "more",
        [
            "&code_verifier={0}",
            "&code%5Fverifier={0}",
            "&code_verifier=",
            "&code={1}",
            "&code=",
            "&c%6Fde={1}",
            "&code_verifier=%00",
            "&x=%00",
        ],
    )
    def test_and_the_code_are_not_accepted_if_they_are_repeated(self, redeem, more):
        code, verifier = redeem.new_code(), redeem.client.verifier
        sent = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        body = urlencode(sent | {"code_verifier": verifier}) + more.format(verifier, code)

        answer = redeem.client.world.post("/oidc/token", content=body, headers=FORM, auth=redeem.client.basic)

        assert answer.status_code == 400
        assert redeem(code), "nothing was used up"
