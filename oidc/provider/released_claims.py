"""The claims about a user that ID tokens, access tokens and userinfo release."""

from collections.abc import Callable, Collection
from typing import Any

from database import batching
from database.batching import Work
from identity.resources.custom_claims import ACCESS_TOKEN, ID_TOKEN, USERINFO, Declaration
from oidc.provider import claims, custom_claims, organizations
from oidc.provider.claim_facts import ClaimFacts
from oidc.provider.grant_context import GrantContext

# A custom claim never replaces another claim, so the custom claims come first.


def prepare(context: GrantContext) -> Work[None]:
    """Build and keep the claims of the access token and, if there is one, of the ID token.

    Building the tokens then needs no query.
    """
    yield from _build_once(context, ACCESS_TOKEN, _build_for_access_token)
    if context.has_id_token:
        yield from _build_once(context, ID_TOKEN, _build_for_id_token)


def get_for_id_token(context: GrantContext) -> dict[str, Any]:
    """Return the claims about the user that an ID token releases. The context has a user."""
    return batching.run(_build_once(context, ID_TOKEN, _build_for_id_token))


def get_for_access_token(context: GrantContext) -> dict[str, Any]:
    """Return the claims that the application and the resource of an access token ask for."""
    return batching.run(_build_once(context, ACCESS_TOKEN, _build_for_access_token))


def _build_once(
    context: GrantContext, kind: str, build: Callable[[GrantContext], Work[dict[str, Any]]]
) -> Work[dict[str, Any]]:
    released = context.facts.released
    if kind not in released:
        released[kind] = yield from build(context)
    return released[kind]


def _build_for_id_token(context: GrantContext) -> Work[dict[str, Any]]:
    if context.user is None:
        raise ValueError("an ID token needs a user")
    facts, requested = context.facts, context.claims.id_token
    names = claims.get_id_token_names(context.scopes, requested)
    if context.agreed_to_old_profile:
        names = claims.without_new_profile(names)
    declared, scopes = context.application.custom_claims, context.consented_scopes
    return (
        (yield from custom_claims.build(declared, ID_TOKEN, facts, scopes))
        | claims.get_values(context.user, names)
        | (yield from organizations.get_claims(facts, requested))
        | (yield from facts.get_role_claims(names))
    )


def _build_for_access_token(context: GrantContext) -> Work[dict[str, Any]]:
    target, scopes = context.target, context.consented_scopes
    declared = (*context.application.custom_claims, *target.custom_claims)
    names = [name for name in target.claims if scopes is None or name in scopes]
    return (yield from custom_claims.build(declared, ACCESS_TOKEN, context.facts, scopes)) | (
        yield from context.facts.get_role_claims(names)
    )


def get_for_userinfo(
    facts: ClaimFacts,
    names: Collection[str],
    *,
    custom: Collection[Declaration],
    consented_scopes: Collection[str] | None,
) -> Work[dict[str, Any]]:
    """Return the claims of userinfo. ``names`` are those that scopes and the ``claims`` parameter release.

    ``consented_scopes`` are those of a third-party application, or None for a first-party application.
    """
    user = facts.user
    if user is None:
        raise ValueError("userinfo needs a user")
    return (
        (yield from custom_claims.build(custom, USERINFO, facts, consented_scopes))
        | {"sub": str(user.pk)}
        | claims.get_values(user, names)
        | (yield from organizations.get_userinfo_claims(facts, names))
        | (yield from facts.get_role_claims(names))
    )
