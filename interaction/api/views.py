"""The JSON front door for end users: for a company's own sign-in front end."""

from typing import Any

from django.utils import translation
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from identity.sessions import cookies
from identity.sessions.models import Session
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
from interaction.experience import services as experience
from interaction.journeys import codes, languages, pending, register, reset_password, sign_in
from interaction.journeys.pending import Pending
from interaction.journeys.sign_in import SignedIn
from interaction.social import offers
from interaction.verification.models import Purpose


class Experience(APIView):
    """GET what people are offered, and how it looks: to the request that waits, if one does."""

    queries = {"get": InteractionSerializer}
    gives = {"get": OfferedExperienceSerializer}
    authentication_classes = ()
    permission_classes = (AllowAny,)

    def get(self, request: Request) -> Response:
        """Show what people are offered, and how it looks."""
        query = InteractionSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        waiting = pending.find(request._request, query.validated_data["interaction"])  # noqa: SLF001
        must_reauthenticate = waiting is not None and waiting.must_reauthenticate
        social_offers = offers.get_offers(must_reauthenticate=must_reauthenticate)
        shown = OfferedExperienceSerializer(experience.current()).data
        shown["social_connectors"] = SocialConnectorSerializer(social_offers, many=True).data
        asked = captcha.current()
        shown["captcha"] = asked and {
            "connector_id": asked.provider.connector_id,
            "site_key": asked.site_key,
        }
        return Response(shown, headers={"Cache-Control": "no-store"})


class InteractionView(APIView):
    """One step of a journey: for pages of our own origin, and for the browser that walks it."""

    authentication_classes = ()
    permission_classes = (SameOrigin,)

    def sent(self, request: Request) -> tuple[dict[str, Any], Pending | None]:
        """Return the fields of the body, and the request that it is about."""
        serializer = self.takes["post"](data=request.data)  # type: ignore[attr-defined]
        serializer.is_valid(raise_exception=True)
        fields = dict(serializer.validated_data)
        return fields, pending.find(request._request, fields.pop("interaction"))  # noqa: SLF001

    def browser(self, request: Request) -> str:
        """Return the hash that stands for this browser, or nothing for a new one."""
        return cookies.get_browser(request._request)  # noqa: SLF001

    def current(self, request: Request) -> Session | None:
        """Return the session that this browser has so far."""
        return cookies.current_session(request._request)  # noqa: SLF001


@hashes_password()
class SignIn(InteractionView):
    """POST identifier and password; get where to go next."""

    takes = {"post": SignInSerializer}
    gives = {"post": NextSerializer}

    def post(self, request: Request) -> Response:
        """Sign the browser in."""
        fields, waiting = self.sent(request)
        signed_in = sign_in.with_password(
            **fields,
            pending=waiting,
            current=self.current(request),
            known=cookies.get_known_users(request._request),  # noqa: SLF001
        )
        return _signed_in(request, signed_in)


@hashes_password(field="password")
class Register(InteractionView):
    """POST who one is; get where to go next."""

    takes = {"post": RegisterSerializer}
    gives = {"post": NextSerializer}

    def post(self, request: Request) -> Response:
        """Make an account and sign the browser in."""
        fields, waiting = self.sent(request)
        signed_in = register.sign_up(
            **fields, browser=self.browser(request), pending=waiting, current=self.current(request)
        )
        return _signed_in(request, signed_in)


class SendCode(InteractionView):
    """POST an identifier and what the code is for; get how long it is good."""

    takes = {"post": CodeSerializer}
    gives = {"post": CodeSentSerializer}

    def post(self, request: Request) -> Response:
        """Send a verification code."""
        fields, waiting = self.sent(request)
        response = Response(headers={"Cache-Control": "no-store"})
        browser = self.browser(request) or cookies.new_browser(response)
        # Answers are in English; what arrives is read by the person.
        with translation.override(languages.of_request(request._request, waiting)):  # noqa: SLF001
            response.data = {
                "expires_in": codes.send(
                    **_bound(fields),
                    browser=browser,
                    known=cookies.get_known_users(request._request),  # noqa: SLF001
                    captcha_token=fields["captcha_token"],
                )
            }
        return response


class VerifyCode(InteractionView):
    """POST the code; get where to go next."""

    takes = {"post": EnteredCodeSerializer}
    gives = {"post": NextSerializer}

    def post(self, request: Request) -> Response:
        """Use a verification code up: it signs in, or lets the next step be taken."""
        fields, waiting = self.sent(request)
        entered = _bound(fields) | {"code": fields["code"], "browser": self.browser(request)}
        if entered["purpose"] is Purpose.SIGN_IN:
            del entered["purpose"]
            signed_in = sign_in.with_code(**entered, pending=waiting, current=self.current(request))
            return _signed_in(request, signed_in)
        codes.verify(**entered)
        return _next(codes.next_page(entered["purpose"], waiting))


@hashes_password()
class ForgotPassword(InteractionView):
    """POST a new password, after the code was verified."""

    takes = {"post": NewPasswordSerializer}
    gives = {"post": None}

    def post(self, request: Request) -> Response:
        """Set a new password, and end every session of the account."""
        fields, _ = self.sent(request)
        reset_password.choose(**fields, browser=self.browser(request))
        return Response(None, headers={"Cache-Control": "no-store"})


def _bound(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what a code is bound to, as the journeys call it."""
    return {
        "purpose": Purpose(fields["interaction_type"]),
        "kind": Kind(fields["identifier_type"]),
        "identifier": fields["identifier"],
    }


def _signed_in(request: Request, signed_in: SignedIn) -> Response:
    response = _next(signed_in.redirect_to)
    cookies.set_sign_in(request._request, response, signed_in.user, signed_in.session_token)  # noqa: SLF001
    return response


def _next(redirect_to: str) -> Response:
    return Response({"redirect_to": redirect_to}, headers={"Cache-Control": "no-store"})
