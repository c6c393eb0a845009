"""/logs: the audit log, read-only."""

from datetime import UTC, datetime
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils.dateparse import parse_datetime
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from audit import context, counting
from audit.administrative import hidden_from
from audit.models import Entry, EntryQuerySet
from audit.typed_identifiers import find_keys, find_subject
from database import ids

_COLUMNS = ("id", "key", "payload", "user_id", "application_id", "ip", "user_agent", "created_at")
_FILTERS = ("key", "user_id", "application_id", "request_id", "who", "identifier", "start_time", "end_time")
_NOT_A_TIME = "must be an ISO 8601 time, as in 2030-01-31T12:00:00Z"


class EntrySerializer(serializers.Serializer[Entry]):
    """An audit entry."""

    id = serializers.UUIDField()
    key = serializers.CharField()
    payload = serializers.DictField()
    user_id = serializers.CharField(allow_null=True)
    application_id = serializers.CharField(allow_null=True)
    ip = serializers.CharField()
    user_agent = serializers.CharField()
    created_at = serializers.DateTimeField()


class TimeParameter(serializers.CharField):
    """A time in the query string."""

    def to_internal_value(self, data: Any) -> str:
        if _parse(text := str(data)) is None:
            raise serializers.ValidationError(_NOT_A_TIME)
        return text


class EntryQuerySerializer(serializers.Serializer[Any]):
    """The filters of the log, for the OpenAPI document and for the errors about all of them."""

    key = serializers.CharField(required=False)
    user_id = serializers.CharField(required=False)
    application_id = serializers.CharField(required=False)
    request_id = serializers.CharField(
        required=False, help_text="The `X-Request-Id` of a response, which error pages show as the reference"
    )
    identifier = serializers.CharField(
        required=False,
        help_text="A username, email or phone as typed at sign-in, even if no user has it",
    )
    who = serializers.CharField(
        required=False,
        help_text="Only entries about one user, who is named by id, username, email or phone: what the user "
        "did, failed attempts with any of the user's identifiers, and changes to the user and to the user's "
        "roles and memberships. If nobody has the identifier, only attempts with it",
    )
    start_time = TimeParameter(required=False)
    end_time = TimeParameter(required=False)
    tenant_id = serializers.CharField(required=False)


class TenantQuerySerializer(serializers.Serializer[Any]):
    """The query of one entry, for the OpenAPI document."""

    tenant_id = serializers.CharField(required=False)


class EntryViewSet(GenericViewSet[Entry]):
    """Audit entries, newest first."""

    serializer_class = EntrySerializer
    queries = {"list": EntryQuerySerializer, "retrieve": TenantQuerySerializer}
    resource_name = "log entry"
    exact: ClassVar[tuple[str, ...]] = ("key", "user_id", "application_id")
    active_filters: set[str]

    def get_queryset(self) -> EntryQuerySet:
        """Return the entries of the tenant of this request."""
        entries = Entry.objects.filter(tenant_id=self._tenant_id()).visible_to(self.request.user)
        return entries.order_by("-created_at", "-id")

    def list(self, request: Request) -> Response:
        """Return a page; ``start_time`` is included, ``end_time`` is not."""
        query = request.query_params
        self.active_filters = {name for name in _FILTERS if query.get(name)}
        entries = self.get_queryset().filter(**{n: query[n] for n in self.exact if query.get(n)})
        if reference := query.get("request_id"):
            entries = entries.of_request(reference)
        if identifier := query.get("identifier"):
            entries = entries.filter(identifier_key__in=find_keys(identifier, self._tenant_id()))
        if who := query.get("who"):
            entries = entries.of_subject(find_subject(who, self._tenant_id()))
        if start := self._time("start_time"):
            entries = entries.filter(created_at__gte=start)
        if end := self._time("end_time"):
            entries = entries.filter(created_at__lt=end)
        return self.get_paginated_response(self.paginate_queryset(entries.values(*_COLUMNS)))

    def total(self, entries: QuerySet[Any]) -> int | None:
        """Return the number of entries, or None if the query of the page should count the entries, too.

        One query for both is faster if the filters match few entries.
        """
        if not self.active_filters:
            return counting.count_entries(self._tenant_id(), hidden=hidden_from(self.request.user))
        return None if self.active_filters >= {"key", "application_id"} else entries.count()

    def seek_hint(self, entries: QuerySet[Any], skipped: int, total: int) -> tuple[QuerySet[Any], int] | None:
        """Return the older part of the list, which has the page, and the number of rows to skip there."""
        if self.active_filters:
            return None
        hidden = hidden_from(self.request.user)
        start = counting.find_page_start(self._tenant_id(), skipped, total, hidden=hidden)
        return start and (entries.filter(created_at__lt=start[0]), start[1])

    def retrieve(self, request: Request, pk: str) -> Response:
        """Return an entry."""
        row = None
        if (entry_id := ids.parse(pk)) is not None:
            row = self.get_queryset().filter(pk=entry_id).values(*_COLUMNS).first()
        if row is None:
            raise NotFound("log entry not found")
        return Response(row)

    def _tenant_id(self) -> str:
        """Return the tenant of the entries. Superusers may name any tenant, including deleted ones."""
        named = self.request.query_params.get("tenant_id")
        if named and "\0" not in named and getattr(self.request.user, "is_superuser", False):
            return named
        return context.current().tenant_id

    def _time(self, name: str) -> datetime | None:
        text = self.request.query_params.get(name)
        if text is None:
            return None
        moment = _parse(text)
        if moment is None:
            raise ValidationError({name: _NOT_A_TIME})
        return moment


def _parse(text: str) -> datetime | None:
    """Return the time that a parameter names, or None if it is not a time."""
    try:
        moment = parse_datetime(text)
        # PostgreSQL accepts no offset of 16 hours or more.
        return moment and (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
