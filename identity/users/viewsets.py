"""/users, a user's password and suspension."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from identity.rest.etags import check_unversioned, expected_versions
from identity.rest.filters import by_id
from identity.rest.list_query import BoundListQuery
from identity.rest.viewsets import CrudViewSet, ListMixin, Row
from identity.users import (
    assigned_passwords,
    factor_bits,
    identifiers,
    row_counts,
    services,
    sign_in_locks,
)
from identity.users.models import User
from identity.users.profile import TOP_LEVEL
from identity.users.search import match_users
from identity.users.serializers import (
    PasswordSerializer,
    SuspendedSerializer,
    SuspensionSerializer,
    UserSerializer,
)


def _is_suspended(value: str) -> Q:
    if value not in {"true", "false"}:
        raise ValidationError({"is_suspended": "must be true or false"})
    return Q(is_suspended=value == "true")


def _has_factors(value: str) -> Q:
    if value not in factor_bits.FILTERS:
        raise ValidationError({"mfa": f"must be {', '.join(factor_bits.FILTERS)}"})
    return factor_bits.FILTERS[value]


class UserViewSet(CrudViewSet):
    """Users."""

    model = User
    resource_name = "user"
    serializer_class = UserSerializer
    request_serializers = {"password": PasswordSerializer, "suspend": SuspensionSerializer}
    response_serializers = {"password": None, "suspend": SuspendedSerializer}
    if_match_actions = CrudViewSet.if_match_actions | {"password", "suspend"}
    columns = (
        "id",
        "username",
        "name",
        "email",
        "phone",
        "avatar",
        "profile",
        "custom_data",
        "is_suspended",
        "email_verified",
        "phone_verified",
        "login_count",
        "last_sign_in_at",
        "factors",
        "two_step",
        "created_at",
        "updated_at",
    )
    filters = {
        "search": match_users,
        "username": lambda text: Q(username_key=identifiers.fold(text)),
        "primary_email": lambda text: Q(email_key=identifiers.fold(text)),
        "primary_phone": lambda text: Q(phone_key=identifiers.parse_phone(text)),
        "id": by_id,
        "is_suspended": _is_suspended,
        "mfa": _has_factors,
    }

    def to_representation(self, row: Row) -> Row:
        """Return a row that repeats members of the profile at the top level."""
        shown = super().to_representation(row)
        shown["mfa_factors"] = factor_bits.get_names(shown.pop("factors"))
        return shown | {name: shown["profile"].get(name, "") for name in TOP_LEVEL}

    def total(self, rows: QuerySet[Any] | BoundListQuery) -> int | None:
        """Return the number of users, or None for a search: the query of its page counts, too.

        Without filters, this is the stored number. For the filter ``is_suspended=false`` alone, this is the
        stored number less the number of suspended users. With other filters, the rows are counted.
        """
        match self.query_filters():
            case {"search": _}:
                return None
            case {"is_suspended": "false", **others} if not others:
                return row_counts.count_users() - User.objects.filter(is_suspended=True).count()
            case filters:
                return rows.count() if filters else row_counts.count_users()

    def total_expression(self) -> Any:
        """Return an expression for the stored number of users."""
        return row_counts.user_count_expression()

    def seek_hint(self, users: QuerySet[Any], skipped: int, total: int) -> tuple[QuerySet[Any], int] | None:
        """Return the users of the page's day and before, and how many of them to skip, if known."""
        start = None if self.query_filters() else row_counts.find_page_start(skipped, total)
        return start and (users.filter(created_at__lt=start[0]), start[1])

    def perform_create(self, fields: Row) -> UUID:
        """Create a user."""
        caller: Any = self.request.user
        return services.create(**fields, is_vouched_for=caller.vouches_for_addresses).pk

    def perform_update(self, row: User, fields: Row, expected: frozenset[int] | None) -> None:
        """Change a user. Addresses whose codes are second factors need ``ADMIN_PROOF_SECONDS``."""
        caller: Any = self.request.user
        services.change(row, fields, expected=expected, is_proven=caller.has_signed_in_recently)

    def perform_destroy(self, row: User, expected: frozenset[int] | None) -> None:
        """Delete a user."""
        services.remove(row, expected=expected)

    def password(self, request: Request, pk: str) -> Response:
        """Set the password of a user. Removing passkeys with it needs ``ADMIN_PROOF_SECONDS``."""
        user = self.get_object()
        caller: Any = request.user
        serializer = PasswordSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        assigned_passwords.set_password(
            user,
            fields["password"],
            remove_others=fields["remove_linked_accounts_and_passkeys"],
            expected=expected_versions(request, user.pk),
            is_proven=caller.has_signed_in_recently,
        )
        return Response(None)

    def locks(self, request: Request, pk: str) -> Response:
        """End the locks of a user. Failed sign-ins so far no longer count, whichever identifier was typed.

        The lock of second factors stays if the role of the caller is ``support``, or if the caller signed in
        more than ``ADMIN_PROOF_SECONDS`` ago: otherwise a stolen token could go on guessing codes.
        """
        user = self.get_object()
        check_unversioned(request)
        caller: Any = request.user
        ends_all = caller.ends_second_factor_locks and caller.has_signed_in_recently
        sign_in_locks.end(user, of_second_factors=ends_all)
        return Response(None)

    def suspend(self, request: Request, pk: str) -> Response:
        """Suspend or reactivate a user."""
        user = self.get_object()
        serializer = SuspensionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        change = services.suspend if serializer.validated_data["is_suspended"] else services.reactivate
        change(user, expected=expected_versions(request, user.pk))
        return Response(
            {
                "id": user.pk,
                "username": user.username,
                "is_suspended": user.is_suspended,
                "updated_at": user.updated_at,
            }
        )


class UserRows(ListMixin):
    """Rows of another model that belong to the user in the path. They have no versions."""

    resource_name = "user"

    def list(self, request: Request, *_: Any, **__: Any) -> Response:
        """List rows, newest first."""
        return self.page_response(self.rows())

    def rows(self) -> QuerySet[Any, Row]:
        """Return the rows as dictionaries of the columns."""
        rows: QuerySet[Any, Row] = self.get_queryset().annotate(**self.computed).values(*self.columns)
        return rows

    def get_user(self) -> User:
        """Return the user in the path.

        Raises:
            NotFound: the tenant has no user with this id.

        """
        user = User.objects.filter(pk=self.pk()).first()
        if user is None:
            raise NotFound("user not found")
        return user

    def require_parent(self) -> None:
        """Raise ``NotFound`` if the user does not exist."""
        self.get_user()
