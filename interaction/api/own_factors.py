"""The second factors of the signed-in user as JSON, for a company's own account pages."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from identity.factors import settings_of_users
from identity.rest.etags import check_unversioned, expected_versions
from identity.sessions import cookies
from identity.users.hashing_views import hashes_password
from interaction.api.my_account import OwnRows
from interaction.api.own_factors_serializers import (
    ConfirmSerializer,
    CreatedOwnFactorSerializer,
    FactorNameSerializer,
    NewOwnFactorSerializer,
)
from interaction.api.user_factors import read_two_step, respond_with_settings
from interaction.api.user_factors_serializers import UserFactorSerializer, UserFactorSettingsSerializer
from interaction.journeys import own_factors, user_factors
from interaction.journeys.second_factor import browser_cookies
from interaction.journeys.second_factor.session_proofs import Renewed


class _OwnView(OwnRows):
    """One route of the signed-in user's second factors."""

    pagination_class = None  # a user has few

    def read(self, request: Request) -> dict[str, Any]:
        """Return the validated fields of the body."""
        serializer = self.request_serializers[self.action](data=request.data)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)

    def browser(self, request: Request) -> str:
        """Return the hash of this browser's cookie."""
        return cookies.get_browser(request)

    def set_cookies(self, request: Request, response: Response, renewed: Renewed) -> Response:
        """Give the browser the new secret of its session."""
        browser_cookies.set_renewed(request, response, renewed)
        return response


class OwnFactors(_OwnView):
    """The second factors of the signed-in user."""

    serializer_class = UserFactorSerializer
    request_serializers = {"create": NewOwnFactorSerializer, "partial_update": FactorNameSerializer}
    response_serializers = {"create": CreatedOwnFactorSerializer, "destroy": None}

    def list(self, request: Request, **_: Any) -> Response:
        """Return the second factors of the signed-in user."""
        factors = user_factors.get_factors(self.get_user())
        return Response([UserFactorSerializer(factor).data for factor in factors])

    def create(self, request: Request, **_: Any) -> Response:
        """Set up a factor, or replace the backup codes. Only this response contains the codes."""
        fields = self.read(request)
        created, renewed = own_factors.create(self.session, fields, browser=self.browser(request))
        response = Response(CreatedOwnFactorSerializer(created).data)
        return self.set_cookies(request, response, renewed) if renewed else response

    def partial_update(self, request: Request, factor_pk: str, **_: Any) -> Response:
        """Give a passkey or an authenticator another name."""
        check_unversioned(request)
        name = self.read(request)["name"]
        return Response(UserFactorSerializer(own_factors.rename(self.session, factor_pk, name=name)).data)

    def destroy(self, request: Request, factor_pk: str, **_: Any) -> Response:
        """Remove a factor. The user's other browsers are signed out and, with a passkey, all applications."""
        check_unversioned(request)
        renewed = own_factors.remove(self.session, factor_pk)
        return self.set_cookies(request, Response(None), renewed)


class OwnFactorSettings(_OwnView):
    """Whether the signed-in user is asked for a second factor."""

    serializer_class = UserFactorSettingsSerializer
    request_serializers = {"partial_update": UserFactorSettingsSerializer}
    etag_actions = frozenset({"retrieve", "partial_update"})
    if_match_actions = frozenset({"partial_update"})

    def retrieve(self, request: Request, **_: Any) -> Response:
        """Return whether the signed-in user is asked for a second factor."""
        user = self.get_user()
        return respond_with_settings(user, settings_of_users.get(user))

    def partial_update(self, request: Request, **_: Any) -> Response:
        """Change whether the signed-in user is asked for a second factor although no policy asks."""
        user = self.get_user()
        own_factors.switch_two_step(
            self.session, is_on=read_two_step(request), expected=expected_versions(request, user.pk)
        )
        return respond_with_settings(user, settings_of_users.read(user))


@hashes_password(field="password")
class OwnConfirmation(_OwnView):
    """The proof before a change of factors."""

    request_serializers = {"create": ConfirmSerializer}
    response_serializers = {"create": None}

    def create(self, request: Request, **_: Any) -> Response:
        """Confirm that it is the user. Changes of factors are allowed for `CONFIRM_SECONDS`."""
        renewed = own_factors.confirm(self.session, self.read(request), browser=self.browser(request))
        return self.set_cookies(request, Response(None), renewed)
