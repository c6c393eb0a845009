"""The key that signs the tokens of a request, made ready before anything is written."""

from dataclasses import replace

from oidc.keys import signing, usage
from oidc.provider.grant_context import GrantContext


def reserve(context: GrantContext) -> GrantContext:
    """Return the context with the key to sign with: its usage is recorded, and signing with it cannot fail.

    Raises:
        SigningKey.DoesNotExist: the signing key was deleted.

    """
    key_id = usage.record(context.key_id, exp=context.last_exp)
    signing.load(key_id)
    return context if key_id == context.key_id else replace(context, key_id=key_id)
