"""The sessions and refresh tokens of the signed-in user, for a company's own account pages."""

from typing import Any, ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from audit import context
from identity.rest.viewsets import Row
from identity.sessions import cookies
from identity.sessions.models import Session
from identity.sessions.viewsets import UserSessions
from identity.users.models import User
from identity.users.viewsets import UserRows
from interaction.api.permissions import SameOrigin
from interaction.api.serializers import OwnSessionSerializer
from interaction.api.trusted_devices import UserTrustedDevices
from interaction.journeys.second_factor import reauthentication
from interaction.journeys.second_factor.reauthentication import NotSignedIn
from oidc.grants import revocations
from oidc.grants.viewsets import UserGrants


class OwnRows(UserRows):
    """Rows of the user of the browser's session, for same-origin pages."""

    authentication_classes = ()
    permission_classes = (SameOrigin,)
    needs_session = True
    session: Session

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the browser's session, which names the user.

        Raises:
            NotSignedIn: the browser has no live session.

        """
        super().initial(request, *args, **kwargs)
        session = cookies.current_session(request)
        if session is None:
            raise NotSignedIn
        self.session = session
        context.set_actor(user_id=str(session.user_id))

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return the response, which browsers do not store."""
        response: Response = super().finalize_response(*args, **kwargs)
        response.setdefault("Cache-Control", "no-store")
        return response

    def pk(self) -> UUID:
        """Return the id of the signed-in user."""
        return self.session.user_id

    def get_user(self) -> User:
        """Return the signed-in user."""
        return self.session.user


class OwnSessions(OwnRows, UserSessions):
    """The sessions of the signed-in user."""

    serializer_class = OwnSessionSerializer

    def to_representation(self, row: Row) -> Row:
        """Return a session, and whether it is that of this browser."""
        return {**super().to_representation(row), "is_current": row["id"] == self.session.pk}


class OwnTrustedDevices(OwnRows, UserTrustedDevices):
    """The browsers in which the signed-in user is not asked for a second factor."""

    def destroy(self, request: Request, device_pk: str, **_: Any) -> Response:
        """Forget a browser. It needs a second factor that was proven within `CONFIRM_SECONDS`."""
        reauthentication.check_factor(self.session)
        return super().destroy(request, device_pk)

    def destroy_all(self, request: Request, **_: Any) -> Response:
        """Forget all browsers. It needs a second factor that was proven within `CONFIRM_SECONDS`."""
        reauthentication.check_factor(self.session)
        return super().destroy_all(request)


class OwnGrants(OwnRows, UserGrants):
    """The refresh tokens of the signed-in user."""

    end_reason: ClassVar[str] = revocations.BY_USER
