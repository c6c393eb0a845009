"""Names and descriptions of APIs, organizations and their scopes, for pages about consents."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from identity.organizations.models import Organization, OrganizationPermission
from identity.resources.models import Resource, Scope
from oidc.grants import scopes_at_apis
from oidc.grants.models import ConsentTarget


@dataclass(frozen=True, slots=True)
class TargetDescription:
    """The name of an API or organization, and scopes with descriptions; only an API has an ``indicator``.

    ``apis`` are the names of the APIs that the application may use in an organization, with the scopes there
    and their descriptions.
    """

    name: str
    indicator: str
    scopes: list[tuple[str, str]]
    apis: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)


def describe(targets: Iterable[ConsentTarget]) -> dict[UUID, TargetDescription]:
    """Return the descriptions of targets by the ids of their rows, in at most four queries.

    All targets of a consent are described together, because an organization's names those of APIs. A target
    whose API or organization was just deleted is omitted.
    """
    rows = list(targets)
    apis = _describe_apis([row for row in rows if row.resource_id])
    return apis | _describe_organizations([row for row in rows if row.organization_id], apis)


def _describe_apis(rows: list[ConsentTarget]) -> dict[UUID, TargetDescription]:
    wanted = {row.resource_id for row in rows if row.resource_id}
    apis = {api.pk: api for api in Resource.objects.filter(pk__in=wanted)}
    scopes = Scope.objects.filter(resource__in=wanted, name__in=_names(rows))
    texts = {(scope.resource_id, scope.name): scope.description for scope in scopes}
    return {
        row.pk: TargetDescription(
            apis[row.resource_id].name,
            apis[row.resource_id].indicator,
            [(name, texts.get((row.resource_id, name), "")) for name in sorted(row.scopes)],
        )
        for row in rows
        if row.resource_id in apis
    }


def _describe_organizations(
    rows: list[ConsentTarget], apis: dict[UUID, TargetDescription]
) -> dict[UUID, TargetDescription]:
    wanted = {row.organization_id for row in rows if row.organization_id}
    names = dict(Organization.objects.filter(pk__in=wanted).values_list("pk", "name"))
    permissions = OrganizationPermission.objects.filter(name__in=_names(rows))
    texts = dict(permissions.values_list("name", "description"))
    texts_at_apis = {api_target_id: dict(api.scopes) for api_target_id, api in apis.items()}
    return {
        row.pk: TargetDescription(
            names[row.organization_id],
            "",
            [(name, texts.get(name, "")) for name in scopes_at_apis.get_permissions(row.scopes)],
            [
                (api.name, [(name, texts_at_apis[api_target_id].get(name, "")) for name in sorted(found)])
                for api_target_id, api in apis.items()
                if (found := scopes_at_apis.find_names(row.scopes, api_target_id)) is not None
            ],
        )
        for row in rows
        if row.organization_id in names
    }


def _names(rows: list[ConsentTarget]) -> set[str]:
    return {name for row in rows for name in row.scopes}
