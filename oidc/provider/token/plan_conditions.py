"""The condition under which an issuing plan may be used: nothing that the plan depends on has changed."""

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from audit import log
from database.list_parameters import TextList
from database.parameters import Parameter
from identity.core.tenant_statements import ConditionalInsert, number, text, uuid
from identity.resources.models import Resource
from oidc.applications import bindings, client_secrets
from oidc.applications.client_secrets import StoredSecret
from oidc.applications.models import Application, ApplicationRole
from oidc.keys.models import SigningKey
from oidc.provider.client_authentication import Client
from oidc.provider.grant_context import GrantContext
from oidc.provider.target import Basis

# The parameters have names that no column of an entry has.
_APPLICATION_ID: Final = uuid("plan_application_id")
_RESOURCE_ID: Final = uuid("plan_resource_id")
_DIGEST: Final = text("plan_secret_digest")


@dataclass(frozen=True, slots=True)
class Condition:
    """The statement that writes an entry if the condition holds, and the values of the condition."""

    insert: ConditionalInsert
    values: dict[str, object]


def build(client: Client, context: GrantContext, secret: StoredSecret) -> Condition | None:
    """Return the condition for a client's token, or None if the token depends on more than it compares."""
    target = context.target
    if target.organization_id is not None or (target.basis is None and client.has_roles):
        return None
    values: dict[str, object] = {
        "plan_application_id": client.application.pk,
        "plan_version": client.application.version,
        "plan_secret_digest": secret.digest,
        "plan_key_id": context.access_token_key_id,
        "plan_algorithm": target.signing_alg,
    }
    if secret.row_id is not None:
        values["plan_secret_id"] = secret.row_id
    if target.basis is not None:
        values |= {
            "plan_resource_id": target.basis.resource_id,
            "plan_resource_version": target.basis.resource_version,
            "plan_names": target.basis.names,
            "plan_number": len(target.basis.names),
        }
    return Condition(_inserts[secret.row_id is not None, _get_kind(target.basis)], values)


def _get_kind(basis: Basis | None) -> str:
    if basis is None:
        return "no roles"
    return "scopes of the resource" if basis.is_of_resource else "all scopes"


def _build_query(is_further: bool, kind: str) -> QuerySet[Application]:  # noqa: FBT001 - a key of the table
    return Application.objects.filter(
        _is_further_secret() if is_further else _is_first_secret(),
        _is_unchanged(),
        _is_active_key(),
        _has_no_roles() if kind == "no roles" else _has_same_scopes(kind),
        pk=_APPLICATION_ID,
    )


def _is_unchanged() -> Q:
    return Q(version=number("plan_version"))


def _is_first_secret() -> Q:
    return Q(secret_digest=_DIGEST)


def _is_further_secret() -> Q:
    return Q(client_secrets.is_stored(uuid("plan_secret_id"), _DIGEST))


def _is_active_key() -> Q:
    which = Q(is_default=True) | Q(algorithm=text("plan_algorithm"))
    return Q(Exists(SigningKey.objects.active().filter(which, pk=uuid("plan_key_id"))))


def _has_no_roles() -> Q:
    return Q(~Exists(ApplicationRole.objects.filter(application=OuterRef("pk"))))


def _has_same_scopes(kind: str) -> Q:
    granted = bindings.get_scopes(_APPLICATION_ID)
    if kind == "scopes of the resource":
        granted = granted.filter(resource=_RESOURCE_ID)
    names, count = Parameter("plan_names", TextList()), number("plan_number")
    return _has_same_resource() & bindings.is_granted_exactly(granted, _RESOURCE_ID, names, count)


def _has_same_resource() -> Q:
    return Q(Exists(Resource.objects.filter(pk=_RESOURCE_ID, version=number("plan_resource_version"))))


_inserts: Final = {
    (is_further, kind): ConditionalInsert(log.INSERT, partial(_build_query, is_further, kind))
    for is_further, kind in product((False, True), ("no roles", "all scopes", "scopes of the resource"))
}
