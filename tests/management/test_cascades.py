"""The operators' site lists what a deletion takes with it, or there is a reason not to list it."""

from typing import Any, Final

import pytest
from django.contrib.admin import site
from django.db.models import CASCADE, Model

from database import ids
from identity.core import impacts, tenancy
from identity.operator_kit import extensions

# Of a tenant, everything is deleted: the page names what matters, and asks for the name of the tenant.
_EVERYTHING: Final = {"tenants.Tenant"}
_LINK: Final = "a link that says nothing without the row"
_PART: Final = "a part of the row that its page shows"
_SHORT: Final = "lives for minutes, and nobody has it but the browser that is on its way"
# By model, and the dependent model with its foreign key: why nobody has to be told.
REASONS: Final[dict[str, dict[str, str]]] = {
    "administrators.Administrator": {
        "admin.LogEntry.user": "nothing writes to Django's own log",
        "administrators.Administrator_groups.administrator": "groups of Django are not used",
        "administrators.Administrator_tenants.administrator": _PART,
        "administrators.Administrator_user_permissions.administrator": "as groups",
        "administrators.AdministratorPasskey.administrator": _PART,
        "administrators.ProviderAccount.administrator": _PART,
        "administrators.RecoveryCode.administrator": _PART,
    },
    "administrators.Invitation": {"administrators.Invitation_tenants.invitation": _PART},
    "applications.Application": {
        "applications.AllowedOrganization.application": _PART,
        "applications.AllowedRole.application": _PART,
        "applications.ApplicationOrigin.application": _PART,
        "applications.ApplicationRole.application": _PART,
        "applications.ApplicationSecret.application": "the form says that the secret stops working",
        "experience.OwnedPicture.application": _PART,
        "grants.AuthorizationCode.application": _SHORT,
        "grants.AuthorizationRequest.application": _SHORT,
    },
    "applications.OrganizationApplication": {"applications.OrganizationApplicationRole.binding": _PART},
    "keys.SigningKey": {"keys.SigningKeyUsage.key": "statistics of the key"},
    "organizations.Membership": {"organizations.MemberRole.membership": _PART},
    "organizations.Organization": {
        "experience.OwnedPicture.organization": _PART,
        "grants.ConsentTarget.organization": "a consent keeps its other targets, and this one is gone",
    },
    "organizations.OrganizationRole": {
        "organizations.OrganizationRolePermission.role": _LINK,
        "organizations.OrganizationRoleScope.role": _LINK,
    },
    "resources.Resource": {
        "grants.ConsentTarget.resource": "a consent keeps its other targets, and this one is gone",
    },
    "roles.Role": {"roles.RoleScope.role": _LINK},
    "users.User": {
        "grants.AuthorizationCode.user": _SHORT,
        "pending_sign_ins.PendingSignIn.user": _SHORT,
        "factors.BackupCode.user": "the factors that the codes stand in for are counted",
        "factors.RecoveryGrant.user": _SHORT,
        "factors.SignInCountry.user": "a country that is forgotten is unusual again",
        "users.FormerEmail.user": "it only gets notices for a week",
        "factors.KnownBrowser.user": "a browser that is forgotten is asked again",
    },
}


def deletable() -> list[type[Model]]:
    """Return the models that the site has a deletion for."""
    found = []
    for model, pages in site._registry.items():
        operations: list[Any] = [*getattr(pages, "operations", ()), *extensions.registry[model].operations]
        if any(operation.name in {"delete", "remove", "revoke"} for operation in operations):
            found.append(model)
    return sorted(found, key=lambda model: model._meta.label)


def cascading(model: type[Model]) -> set[str]:
    """Return the foreign keys whose rows the database or Django deletes with a row of a model."""
    relations: list[Any] = model._meta.get_fields(include_hidden=True)
    return {
        f"{relation.related_model._meta.label}.{relation.field.name}"
        for relation in relations
        if relation.auto_created and not relation.concrete and relation.on_delete is CASCADE
    }


def declared(model: type[Model]) -> set[str]:
    """Return the models of the rows that ``settings.IMPACTS`` counts for a row of a model."""
    with tenancy.using(tenancy.DEFAULT):
        row = model(pk=ids.new() if model._meta.pk.get_internal_type() == "UUIDField" else 1)
        return {
            loss.find(row).model._meta.label
            for loss in impacts.get_losses()
            if loss.model == model._meta.label
        }


@pytest.mark.parametrize("model", deletable(), ids=lambda model: model._meta.label)
def test_each_cascade_is_declared_or_has_a_reason(model):
    label = model._meta.label
    if label in _EVERYTHING:
        return
    said = declared(model)

    silent = {key for key in cascading(model) if key.rpartition(".")[0] not in said}

    assert silent == REASONS.get(label, {}).keys()


def test_the_models_with_reasons_can_be_deleted():
    assert REASONS.keys() <= {model._meta.label for model in deletable()}
    assert len(deletable()) > 10
