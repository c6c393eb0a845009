"""The last step of each grant: everything is checked, now decide what is issued and use it up.

oauthlib runs these after its own checks and before it makes tokens. What is used up and what
that buys is one change each: all of it happens, or nothing.
"""

import re
from typing import Final

from oauthlib.common import Request
from oauthlib.oauth2 import InvalidGrantError

from audit import log
from audit.events import Event
from audit.models import Entry
from database import ids
from oidc.applications.models import Application
from oidc.grants import codes, families
from oidc.grants.families import Outcome
from oidc.grants.models import AuthorizationCode
from oidc.keys import signing, usage
from oidc.provider import claims_request, consented, scopes, target
from oidc.provider.context import GrantContext, SignIn
from oidc.provider.token import client_cache

_VERIFIER: Final = re.compile(r"[A-Za-z0-9\-._~]{43,128}")


def for_code(request: Request) -> None:
    """Redeem an authorization code."""
    code: AuthorizationCode = request.code_row
    if not _verifier_fits(request):
        raise InvalidGrantError(description="The code_verifier does not fit.", request=request)
    if code.consumed_at is not None:
        raise _used_before(request, code)
    request.grant = context = _context_of_code(request, code)
    request.refresh_family = family = None
    if context.family_id is not None:
        request.refresh_family = family = families.begun(
            family_id=context.family_id,
            application=request.client,
            session=code.session,
            scope=code.scope,
            claims=code.claims,
            consent_id=request.consented.id if request.consented else None,
        )
    if not codes.consume(
        code,
        family=family,
        access_token_id=context.token_id,
        access_token_expires_at=context.expires_at,
        entry=_entry(Event.TOKEN_EXCHANGE, request, user_id=code.user_id),
    ):
        raise _used_before(request, code)
    request.scopes = list(context.all_scopes)


def for_refresh(request: Request) -> None:
    """Move a refresh family on, or repeat its newest generation for a retry."""
    family = request.family
    original = scopes.known(family.scope)
    asked = request.scope or family.scope
    wanted = scopes.known(request.scope) if request.scope else original
    request.grant = _context(
        request,
        # RFC 6749 section 6: a refresh may narrow the scope, never widen it.
        scopes=tuple(word for word in wanted if word in original),
        target=target.for_user(
            request,
            family.user,
            asked.split(),
            resource=_parameter(request, "resource"),
            organization_id=_parameter(request, "organization_id"),
            consented=consented.of_grant(request, family),
        ),
        user=family.user,
        claims=claims_request.restored(family.claims),
        sign_in=SignIn(family.session_id, family.auth_time, family.amr),
        family_id=family.pk,
    )
    entry = _entry(Event.TOKEN_REFRESH, request, user_id=family.user_id)
    outcome, request.refresh_family = families.advance(family, request.presented.generation, entry)
    if outcome is Outcome.REFUSED:
        raise InvalidGrantError(description="The refresh token is no longer good.", request=request)
    request.scopes = list(request.grant.all_scopes)


def for_client_credentials(request: Request) -> None:
    """Grant an application what it may have in its own name."""
    granted = target.for_machine(
        request,
        (request.scope or "").split(),
        resource=_parameter(request, "resource"),
        organization_id=_parameter(request, "organization_id"),
    )
    request.grant = _context(request, scopes=(), target=granted)
    entry = _entry(Event.TOKEN_EXCHANGE, request)
    if request.remembered is None:
        log.write(entry)
        client_cache.remember(request.client)
    else:
        client_cache.write(entry, request.client)
    request.scopes = list(granted.scopes)


def _context_of_code(request: Request, code: AuthorizationCode) -> GrantContext:
    granted, session = tuple(scopes.known(code.scope)), code.session
    request.consented = consented.of_grant(request, code)
    lasting = scopes.OFFLINE_ACCESS in granted and "refresh_token" in request.client.grant_types
    return _context(
        request,
        scopes=granted,
        target=target.for_user(
            request,
            code.user,
            code.scope.split(),
            resource=_parameter(request, "resource") or code.resource,
            organization_id=_parameter(request, "organization_id") or code.organization_id,
            consented=request.consented,
        ),
        user=code.user,
        claims=claims_request.restored(code.claims),
        sign_in=SignIn(session.pk, session.auth_time, session.amr),
        family_id=ids.new() if lasting else None,
        nonce=code.nonce,
    )


def _used_before(request: Request, code: AuthorizationCode) -> InvalidGrantError:
    """Take back what a code bought, and return the refusal.

    OAuth 2.1 section 7.5.3: not before all else was right, or whoever only saw the code could
    end what it bought.
    """
    codes.take_back(code)
    return InvalidGrantError(description="The code was used before.", request=request)


def _verifier_fits(request: Request) -> bool:
    """Tell whether a verifier came when it had to, and only then, and is well formed.

    RFC 9700 section 4.8.2: a verifier without a challenge means that somebody removed the
    challenge on its way.
    """
    if not request.code_row.code_challenge:
        return request.code_verifier is None
    return bool(_VERIFIER.fullmatch(request.code_verifier or ""))


def _context(request: Request, **facts: object) -> GrantContext:
    application: Application = request.client
    key_id = application.active_key_id  # type: ignore[attr-defined]  # annotated by client_authentication.find
    signing.load(key_id)
    return GrantContext(application=application, key_id=key_id, **facts)  # type: ignore[arg-type]


def _parameter(request: Request, name: str) -> str:
    return getattr(request, name, None) or ""


def _entry(event: Event, request: Request, **ids_of: object) -> Entry:
    grant: GrantContext = request.grant
    return log.entry(
        event,
        application_id=request.client.pk,
        grant_type=request.grant_type,
        result="success",
        scope=" ".join(grant.all_scopes),
        **usage.noted(grant.key_id, access_token_exp=grant.access_token_exp, id_token_exp=grant.id_token_exp),
        **ids_of,  # type: ignore[arg-type]
    )
