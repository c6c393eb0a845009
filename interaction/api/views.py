"""The JSON front door for end users: for a company's own sign-in front end."""

from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from identity.sessions import cookies
from interaction.api.permissions import SameOrigin
from interaction.api.serializers import (
    NextSerializer,
    OfferedExperienceSerializer,
    SignInSerializer,
    SocialConnectorSerializer,
)
from interaction.experience import services as experience
from interaction.journeys import pending, sign_in
from interaction.social import offered


class Experience(APIView):
    """GET what people are offered, and how it looks."""

    gives = {"get": OfferedExperienceSerializer}
    authentication_classes = ()
    permission_classes = (AllowAny,)

    def get(self, request: Request) -> Response:
        """Show what people are offered, and how it looks."""
        shown = OfferedExperienceSerializer(experience.current()).data
        shown["social_connectors"] = SocialConnectorSerializer(offered.all_of_them(), many=True).data
        return Response(shown, headers={"Cache-Control": "no-store"})


class SignIn(APIView):
    """POST identifier and password; get where to go next."""

    takes = {"post": SignInSerializer}
    gives = {"post": NextSerializer}
    authentication_classes = ()
    permission_classes = (SameOrigin,)

    def post(self, request: Request) -> Response:
        """Sign the browser in."""
        sent = SignInSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        credentials = dict(sent.validated_data)
        waiting = pending.find(request._request, credentials.pop("interaction"))  # noqa: SLF001
        signed_in = sign_in.with_password(
            **credentials,
            pending=waiting,
            current=cookies.current_session(request._request),  # noqa: SLF001
        )
        response = Response({"redirect_to": signed_in.redirect_to}, headers={"Cache-Control": "no-store"})
        cookies.remember_session(response, signed_in.session_token)
        return response
