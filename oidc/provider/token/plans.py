"""Issuing plans: what was decided about a request for client credentials, for the next one like it.

A plan is made when a request has passed all steps (see ``endpoint``) and its client gets a token. It is used
for a request of the same tenant with the same bytes, except the secret, whose digest must be the same. The
statement that writes the audit entry proves the plan: it writes only if the application, the secret, the
signing key, the resource and the scopes that the application's roles grant are as they were. The database
compares the time at which the secret expires with its own clock. If anything differs, nothing is written,
the plan is deleted, and the request passes all steps. So no refusal follows from a plan.

A request for an organization has no plan, nor has one without a resource if the application has scopes of
several resources, or one whose plan would be large (see ``plan_store``).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from audit import log
from database import ids
from database.batching import Work
from identity.core.tenant_statements import ConditionalInsert
from oidc.applications import client_secrets
from oidc.keys import signing, usage
from oidc.keys.models import SigningKey
from oidc.provider import tokens
from oidc.provider.grant_context import GrantContext
from oidc.provider.token import plan_conditions, plan_store
from oidc.provider.token.raw_request import RawTokenRequest
from oidc.provider.token.request import Repeatable

_ANSWER_START: Final = b'{"access_token":"'


@dataclass(frozen=True, slots=True)
class IssuingPlan:
    """What is the same in each answer to a request, and the condition under which it is issued again.

    ``form`` is that of the request (see ``RawTokenRequest``). ``insert`` writes the entry if its condition
    holds. ``claims_start`` is the JSON of the claims that each token has, without the closing brace: bytes
    take less memory than objects. ``entry`` is that of the first token, and ``parameters`` those of its
    ``insert``. ``answer_end`` follows the token in the body.
    """

    form: bytes
    secret_digest: str
    key_id: UUID
    signing_alg: str
    lifetime: int
    insert: ConditionalInsert
    parameters: Sequence[Any]
    claims_start: bytes
    entry: Mapping[str, Any]
    answer_end: bytes
    size: int


def issue(
    plan: IssuingPlan, sent: RawTokenRequest, *, ip: str, user_agent: str, request_id: str
) -> Work[bytes | None]:
    """Write the audit entry and return the body of the answer, or None if the plan is outdated."""
    issued_at = int(time.time())
    exp = issued_at + plan.lifetime
    changes = log.get_changed_columns(
        plan.entry, ip=ip, user_agent=user_agent, request_id=request_id, access_token_exp=exp
    )
    if not (_reserve_key(plan, exp) and (yield from plan.insert.repeat(plan.parameters, changes))):
        plan_store.delete(plan, sent)
        return None
    log.count_repeated(plan.entry)
    jti = ids.new_text().encode()
    claims = b'%s,"iat":%d,"exp":%d,"jti":"%s"}' % (plan.claims_start, issued_at, exp, jti)
    token = signing.sign_json(claims, typ=tokens.ACCESS_TOKEN_TYPE, key_id=plan.key_id)
    return b'%s%s"%s' % (_ANSWER_START, token.encode(), plan.answer_end)


def _reserve_key(plan: IssuingPlan, exp: int) -> bool:
    """Record the usage of the key, and load it, so that signing cannot fail. Return whether it is active."""
    try:
        active = usage.record(plan.key_id, exp=exp, algorithm=plan.signing_alg)
        signing.load(active)
    except SigningKey.DoesNotExist:
        return False
    return active == plan.key_id


def add(sent: RawTokenRequest, repeatable: Repeatable, context: GrantContext, answer: bytes) -> None:
    """Make a plan of a request that passed all steps, if a condition proves it. ``answer`` is the body."""
    if context.facts.omitted or sent.client_id != context.application.client_id:
        return
    if not answer.startswith(_ANSWER_START):
        raise ValueError("the answer does not begin with its access token")
    client = repeatable.request.client
    secret = client_secrets.find(client.application, sent.secret)
    condition = plan_conditions.build(client, context, secret) if secret else None
    if secret is None or condition is None or secret.digest != client_secrets.digest(sent.secret):
        return
    entry = log.get_columns(repeatable.entry)
    parameters = condition.insert.for_this_thread().bind(entry | condition.values)
    claims_start = orjson.dumps(tokens.build_lasting_access_claims(context)).removesuffix(b"}")
    answer_end = answer.removeprefix(_ANSWER_START).partition(b'"')[2]
    plan = IssuingPlan(
        form=sent.form,
        secret_digest=secret.digest,
        key_id=context.access_token_key_id,
        signing_alg=context.target.signing_alg,
        lifetime=context.lifetime,
        insert=condition.insert,
        parameters=parameters,
        claims_start=claims_start,
        entry=entry,
        answer_end=answer_end,
        size=plan_store.measure(sent.form, secret.digest, parameters, claims_start, entry, answer_end),
    )
    plan_store.store(plan, sent)
