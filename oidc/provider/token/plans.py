"""Issuing plans: what was decided about a request for client credentials, for the next one like it.

A plan is made when a request has passed all steps (see ``endpoint``) and its client gets a token. It is used
for a request of the same tenant with the same bytes, except the secret, whose digest must be the same. The
statement that writes the audit entry proves the plan: it writes only if the application, the secret, the
signing key, the resource and the scopes that the application's roles grant are as they were. The database
compares the time at which the secret expires with its own clock. If anything differs, nothing is written,
the plan is deleted, and the request passes all steps. So no refusal follows from a plan.

A request for an organization has no plan, nor has one without a resource if the application has scopes of
several resources. So that no tenant can fill the memory, neither has one whose token or scopes are large.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from audit import log
from database import ids
from database.together import Work
from identity.core.tenant_statements import ConditionalInsert
from oidc.applications import client_secrets
from oidc.keys import signing, usage
from oidc.keys.models import SigningKey
from oidc.provider import tokens
from oidc.provider.target import Basis
from oidc.provider.token import plan_conditions, plan_store
from oidc.provider.token.repeated import SentRequest
from oidc.provider.token.request import Granted

_ANSWER_START: Final = b'{"access_token":"'
_MOST_BYTES: Final = 4_096  # of an answer, and of the names of all scopes that the condition compares


@dataclass(frozen=True, slots=True)
class IssuingPlan:
    """What is the same in each answer to a request, and the condition under which it is issued again.

    ``form`` is that of the request (see ``SentRequest``). ``insert`` writes the entry if its condition holds.
    ``claims`` and ``entry`` are those of the first token, and ``parameters`` those of its ``insert``.
    ``answer_end`` follows the token in the body.
    """

    form: bytes
    secret_digest: str
    key_id: UUID
    signing_alg: str
    lifetime: int
    insert: ConditionalInsert
    parameters: Sequence[Any]
    claims: Mapping[str, Any]
    entry: Mapping[str, Any]
    answer_end: bytes


def issue(
    plan: IssuingPlan, sent: SentRequest, *, ip: str, user_agent: str, request_id: str
) -> Work[bytes | None]:
    """Write the audit entry and return the body of the answer, or None if the plan is outdated."""
    issued_at = int(time.time())
    exp = issued_at + plan.lifetime
    entry = log.repeat(plan.entry, ip=ip, user_agent=user_agent, request_id=request_id, access_token_exp=exp)
    if not (_reserve_key(plan, exp) and (yield from plan.insert.repeat(plan.parameters, entry))):
        plan_store.delete(plan, sent)
        return None
    log.count_repeated(plan.entry)
    claims = {**plan.claims, "iat": issued_at, "exp": exp, "jti": ids.new_text()}
    token = signing.sign(claims, typ=tokens.ACCESS_TOKEN_TYPE, key_id=plan.key_id)
    return b'%s%s"%s' % (_ANSWER_START, token.encode(), plan.answer_end)


def _reserve_key(plan: IssuingPlan, exp: int) -> bool:
    """Record the usage of the key, and load it, so that signing cannot fail. Return whether it is active."""
    try:
        active = usage.record(plan.key_id, exp=exp, algorithm=plan.signing_alg)
        signing.load(active)
    except SigningKey.DoesNotExist:
        return False
    return active == plan.key_id


def add(sent: SentRequest, granted: Granted, answer: bytes) -> None:
    """Make a plan of a request that passed all steps, if a condition proves it. ``answer`` is the body."""
    context, repeatable = granted.context, granted.repeatable
    if repeatable is None or context.facts.omitted or sent.client_id != context.application.client_id:
        return
    if not _is_small(context.target.basis, answer):
        return
    if not answer.startswith(_ANSWER_START):
        raise ValueError("the answer does not begin with its access token")
    client = repeatable.request.client
    secret = client_secrets.find(client.application, sent.secret)
    condition = plan_conditions.build(client, context, secret) if secret else None
    if secret is None or condition is None or secret.digest != client_secrets.digest(sent.secret):
        return
    entry = log.get_columns(repeatable.entry)
    plan = IssuingPlan(
        form=sent.form,
        secret_digest=secret.digest,
        key_id=context.key_id,
        signing_alg=context.target.signing_alg,
        lifetime=context.lifetime,
        insert=condition.insert,
        parameters=condition.insert.prepared().bind(entry | condition.values),
        claims=tokens.build_access_claims(context),
        entry=entry,
        answer_end=answer.removeprefix(_ANSWER_START).partition(b'"')[2],
    )
    plan_store.store(plan, sent)


def _is_small(basis: Basis | None, answer: bytes) -> bool:
    """Return whether a plan takes little memory. The answer has the claims and the granted scopes."""
    names = basis.names if basis else ()
    return len(answer) <= _MOST_BYTES and sum(map(sys.getsizeof, names)) <= _MOST_BYTES
