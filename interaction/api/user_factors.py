"""The second factors of users, for administrators and applications."""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from identity.core.errors import ServiceError
from identity.factors import services, settings_of_users
from identity.factors.settings_of_users import Settings
from identity.rest.etags import check_unversioned, etag, expected_versions
from identity.rest.viewsets import TenantViewSet
from identity.users.models import User
from interaction.api.user_factors_serializers import (
    CreatedUserFactorSerializer,
    NewRecoveryCodeSerializer,
    NewUserFactorSerializer,
    RecoveryCodeSerializer,
    UserFactorSerializer,
    UserFactorSettingsSerializer,
)
from interaction.journeys import user_factors


class RecentSignInNeeded(ServiceError):
    """Changing the factors of a user needs a recent sign-in of the administrator."""

    status = 403
    reason = "proof_needed"
    message = f"sign in again: this needs a token that is at most {settings.CONFIRM_SECONDS} seconds old"


class UserFactors(TenantViewSet):
    """The second factors of a user."""

    model = User
    resource_name = "user"
    pagination_class = None  # a user has few
    serializer_class = UserFactorSerializer
    request_serializers = {"create": NewUserFactorSerializer}
    response_serializers = {
        "create": CreatedUserFactorSerializer,
        "destroy": None,
        "destroy_all": None,
    }

    def list(self, request: Request, **_: Any) -> Response:
        """Return the second factors of a user."""
        factors = user_factors.get_factors(self.get_object())
        return Response([UserFactorSerializer(factor).data for factor in factors])

    def create(self, request: Request, **_: Any) -> Response:
        """Set up a factor for a user. Only this response contains its secret or codes."""
        user = self.get_object()
        _check_recent(request)
        serializer = NewUserFactorSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = dict(serializer.validated_data)
        created = user_factors.create(user, factor=fields.pop("type"), **fields)
        return Response(created, headers={"Cache-Control": "no-store"})

    def destroy(self, request: Request, factor_pk: str, **_: Any) -> Response:
        """Remove one factor of a user."""
        user = self.get_object()
        check_unversioned(request)
        _check_recent(request)
        user_factors.remove(user, factor_pk)
        return Response(None)

    def destroy_all(self, request: Request, **_: Any) -> Response:
        """Remove all factors of a user. Sessions, codes and refresh tokens end."""
        user = self.get_object()
        check_unversioned(request)
        _check_recent(request)
        services.reset(user)
        return Response(None)


class UserRecoveryCodes(TenantViewSet):
    """Recovery codes for a user who lost all factors."""

    model = User
    resource_name = "user"
    request_serializers = {"create": NewRecoveryCodeSerializer}
    optional_bodies = frozenset({"create"})
    response_serializers = {"create": RecoveryCodeSerializer}

    def create(self, request: Request, **_: Any) -> Response:
        """Create a recovery code, which replaces an earlier one. Only this response contains it."""
        user = self.get_object()
        _check_recent(request)
        serializer = NewRecoveryCodeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        seconds = serializer.validated_data["expires_in"]
        code, expires_at = user_factors.issue_recovery_code(user, seconds=seconds)
        created = RecoveryCodeSerializer({"code": code, "expires_at": expires_at}).data
        return Response(created, headers={"Cache-Control": "no-store"})


class UserFactorSettings(TenantViewSet):
    """Whether a user is asked for a second factor."""

    model = User
    resource_name = "user"
    serializer_class = UserFactorSettingsSerializer
    etag_actions = frozenset({"retrieve", "partial_update"})
    if_match_actions = frozenset({"partial_update"})

    def retrieve(self, request: Request, **_: Any) -> Response:
        """Return whether a user is asked for a second factor."""
        user = self.get_object()
        return respond_with_settings(user, settings_of_users.get(user))

    def partial_update(self, request: Request, **_: Any) -> Response:
        """Change whether a user is asked for a second factor although no policy asks."""
        user = self.get_object()
        expected = expected_versions(request, user.pk)
        is_on = read_two_step(request)
        if is_on is False:
            _check_recent(request)
        user_factors.switch_two_step(user, is_on=is_on, expected=expected)
        return respond_with_settings(user, settings_of_users.read(user))


def read_two_step(request: Request) -> bool | None:
    """Return whether a request switches the second step on; None if it does not say."""
    serializer = UserFactorSettingsSerializer(data=request.data, partial=True)
    serializer.is_valid(raise_exception=True)
    is_on: bool | None = serializer.validated_data.get("two_step")
    return is_on


def respond_with_settings(user: User, settings: Settings) -> Response:
    """Respond with the settings of a user's second factors, and the tag of the user's version."""
    return Response(
        UserFactorSettingsSerializer(settings).data, headers={"ETag": etag(user.pk, settings.version)}
    )


def _check_recent(request: Request) -> None:
    """Check that an administrator signed in within ``CONFIRM_SECONDS``. Applications have no sign-in.

    Raises:
        RecentSignInNeeded: the sign-in is more than ``CONFIRM_SECONDS`` ago.

    """
    caller: Any = request.user
    if not caller.has_recent_proof:
        raise RecentSignInNeeded
