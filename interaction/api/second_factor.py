"""The second step of a sign-in as JSON, for a company's own sign-in front end."""

from typing import Any, ClassVar

from django.utils import translation
from rest_framework.request import Request
from rest_framework.response import Response

from identity.factors.kinds import FactorType
from interaction.api.permissions import SameOrigin
from interaction.api.second_factor_serializers import (
    BackupCodesSerializer,
    EnrolledCodeSerializer,
    EnrolmentSerializer,
    FactorCodeSerializer,
    NextStepSerializer,
    RecoveryCodeSerializer,
    SendFactorCodeSerializer,
    SentFactorCodeSerializer,
    SignedInSerializer,
)
from interaction.api.serializers import CodeSentSerializer, InteractionSerializer, NextSerializer
from interaction.api.views import InteractionView, respond_to_sign_in
from interaction.journeys import languages, sign_in_or_session
from interaction.journeys.second_factor import (
    backup,
    current_step,
    leaving,
    next_step,
    recovering,
    setting_up,
    verifying,
    visits,
)
from interaction.journeys.second_factor.current_step import SecondStep
from interaction.journeys.second_factor.reauthentication import NotSignedIn
from interaction.journeys.second_factor.sign_ins import Visit


class SecondFactorView(InteractionView):
    """One route of the second step. ``factor`` is the factor that the route proves, if it proves one."""

    factor: ClassVar[FactorType | None] = None

    def read(self, request: Request) -> tuple[dict[str, Any], Visit]:
        """Return the validated fields of the body, and the browser with its pending sign-in."""
        fields = self.read_body(request)
        return fields, visits.find(request, fields.pop("interaction"), self.factor)

    def read_step(self, request: Request) -> tuple[dict[str, Any], SecondStep]:
        """Return the validated fields of the body, and what the browser has to prove."""
        fields, visit = self.read(request)
        return fields, current_step.find(visit)

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return the response, which browsers do not store."""
        response: Response = super().finalize_response(*args, **kwargs)
        response.setdefault("Cache-Control", "no-store")
        return response


class NextStep(SecondFactorView):
    """What this browser has to do next."""

    queries = {"get": InteractionSerializer}
    response_serializers = {"get": NextStepSerializer}
    permission_classes = (SameOrigin,)

    def get(self, request: Request) -> Response:
        """Get the next step of the sign-in."""
        query = InteractionSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        visit = visits.find(request, query.validated_data["interaction"])
        return Response(next_step.find_next(visit))


class _Code(SecondFactorView):
    """A code of a factor that sends nothing."""

    request_serializers = {"post": FactorCodeSerializer}
    response_serializers = {"post": SignedInSerializer}
    factor: ClassVar[FactorType]

    def post(self, request: Request) -> Response:
        fields, step = self.read_step(request)
        result = verifying.verify(step, factor=self.factor, **fields)
        return respond_to_sign_in(request, result)


class Totp(_Code):
    """The code of an authenticator."""

    factor = FactorType.TOTP

    def post(self, request: Request) -> Response:
        """Finish the sign-in with a code of an authenticator."""
        return super().post(request)


class BackupCode(_Code):
    """A backup code."""

    factor = FactorType.BACKUP_CODE

    def post(self, request: Request) -> Response:
        """Finish the sign-in with a backup code, which is used up."""
        return super().post(request)


class RecoveryCode(SecondFactorView):
    """A recovery code of an administrator."""

    request_serializers = {"post": RecoveryCodeSerializer}
    response_serializers = {"post": SignedInSerializer}

    def post(self, request: Request) -> Response:
        """Use a recovery code, after which a new factor has to be set up.

        With `identifier` it is the first factor, for users without a password and an address.
        """
        fields, visit = self.read(request)
        if fields["identifier"]:
            result = recovering.sign_in(visit, identifier=fields["identifier"], code=fields["code"])
        else:
            result = verifying.redeem_recovery_code(current_step.find(visit), code=fields["code"])
        return respond_to_sign_in(request, result)


class SendFactorCode(SecondFactorView):
    """Sending a code as the second factor."""

    request_serializers = {"post": SendFactorCodeSerializer}
    response_serializers = {"post": CodeSentSerializer}

    def post(self, request: Request) -> Response:
        """Send a code to the verified address of the account: for a sign-in, or for a confirmation."""
        fields, visit = self.read(request)
        # Responses are in English, but the message is for the user.
        with translation.override(languages.get_journey_language(request, visit.pending)):
            seconds = sign_in_or_session.send_code(visit, factor=FactorType(fields["type"]))
        return Response({"expires_in": seconds})


class VerifyFactorCode(SecondFactorView):
    """Entering a code that was sent as the second factor."""

    request_serializers = {"post": SentFactorCodeSerializer}
    response_serializers = {"post": SignedInSerializer}

    def post(self, request: Request) -> Response:
        """Finish the sign-in with a code that was sent."""
        fields, step = self.read_step(request)
        result = verifying.verify(step, factor=FactorType(fields.pop("type")), **fields)
        return respond_to_sign_in(request, result)


class Skip(SecondFactorView):
    """Going on without a second factor."""

    request_serializers = {"post": InteractionSerializer}
    response_serializers = {"post": SignedInSerializer}

    def post(self, request: Request) -> Response:
        """Decline to set up a second factor, if the tenant only offers it."""
        _, step = self.read_step(request)
        return respond_to_sign_in(request, leaving.skip(step))


class Cancel(SecondFactorView):
    """Giving up a sign-in that the application demands."""

    request_serializers = {"post": InteractionSerializer}
    response_serializers = {"post": NextSerializer}

    def post(self, request: Request) -> Response:
        """Return to the application, which gets the error `unmet_authentication_requirements`.

        A third-party application without the user's consent gets `access_denied`.
        """
        _, step = self.read_step(request)
        return Response({"redirect_to": leaving.cancel(step)})


class SetUpTotp(SecondFactorView):
    """Beginning to set up an authenticator."""

    request_serializers = {"post": InteractionSerializer}
    response_serializers = {"post": EnrolmentSerializer}

    def post(self, request: Request) -> Response:
        """Get a secret for an authenticator: for a sign-in that needs one, or for the signed-in user."""
        _, visit = self.read(request)
        return Response(EnrolmentSerializer(sign_in_or_session.begin_totp(visit)).data)


class VerifySetUpTotp(SecondFactorView):
    """Setting up an authenticator."""

    request_serializers = {"post": EnrolledCodeSerializer}
    response_serializers = {"post": SignedInSerializer}

    def post(self, request: Request) -> Response:
        """Set up an authenticator with one of its codes, and finish the sign-in."""
        fields, step = self.read_step(request)
        return respond_to_sign_in(request, setting_up.confirm_totp(step, **fields))


class SetUpBackupCodes(SecondFactorView):
    """Making backup codes right after another factor was set up."""

    request_serializers = {"post": InteractionSerializer}
    response_serializers = {"post": BackupCodesSerializer}

    def post(self, request: Request) -> Response:
        """Make new backup codes, which end the old ones. They are shown only this once."""
        _, visit = self.read(request)
        if visit.current is None:
            raise NotSignedIn
        codes = backup.renew_if_due(visit.current)
        return Response({"codes": codes, "redirect_to": visit.next_url})
