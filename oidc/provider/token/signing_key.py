"""The keys that sign the tokens of a request, made ready before anything is written."""

from dataclasses import replace
from uuid import UUID

from database.batching import Work
from oidc.keys import active_keys, signing, usage
from oidc.provider.grant_context import GrantContext


def reserve(context: GrantContext) -> Work[GrantContext]:
    """Return the context with the keys to sign with: their usage is recorded, and signing cannot fail.

    Raises:
        SigningKey.DoesNotExist: a signing key was deleted.

    """
    if context.target.signing_alg or context.application.id_token_signed_response_alg:
        return (yield from _reserve_each(context))
    key_id = _reserve(context.access_token_key_id, context.last_exp)
    if key_id == context.access_token_key_id:
        return context
    return replace(context, access_token_key_id=key_id, id_token_key_id=key_id)


def _reserve_each(context: GrantContext) -> Work[GrantContext]:
    """Reserve the key of the access token and, if the response has one, that of the ID token."""
    algorithm = context.target.signing_alg
    key_id = (yield from active_keys.find_id(algorithm)) if algorithm else context.access_token_key_id
    id_token_key_id = None
    if context.id_token_exp is not None:
        own_algorithm = context.application.id_token_signed_response_alg
        id_token_key_id = _reserve(context.id_token_key_id, context.id_token_exp, own_algorithm)
    return replace(
        context,
        access_token_key_id=_reserve(key_id, context.access_token_exp, algorithm),
        id_token_key_id=id_token_key_id,
    )


def _reserve(key_id: UUID | None, exp: int, algorithm: str = "") -> UUID:
    active = usage.record(key_id, exp=exp, algorithm=algorithm)
    signing.load(active)
    return active
