"""The operations on organizations and members on the operators' site."""

from typing import Any, Final

from database import ids
from identity.core.errors import Invalid
from identity.operator_kit.operations import Done, Order, checked
from identity.organizations import services
from identity.organizations.serializers import MemberSerializer
from identity.users.models import User

_MAX_NEW_MEMBERS: Final = 200


def initial_values(form: Any) -> Any:
    """Return a function that reads the initial values of a form from a row."""
    return lambda row: {name: getattr(row, name) for name in form.base_fields}


def remove(order: Order) -> str:
    services.remove(order.row, expected=order.expected)
    return "The organization is deleted."


def add_members(order: Order) -> str:
    lines = [line.strip() for line in order.fields["user_ids"].splitlines() if line.strip()]
    if len(lines) > _MAX_NEW_MEMBERS:
        raise Invalid("user_ids", f"at most {_MAX_NEW_MEMBERS} at once")
    user_ids = set(map(_find_user_id, lines))
    services.add_members(order.row.pk, sorted(user_ids))
    return f"Members added: {len(user_ids)}."


def _find_user_id(text: str) -> str:
    """Return the id of the user with this id or identifier.

    Raises:
        Invalid: no user has it.

    """
    pk = ids.parse(text)
    users = User.objects.filter(pk=pk) if pk else User.objects.find_by_identifier(text)
    if (found := users.values_list("pk", flat=True).first()) is None:
        raise Invalid("user_ids", f"no user has the id, username, email or phone {text[:100]}")
    return str(found)


def change_member(order: Order) -> str:
    fields = checked(MemberSerializer, order.fields)
    services.change_member(order.row, is_admin=fields["is_admin"], expected=order.expected)
    return "The member is changed."


def remove_member(order: Order) -> Done:
    services.remove_member(order.row, expected=order.expected)
    return Done("The member is removed.", order.row.organization)


def set_roles(order: Order) -> str:
    services.set_member_roles(order.row, order.fields["organization_role_ids"], expected=order.expected)
    return "The roles of the member are changed."
