"""The audit entry of a successful token request."""

from uuid import UUID

from audit import log
from audit.models import Entry
from oidc.provider.grant_context import GrantContext
from oidc.provider.token.request import AuthenticatedRequest


def new_entry(request: AuthenticatedRequest, context: GrantContext, *, user_id: UUID | None = None) -> Entry:
    """Return the entry, unsaved. The grant writes it in one statement with its own rows."""
    return log.new_entry(
        request.parsed.grant.EVENT,
        user_id=user_id,
        application_id=request.application.pk,
        grant_type=request.parsed.grant_type,
        result="success",
        scope=" ".join(context.all_scopes),
        kid=context.access_token_key_id,
        access_token_exp=context.access_token_exp,
        **_id_token_facts(context),
        **({"is_test": True} if request.parsed.is_trial else {}),
    )


def _id_token_facts(context: GrantContext) -> dict[str, object]:
    if context.id_token_exp is None:
        return {}
    facts: dict[str, object] = {"id_token_exp": context.id_token_exp}
    if context.id_token_key_id != context.access_token_key_id:
        facts["id_token_kid"] = context.id_token_key_id
    return facts
