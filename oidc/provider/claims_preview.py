"""What an application would get about a user, and where each claim comes from.

Nothing is issued or stored.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext, gettext_noop

from database import batching, ids
from identity.core import tenancy
from identity.core.errors import Invalid
from identity.core.records import UnknownIds
from identity.resources.custom_claims import ACCESS_TOKEN, ID_TOKEN, USERINFO, Declaration, name_source
from identity.resources.models import Resource
from identity.users.models import User
from oidc.applications.models import Application
from oidc.provider import claims, released_claims, scopes, target, tokens
from oidc.provider.errors import InvalidRequest, TooManyScopes
from oidc.provider.grant_context import GrantContext

Explained = dict[str, dict[str, Any]]

_NO_KEY: Final = UUID(int=0)  # nothing is signed


def build(
    application: Application, *, user_id: str, organization_id: str, resource: str, scope: str
) -> dict[str, Any]:
    """Return the claims of an ID token, of userinfo and of an access token, each with its source.

    A third-party application is shown what it gets if the user agrees to all scopes. Claims about the sign-in
    and the time are left out.

    Raises:
        Invalid: the application has no users, the user, organization or resource is unknown, the user is
            not a member, or the scopes are too many for a token.

    """
    if application.type == Application.Type.MACHINE:
        raise Invalid("user_id", gettext_noop("a MachineToMachine application has no users"))
    context = _build_context(application, get_user(user_id), organization_id, resource, scope)
    has_openid = context.has_id_token
    return {
        "id_token": _explain_id_token(context) if has_openid else {},
        "userinfo": _explain_userinfo(context) if has_openid and _is_accepted(context) else {},
        "access_token": _explain_access_token(context),
        "omitted": sorted(set(context.facts.omitted)),
    }


def get_user(user_id: str) -> User:
    """Return the user with this id.

    Raises:
        UnknownIds: there is none.

    """
    pk = ids.parse(user_id)
    user = User.objects.filter(pk=pk).first() if pk else None
    if user is None:
        raise UnknownIds("user_id", [user_id])
    return user


def check_resource(indicator: str) -> None:
    """Check that there is an API resource.

    Raises:
        Invalid: there is none with this indicator.

    """
    if not Resource.objects.filter(indicator=indicator).exists():
        raise Invalid("resource", gettext_noop("is unknown"), code="unknown")


def _build_context(
    application: Application, user: User, organization_id: str, resource: str, scope: str
) -> GrantContext:
    if resource:
        check_resource(resource)
    try:
        found = batching.run(
            target.resolve_for_user(
                user,
                scope.split(),
                resource=resource,
                organization_id=organization_id,
                consent=None,
                strength=None,
            )
        )
    except InvalidRequest:
        rule = gettext_noop("is unknown, or the user is not a member")
        raise Invalid("organization_id", rule, code="unknown") from None
    except TooManyScopes:
        rule = gettext_noop("must name fewer scopes: all of them together are too long for one token")
        raise Invalid("scope", rule) from None
    return GrantContext(
        application=application,
        access_token_key_id=_NO_KEY,
        scopes=tuple(scopes.get_identity_scopes(scope)),
        target=found,
        user=user,
    )


def _is_accepted(context: GrantContext) -> bool:
    """Return whether userinfo accepts the access token."""
    audiences = tokens.get_audiences({"aud": context.target.audience})
    return not context.application.is_third_party or tenancy.active().issuer in audiences


def _explain_id_token(context: GrantContext) -> Explained:
    values = tokens.build_lasting_id_claims(context)
    names = claims.get_id_token_names(context.scopes)
    return _explain(
        values, names, _get_sources(context.application.custom_claims, ID_TOKEN, _of_application())
    )


def _explain_userinfo(context: GrantContext) -> Explained:
    names = claims.get_names(context.all_scopes)
    values = batching.run(
        released_claims.get_for_userinfo(
            context.facts,
            names,
            custom=context.application.custom_claims,
            consented_scopes=context.all_scopes if context.application.is_third_party else None,
        )
    )
    return _explain(
        values, names, _get_sources(context.application.custom_claims, USERINFO, _of_application())
    )


def _explain_access_token(context: GrantContext) -> Explained:
    by_name = dict.fromkeys(context.target.claims, gettext("claims of the resource"))
    by_name |= {f"{name}_truncated": source for name, source in by_name.items()}
    sources = (
        _get_sources(context.application.custom_claims, ACCESS_TOKEN, _of_application())
        | _get_sources(
            context.target.custom_claims, ACCESS_TOKEN, gettext("custom claim of the resource: %(source)s")
        )
        | by_name
    )
    return _explain(tokens.build_lasting_access_claims(context), (), sources)


def _of_application() -> str:
    return gettext("custom claim of the application: %(source)s")


def _get_sources(declared: Iterable[Declaration], place: str, text: str) -> dict[str, str]:
    """Return the sources of custom claims by name. ``text`` describes them."""
    return {
        claim["name"]: text % {"source": name_source(claim["source"])}
        for claim in declared
        if place in claim["into"]
    }


def _explain(values: dict[str, Any], released: Collection[str], sources: dict[str, str]) -> Explained:
    """Return each claim with its source: a scope, a declaration, or else the protocol."""
    return {
        name: {"value": value, "source": _get_source(name, released, sources)}
        for name, value in values.items()
    }


def _get_source(name: str, released: Collection[str], sources: dict[str, str]) -> str:
    of_scope = name.removesuffix("_truncated")
    if of_scope in released:
        return gettext("scope %(name)s") % {"name": claims.SCOPE_OF[of_scope]}
    return sources.get(name, gettext("protocol"))
