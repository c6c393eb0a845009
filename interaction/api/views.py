"""The JSON API for a company's own sign-in front end."""

from functools import cache
from typing import Any, Final

from django.utils import translation
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from identity.sessions import cookies, proof_secrets
from identity.users.hashing_views import hashes_password
from identity.users.identifiers import Kind
from interaction.api.permissions import SameOrigin
from interaction.api.serializers import (
    CodeSentSerializer,
    CodeSerializer,
    EnteredCodeSerializer,
    InteractionSerializer,
    NewPasswordSerializer,
    NextSerializer,
    OfferedExperienceSerializer,
    RegisterSerializer,
    SignInSerializer,
    SocialConnectorSerializer,
)
from interaction.connectors import captcha
from interaction.experience import factor_settings
from interaction.experience import services as experiences
from interaction.journeys import codes, languages, page_branding, pending, register, reset_password, sign_in
from interaction.journeys.pending import Pending
from interaction.journeys.second_factor import browser_cookies, next_step, visits
from interaction.journeys.second_factor.sign_ins import Outcome, SecondFactorNeeded, Visit
from interaction.social import offers
from interaction.verification.models import Purpose

# A tenant without second factors has none of these members.
_FACTOR_SETTINGS: Final = ("mfa", "passkey_sign_in", "trusted_device_policy")


class Experience(APIView):
    """The sign-in experience, for the pending request if there is one."""

    queries = {"get": InteractionSerializer}
    response_serializers = {"get": OfferedExperienceSerializer}
    authentication_classes = ()
    permission_classes = (AllowAny,)

    def get(self, request: Request) -> Response:
        """Get the sign-in experience."""
        query = InteractionSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        pending_request = pending.find(request, query.validated_data["interaction"])
        must_reauthenticate = pending_request is not None and pending_request.must_reauthenticate
        social_offers = offers.get_offers(must_reauthenticate=must_reauthenticate)
        experience = experiences.current()
        document = OfferedExperienceSerializer(experience).data
        for name in _FACTOR_SETTINGS:
            stored = document.pop(name)
            if experience.has_factors:
                document[name] = factor_settings.complete(name, stored)
        document["branding"] = page_branding.get_branding(experience, pending_request)
        if experience.tenant.keep_signed_in:
            document["keep_signed_in"] = True
        document["social_connectors"] = SocialConnectorSerializer(social_offers, many=True).data
        current_captcha = captcha.current()
        document["captcha"] = current_captcha and {
            "connector_id": current_captcha.provider.connector_id,
            "site_key": current_captcha.site_key,
        }
        return Response(document, headers={"Cache-Control": "no-store"})


@cache
def _get_serializer(kind: type[BaseSerializer[Any]]) -> BaseSerializer[Any]:
    """Return the shared instance of a serializer class. A new instance copies all of its fields.

    Its messages stay in the language of the first request. All of this API is English.
    """
    return kind()


class InteractionView(APIView):
    """One step of a journey, for same-origin pages."""

    authentication_classes = ()
    permission_classes = (SameOrigin,)

    def read_body(self, request: Request) -> dict[str, Any]:
        """Return the validated fields of the body."""
        serializer = _get_serializer(self.request_serializers["post"])  # type: ignore[attr-defined]
        return dict(serializer.run_validation(request.data))

    def validate(self, request: Request) -> tuple[dict[str, Any], Pending | None]:
        """Return the validated fields of the body, and the pending request that it names."""
        fields = self.read_body(request)
        return fields, pending.find(request, fields.pop("interaction"))

    def browser(self, request: Request) -> str:
        """Return the hash of this browser's cookie; an empty string for a new browser."""
        return cookies.get_browser(request)

    def visit(self, request: Request, pending_request: Pending | None) -> Visit:
        """Return this browser, with its session and the pending request."""
        return visits.of(request, pending_request)


@hashes_password()
class SignIn(InteractionView):
    """Signing in with a password."""

    request_serializers = {"post": SignInSerializer}
    response_serializers = {"post": NextSerializer}

    def post(self, request: Request) -> Response:
        """Sign in with a password."""
        fields = self.read_body(request)
        visit = visits.find_for_first_factor(request, fields.pop("interaction"))
        result = sign_in.sign_in_with_password(**fields, visit=visit)
        return respond_to_sign_in(request, result)


@hashes_password(field="password")
class Register(InteractionView):
    """Registration."""

    request_serializers = {"post": RegisterSerializer}
    response_serializers = {"post": NextSerializer}

    def post(self, request: Request) -> Response:
        """Create an account and sign in."""
        fields, pending_request = self.validate(request)
        result = register.sign_up(**fields, visit=self.visit(request, pending_request))
        return respond_to_sign_in(request, result)


class SendCode(InteractionView):
    """Sending verification codes."""

    request_serializers = {"post": CodeSerializer}
    response_serializers = {"post": CodeSentSerializer}

    def post(self, request: Request) -> Response:
        """Send a verification code."""
        fields, pending_request = self.validate(request)
        response = Response(headers={"Cache-Control": "no-store"})
        browser = self.browser(request) or cookies.new_browser(response)
        # Responses are in English, but the message is for the user.
        with translation.override(languages.get_journey_language(request, pending_request)):
            response.data = {
                "expires_in": codes.send(
                    **_code_arguments(fields),
                    browser=browser,
                    known=cookies.get_known_users(request),
                    captcha_token=fields["captcha_token"],
                )
            }
        return response


class VerifyCode(InteractionView):
    """Verifying codes."""

    request_serializers = {"post": EnteredCodeSerializer}
    response_serializers = {"post": NextSerializer}

    def post(self, request: Request) -> Response:
        """Verify a code: sign in, or allow the next step."""
        fields, pending_request = self.validate(request)
        entered = _code_arguments(fields) | {"code": fields["code"]}
        if entered["purpose"] is Purpose.SIGN_IN:
            del entered["purpose"]
            result = sign_in.sign_in_with_code(
                **entered,
                keep_signed_in=fields["keep_signed_in"],
                visit=self.visit(request, pending_request),
            )
            return respond_to_sign_in(request, result)
        secret = proof_secrets.new()
        codes.verify(**entered, browser=self.browser(request), secret=secret)
        response = _next(codes.next_url(entered["purpose"], pending_request))
        cookies.add_proof(request, response, secret)
        return response


@hashes_password()
class ForgotPassword(InteractionView):
    """Setting a new password."""

    request_serializers = {"post": NewPasswordSerializer}
    response_serializers = {"post": None}

    def post(self, request: Request) -> Response:
        """Set a new password after verifying a code, and end all sessions of the account."""
        fields, pending_request = self.validate(request)
        visit = visits.without_session(request, pending_request)
        reset_password.set_new_password(**fields, visit=visit)
        return Response(None, headers={"Cache-Control": "no-store"})


def _code_arguments(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what a code is bound to, as arguments of the journeys."""
    return {
        "purpose": Purpose(fields["interaction_type"]),
        "kind": Kind(fields["identifier_type"]),
        "identifier": fields["identifier"],
    }


def respond_to_sign_in(request: Request, result: Outcome) -> Response:
    """Respond with the next URL: with the cookies of the session, or with the step that is missing."""
    response = _next(result.redirect_to)
    if isinstance(result, SecondFactorNeeded):
        response.data["next"] = next_step.describe(
            result.pending.user, result.need, result.redirect_to, may_remember=result.may_remember
        )
    browser_cookies.set_outcome(request, response, result)
    return response


def _next(redirect_to: str) -> Response:
    return Response({"redirect_to": redirect_to}, headers={"Cache-Control": "no-store"})
