"""Which response each error gets, and what it says to programs."""

import json

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.translation import gettext_lazy

from identity.limits.services import TooMany
from oidc.provider import error_responses, errors
from oidc.provider.authorization.response import ClientResponse, Refused
from oidc.provider.bearer import InvalidBearer
from oidc.provider.parameters import InvalidParameters

BASIC, BEARER = 'Basic realm="gatehouse", charset="UTF-8"', 'Bearer realm="gatehouse"'


def response(decorator, error, **headers):
    def view(request):
        raise error

    return decorator(view)(RequestFactory().post("/", **headers))


def body(answer):
    return json.loads(answer.content)


class TestJson:
    @pytest.mark.parametrize(
        ("error", "status", "code"),
        [
            (InvalidParameters("Bad.", 413), 413, "invalid_request"),
            (TooMany(7), 429, "temporarily_unavailable"),
            (errors.InvalidRequest("Bad."), 400, "invalid_request"),
            (errors.WrongMethod("GET", "POST"), 405, "invalid_request"),
            (errors.InvalidClient(client_id="x"), 401, "invalid_client"),
            (errors.InvalidGrant(), 400, "invalid_grant"),
            (errors.UnauthorizedClient(), 400, "unauthorized_client"),
            (errors.UnsupportedGrantType("Bad."), 400, "unsupported_grant_type"),
        ],
    )
    @pytest.mark.parametrize("decorator", [error_responses.json_errors, error_responses.bearer_errors])
    def test_has_a_code_and_a_description_and_is_not_stored(self, decorator, error, status, code):
        answer = response(decorator, error)

        assert (answer.status_code, body(answer)["error"]) == (status, code)
        assert body(answer).keys() == {"error", "error_description"}
        assert body(answer)["error_description"]
        assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")

    def test_says_when_to_try_again_and_which_methods_there_are(self):
        assert response(error_responses.json_errors, TooMany(7))["Retry-After"] == "7"
        wrong = response(error_responses.json_errors, errors.WrongMethod("GET", "POST"))
        assert wrong["Allow"] == "GET, POST, OPTIONS"
        assert body(wrong)["error_description"] == "The method must be GET or POST."

    @pytest.mark.parametrize(
        ("error", "headers", "challenge"),
        [
            (errors.InvalidClient(client_id="x"), {"HTTP_AUTHORIZATION": "Basic eA=="}, BASIC),
            (errors.InvalidClient(client_id="x"), {}, None),
            (errors.InvalidGrant(), {"HTTP_AUTHORIZATION": "Basic eA=="}, None),
        ],
    )
    def test_challenges_a_client_that_used_the_header(self, error, headers, challenge):
        assert response(error_responses.json_errors, error, **headers).get("WWW-Authenticate") == challenge

    def test_leaves_other_errors_and_good_responses_alone(self):
        with pytest.raises(LookupError):
            response(error_responses.json_errors, LookupError())
        good = HttpResponse("good")
        assert error_responses.bearer_errors(lambda _: good)(RequestFactory().get("/")) is good


class TestBearer:
    @pytest.mark.parametrize(
        ("error", "status", "challenge"),
        [
            (errors.MissingToken(), 401, BEARER),
            (InvalidBearer("Gone."), 401, f'{BEARER}, error="invalid_token", error_description="Gone."'),
            (
                InvalidParameters("Two.", 415),
                415,
                f'{BEARER}, error="invalid_request", error_description="Two."',
            ),
            (
                errors.InsufficientScope("openid"),
                403,
                (
                    f'{BEARER}, error="insufficient_scope", '
                    'error_description="The access token lacks the scope openid.", scope="openid"'
                ),
            ),
        ],
    )
    def test_challenges_as_rfc_6750_says(self, error, status, challenge):
        answer = response(error_responses.bearer_errors, error)

        assert (answer.status_code, answer["WWW-Authenticate"]) == (status, challenge)
        assert answer["Cache-Control"] == "no-store"


class TestPage:
    decorator = staticmethod(
        error_responses.page_errors(
            title=gettext_lazy("No link"), message=gettext_lazy("We can't."), next_step=gettext_lazy("Back.")
        )
    )

    def test_a_refused_request_is_answered_to_the_client(self):
        refused = Refused(ClientResponse("https://rp.example/cb", "query", {"error": "login_required"}))

        answer = response(self.decorator, refused)

        assert answer["Location"] == "https://rp.example/cb?error=login_required"

    @pytest.mark.parametrize(
        ("error", "status"),
        [
            (InvalidParameters("Too long."), 400),
            (InvalidParameters("No form.", 415), 415),
            (errors.Unanswerable("Unknown client."), 400),
        ],
    )
    def test_others_get_a_page_that_says_why(self, error, status):
        answer = response(self.decorator, error)

        assert answer.status_code == status
        assert "Location" not in answer
        for text in ("No link", str(error), "Back."):
            assert text in answer.content.decode()

    @pytest.mark.parametrize("is_development", [True, False])
    def test_the_registered_uris_are_shown_in_development_only(self, settings, is_development):
        settings.DEVELOPMENT = is_development
        unknown = errors.UnknownRedirectUri(
            sent="https://sent.example/", registered=["https://known.example/"], application_id="some-id"
        )

        page = response(self.decorator, unknown).content.decode()

        for text in ("https://sent.example/", "https://known.example/", "some-id/change/"):
            assert (text in page) is is_development
        ordinary = response(self.decorator, errors.Unanswerable("Bad.")).content.decode()
        assert "known.example" not in ordinary

    def test_too_many_says_when_to_try_again(self):
        answer = response(self.decorator, TooMany(7))

        assert (answer.status_code, answer["Retry-After"]) == (429, "7")
