"""The browsers in which a user is not asked for a second factor."""

from typing import Any

from django.db.models import F, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from identity.factors import browsers, forgetting
from identity.factors.models import KnownBrowser
from identity.rest.etags import check_unversioned
from identity.rest.fields import Timestamp
from identity.rest.viewsets import Row
from identity.users.viewsets import UserRows
from interaction.experience import services as experiences


class TrustedDeviceSerializer(serializers.Serializer[Any]):
    """A browser in which a user is not asked for a second factor."""

    id = serializers.UUIDField()
    name = serializers.CharField(help_text="Browser and system, such as `Firefox on Windows`")
    ip = serializers.CharField(help_text="The address of the last sign-in")
    first_seen_at = Timestamp()
    last_seen_at = Timestamp()
    remembered_until = Timestamp()


class UserTrustedDevices(UserRows):
    """The browsers in which a user is not asked for a second factor."""

    model = KnownBrowser
    serializer_class = TrustedDeviceSerializer
    computed = {"name": F("label")}
    columns = ("id", "name", "ip", "first_seen_at", "last_seen_at", "remembered_until")

    def get_queryset(self) -> QuerySet[Any]:
        """Return the browsers of the user, the last used first."""
        return browsers.get_remembered(self.get_user(), experiences.current().trusted_devices)

    def to_representation(self, row: Row) -> Row:
        """Return a browser. It has no version."""
        return {name: row[name] for name in self.columns}

    def destroy(self, request: Request, device_pk: str, **_: Any) -> Response:
        """Forget a browser: the next sign-in in it asks for the second factor."""
        user = self.get_user()
        check_unversioned(request)
        forgetting.forget(user, device_pk)
        return Response(None)

    def destroy_all(self, request: Request, **_: Any) -> Response:
        """Forget all browsers of a user, also those in which the user has merely signed in."""
        user = self.get_user()
        check_unversioned(request)
        forgetting.forget_all(user)
        return Response(None)
