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
from audit.typed import keys_of
from database import ids

_COLUMNS = ("id", "key", "payload", "user_id", "application_id", "ip", "user_agent", "created_at")
_FILTERS = ("key", "user_id", "application_id", "request_id", "identifier", "start_time", "end_time")


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


class EntryQuerySerializer(serializers.Serializer[Any]):
    """What the log can be narrowed by, for the API's documentation."""

    key = serializers.CharField(required=False)
    user_id = serializers.CharField(required=False)
    application_id = serializers.CharField(required=False)
    request_id = serializers.CharField(
        required=False, help_text="X-Request-Id of an answer, the reference of an error page"
    )
    identifier = serializers.CharField(
        required=False,
        help_text="A username, email or phone that was typed to sign in, whether or not it names somebody",
    )
    start_time = serializers.DateTimeField(required=False)
    end_time = serializers.DateTimeField(required=False)
    tenant_id = serializers.CharField(required=False)


class EntryViewSet(GenericViewSet[Entry]):
    """The entries of the tenant, newest first."""

    serializer_class = EntrySerializer
    queries = {"list": EntryQuerySerializer}
    thing = "log entry"
    exact: ClassVar[tuple[str, ...]] = ("key", "user_id", "application_id")
    narrowing: set[str]

    def get_queryset(self) -> EntryQuerySet:
        """Return the entries of the tenant of this request."""
        entries = Entry.objects.filter(tenant_id=self._tenant_id()).visible_to(self.request.user)
        return entries.order_by("-created_at", "-id")

    def list(self, request: Request) -> Response:
        """Answer with a page; ``start_time`` counts in, ``end_time`` does not."""
        given = request.query_params
        self.narrowing = {name for name in _FILTERS if given.get(name)}
        entries = self.get_queryset().filter(**{n: given[n] for n in self.exact if given.get(n)})
        if reference := given.get("request_id"):
            entries = entries.of_request(reference)
        if identifier := given.get("identifier"):
            entries = entries.filter(identifier_key__in=keys_of(identifier))
        if start := self._time("start_time"):
            entries = entries.filter(created_at__gte=start)
        if end := self._time("end_time"):
            entries = entries.filter(created_at__lt=end)
        return self.get_paginated_response(self.paginate_queryset(entries.values(*_COLUMNS)))

    def total(self, entries: QuerySet[Any]) -> int | None:
        """Count what a filter leaves; two filters leave few, which are counted as they are found."""
        if not self.narrowing:
            return counting.total_of(self._tenant_id(), hidden=hidden_from(self.request.user))
        return None if self.narrowing >= {"key", "application_id"} else entries.count()

    def nearer(self, entries: QuerySet[Any], skipped: int, total: int) -> tuple[QuerySet[Any], int] | None:
        """Return a later part of the list, and how many of it to skip instead, if they are known."""
        if self.narrowing:
            return None
        hidden = hidden_from(self.request.user)
        found = counting.nearest(self._tenant_id(), skipped, total, hidden=hidden)
        return found and (entries.filter(created_at__lt=found[0]), found[1])

    def retrieve(self, request: Request, pk: str) -> Response:
        """Answer with one entry."""
        row = None
        if (entry := ids.parse(pk)) is not None:
            row = self.get_queryset().filter(pk=entry).values(*_COLUMNS).first()
        if row is None:
            raise NotFound("log entry not found")
        return Response(row)

    def _tenant_id(self) -> str:
        """Return whose entries are meant: superusers may name any tenant, deleted ones too."""
        named = self.request.query_params.get("tenant_id")
        if named and "\0" not in named and getattr(self.request.user, "is_superuser", False):
            return named
        return context.current().tenant_id

    def _time(self, name: str) -> datetime | None:
        text = self.request.query_params.get(name)
        if text is None:
            return None
        try:
            moment = parse_datetime(text)
            if moment is not None:
                # PostgreSQL knows no offset of 16 hours and more.
                return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            pass
        raise ValidationError({name: "must be an ISO 8601 time, as in 2030-01-31T12:00:00Z"})
