"""Passkeys as JSON: the options of a ceremony, and its answer."""

from dataclasses import replace

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from audit import context
from identity.factors.challenges import Ceremony
from identity.sessions import cookies
from identity.sessions.models import Session
from identity.users.hashing_views import hashes_password
from interaction.api.passkey_serializers import (
    PasskeyChallengeSerializer,
    PasskeyOptionsSerializer,
    PasskeySerializer,
)
from interaction.api.second_factor import SecondFactorView
from interaction.api.second_factor_serializers import SignedInSerializer
from interaction.api.views import respond_to_sign_in
from interaction.journeys.passkeys import steps
from interaction.journeys.second_factor import backup, browser_cookies
from interaction.journeys.second_factor.session_proofs import Renewed


class PasskeyOptions(SecondFactorView):
    """Beginning a ceremony."""

    request_serializers = {"post": PasskeyOptionsSerializer}
    response_serializers = {"post": PasskeyChallengeSerializer}

    def post(self, request: Request) -> Response:
        """Get the options to use or to create a passkey. They are valid for ten minutes in this browser."""
        fields, visit = self.read(request)
        response = Response()
        if not visit.browser:
            visit = replace(visit, browser=cookies.new_browser(response))
        ceremony = Ceremony(fields["ceremony"])
        response.data = {"public_key": steps.get_options(visit, ceremony=ceremony)}
        return response


@hashes_password(field="password")
class VerifyPasskey(SecondFactorView):
    """The answer of a ceremony."""

    request_serializers = {"post": PasskeySerializer}
    response_serializers = {"post": SignedInSerializer}

    def post(self, request: Request) -> Response:
        """Sign in with a passkey, complete a sign-in, set a passkey up, or confirm the identity."""
        fields, visit = self.read(request)
        ceremony = Ceremony(fields.pop("ceremony"))
        if visit.current is not None and ceremony is not Ceremony.SIGN_IN:
            context.set_actor(user_id=str(visit.current.user_id))
        result = steps.verify(visit, ceremony=ceremony, **fields)
        if not isinstance(result, Renewed):
            return respond_to_sign_in(request, result)
        response = Response({"redirect_to": _get_next_url(visit.current, ceremony)})
        browser_cookies.set_renewed(request, response, result)
        return response


def _get_next_url(session: Session | None, ceremony: Ceremony) -> str:
    """Return the account page to show after a ceremony: that of backup codes if the user needs some."""
    if not ceremony.is_registration:
        return reverse("pages:account-security")
    if session is not None and backup.should_offer(session):
        return f"{reverse('pages:account-backup-codes')}?done=passkey"
    return reverse("pages:account-passkeys")
