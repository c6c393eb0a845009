"""The sessions of a user, and signing a user out everywhere."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from identity.rest.etags import check_unversioned, expected_versions
from identity.rest.viewsets import Row, TenantViewSet
from identity.sessions import services
from identity.sessions.models import Session
from identity.sessions.serializers import SessionSerializer
from identity.users import sign_out
from identity.users.models import User
from identity.users.viewsets import UserRows


class UserSessions(UserRows):
    """The sessions of a user."""

    model = Session
    serializer_class = SessionSerializer
    columns = ("id", "created_at", "last_used_at", "ip", "user_agent")

    def get_queryset(self) -> QuerySet[Any]:
        """Return the live sessions of the user, newest first."""
        return Session.objects.live().filter(user=self.pk()).order_by("-created_at", "-pk")

    def to_representation(self, row: Row) -> Row:
        """Return a session. It belongs to a browser, and to no application."""
        return {"id": row["id"], "application_id": None, **row}

    def destroy(self, request: Request, session_pk: str, **_: Any) -> Response:
        """End a session. The browser is signed out, and access tokens of the session stop working."""
        user = self.get_user()
        check_unversioned(request)
        services.end_by_id(user, session_pk)
        return Response(None)

    def destroy_all(self, request: Request, **_: Any) -> Response:
        """End all sessions of a user. Applications with refresh tokens keep their access."""
        user = self.get_user()
        check_unversioned(request)
        services.end_all(user)
        return Response(None)


class UserSignOut(TenantViewSet):
    """Signing a user out everywhere."""

    model = User
    resource_name = "user"
    request_serializers = {"sign_out": None}
    response_serializers = {"sign_out": None}
    if_match_actions = frozenset({"sign_out"})

    def sign_out(self, request: Request, **_: Any) -> Response:
        """Sign a user out everywhere. All sessions and refresh tokens end, and remembered browsers."""
        user = self.get_object()
        sign_out.sign_out(user, expected=expected_versions(request, user.pk))
        return Response(None)
