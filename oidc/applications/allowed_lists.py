"""The lists of who may use an application: ``allowed_role_ids`` and ``allowed_organization_ids``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop

from database import ids
from database.list_parameters import among
from identity.core.errors import Invalid
from identity.core.links import insert_links
from identity.core.records import UnknownIds
from identity.core.refusal_texts import fill
from identity.organizations.models import Organization
from identity.roles.models import Role
from identity.tenants import services as tenants
from oidc.applications.models import AllowedOrganization, AllowedRole, Application


@dataclass(frozen=True, slots=True)
class _List:
    """A list: its name in the API, its links, and the condition on the rows that it may have."""

    field: str
    link: Any  # a model of links from applications
    item: str
    condition: Q


_LISTS: Final = (
    _List("allowed_role_ids", AllowedRole, "role", Q(type=Role.Type.USER)),
    _List("allowed_organization_ids", AllowedOrganization, "organization", Q()),
)
FIELDS: Final = tuple(each.field for each in _LISTS)


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists that a request sent, by field, and whether the application will be restricted."""

    sent: Mapping[str, list[UUID]]
    is_restricted: bool

    @property
    def facts(self) -> dict[str, list[str]]:
        """The lists for the audit entry."""
        return {field: [str(pk) for pk in pks[:100]] for field, pks in self.sent.items()}


def resolve(application: Application, fields: Mapping[str, Any]) -> Lists:
    """Return the lists among the fields of a request. If it has one, lock all lists.

    Raises:
        UnknownIds: an id is not of this tenant, or not of a role for users.
        Invalid: the application is a machine application, or nobody could use it any more.

    """
    sent = {each: fields[each.field] for each in _LISTS if each.field in fields}
    if not sent:
        return Lists({}, is_restricted=application.is_restricted)
    for each, texts in sent.items():
        _check_type(each, texts, application.type)
    tenants.lock()  # see ``access``
    found = {each.field: _find(each, texts) for each, texts in sent.items()}
    if any(found.values()):
        return Lists(found, is_restricted=True)
    if len(sent) == len(_LISTS) or not _is_restricted(application):
        return Lists(found, is_restricted=False)
    kept = next(each for each in _LISTS if each not in sent)
    if not kept.link.objects.filter(application=application).exists():
        message = gettext_noop(
            "nobody could use the application: to let everybody use it, send %(field)s empty as well"
        )
        rule = fill(message, field=kept.field)
        raise Invalid(next(iter(found)), rule, code="conflict")
    return Lists(found, is_restricted=True)


def check(field: str, texts: list[str], application_type: str) -> None:
    """Check one of the lists of a request.

    Raises:
        UnknownIds: an id is not of this tenant, or not of a role for users.
        Invalid: it is a list of a machine application.

    """
    allowed = next(each for each in _LISTS if each.field == field)
    _check_type(allowed, texts, application_type)
    _find(allowed, texts)


def _check_type(allowed: _List, texts: list[str], application_type: str) -> None:
    if texts and application_type == Application.Type.MACHINE:
        rule = gettext_noop("must be empty for MachineToMachine, which has no users")
        raise Invalid(allowed.field, rule, code="conflict")


def without(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request except the lists."""
    return {name: value for name, value in fields.items() if name not in FIELDS}


def _is_restricted(application: Application) -> bool:
    """Return whether an application is restricted now. The caller's row may be older than the lock."""
    return Application.objects.filter(pk=application.pk, is_restricted=True).exists()


def _find(allowed: _List, texts: Iterable[str]) -> list[UUID]:
    """Return the ids of rows that a list may have.

    Raises:
        UnknownIds: another id is among them.

    """
    parsed = {text: ids.parse(text) for text in dict.fromkeys(texts)}
    items: Any = allowed.link._meta.get_field(allowed.item).related_model
    rows = items.objects.filter(among("pk", [pk for pk in parsed.values() if pk]), allowed.condition)
    found = set(rows.values_list("pk", flat=True)) if parsed else set()
    if unknown := [text for text, pk in parsed.items() if pk not in found]:
        raise UnknownIds(allowed.field, unknown)
    return sorted(found)


def are_changed(application: Application, lists: Lists) -> bool:
    """Return whether a list that was sent differs from the stored one. The caller has locked the lists."""
    for each in _LISTS:
        links = each.link.objects.filter(application=application)
        if each.field in lists.sent and set(links.values_list(f"{each.item}_id", flat=True)) != set(
            lists.sent[each.field]
        ):
            return True
    return False


def save(application: Application, lists: Lists) -> None:
    """Replace the lists that were sent. The caller has locked them with ``resolve``."""
    for each in _LISTS:
        if each.field in lists.sent:
            each.link.objects.filter(application=application).delete()
            insert_links(each.link, "application", application.pk, each.item, lists.sent[each.field])


def add_to(rows: list[dict[str, Any]]) -> None:
    """Replace ``is_restricted`` by the lists, in rows of applications. Two queries read all lists."""
    for row in rows:
        row |= {field: [] for field in FIELDS}
    restricted = {row["id"]: row for row in rows if row.pop("is_restricted")}
    for each in _LISTS if restricted else ():
        item = f"{each.item}_id"
        links = each.link.objects.filter(among("application_id", restricted)).order_by(item)
        for application, item_id in links.values_list("application_id", item):
            restricted[application][each.field].append(item_id)


def get_roles(application: Application) -> QuerySet[Role]:
    """Return the roles that may use an application, by name."""
    links = AllowedRole.objects.filter(application=application)
    return Role.objects.filter(pk__in=links.values("role_id")).order_by("name")


def get_organizations(application: Application) -> QuerySet[Organization]:
    """Return the organizations that may use an application, by name."""
    links = AllowedOrganization.objects.filter(application=application)
    return Organization.objects.filter(pk__in=links.values("organization_id")).order_by("name", "pk")


def get_dependent(**item: Role | Organization) -> QuerySet[Application]:
    """Return the applications that allow a ``role`` or an ``organization``, by name."""
    link: Any = AllowedRole if "role" in item else AllowedOrganization
    links = link.objects.filter(**item).values("application_id")
    return Application.objects.filter(pk__in=links).order_by("name", "pk")
