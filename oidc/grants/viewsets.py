"""The refresh tokens of a user, and ending those of an application."""

from typing import Any, ClassVar

from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from rest_framework.request import Request
from rest_framework.response import Response

from identity.rest.etags import check_unversioned
from identity.rest.viewsets import Row, TenantViewSet
from identity.sessions.models import Session
from identity.users.viewsets import UserRows
from oidc.applications.models import Application
from oidc.grants import revocations
from oidc.grants.models import RefreshFamily
from oidc.grants.serializers import GrantSerializer


def _of_session(column: str) -> Coalesce:
    """Return a column of the session in which the user signed in to the application, if it still exists."""
    sessions = Session.objects.filter(pk=OuterRef("session_id"))
    return Coalesce(Subquery(sessions.values(column)[:1]), Value(""))


class UserGrants(UserRows):
    """The refresh tokens of a user."""

    model = RefreshFamily
    serializer_class = GrantSerializer
    columns = ("id", "application_id", "created_at", "rotated_at", "ip", "user_agent")
    end_reason: ClassVar[str] = revocations.BY_ADMINISTRATOR

    def get_queryset(self) -> QuerySet[Any]:
        """Return the families of the user that can be refreshed, newest first."""
        return RefreshFamily.objects.refreshable().filter(user=self.pk()).order_by("-created_at", "-pk")

    def rows(self) -> QuerySet[Any, Row]:
        """Return the families with the address and browser of the sign-in."""
        families = self.get_queryset().annotate(ip=_of_session("ip"), user_agent=_of_session("user_agent"))
        rows: QuerySet[Any, Row] = families.values(*self.columns)
        return rows

    def to_representation(self, row: Row) -> Row:
        """Return a family. It was last used when its token was rotated."""
        return {"last_used_at" if name == "rotated_at" else name: row[name] for name in self.columns}

    def destroy(self, request: Request, grant_pk: str, **_: Any) -> Response:
        """End a refresh token. It and its access tokens stop working at once."""
        user = self.get_user()
        check_unversioned(request)
        revocations.end_by_id(user, grant_pk, reason=self.end_reason)
        return Response(None)

    def destroy_all(self, request: Request, **_: Any) -> Response:
        """End all refresh tokens of a user. They and their access tokens stop working at once."""
        user = self.get_user()
        check_unversioned(request)
        revocations.end_for_user(user, reason=self.end_reason)
        return Response(None)


class ApplicationGrants(TenantViewSet):
    """The refresh tokens of an application."""

    model = Application
    resource_name = "application"

    def destroy_all(self, request: Request, **_: Any) -> Response:
        """End all refresh tokens of an application. All users have to sign in to it again."""
        application = self.get_object()
        check_unversioned(request)
        revocations.end_for_application(application, reason=revocations.BY_ADMINISTRATOR)
        return Response(None)
