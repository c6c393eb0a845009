"""What an administrator sees after trying a social connector."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.core.errors import ServiceError
from identity.core.refusal_texts import translate
from identity.operator_kit import routes
from identity.operator_kit.texts import Text
from identity.users.models import User
from interaction.connectors.errors import ProviderError, Reason
from interaction.connectors.providers import oauth
from interaction.connectors.providers.base import Endpoints, Profile, TokenResponse
from interaction.experience import services as experiences
from interaction.journeys import provider_accounts
from interaction.journeys.social import matching
from interaction.journeys.social.provider import AuthorizationResponse
from interaction.social import services as identities

_LONGEST: Final = 8_000  # characters of claims
_OF_PROTOCOL: Final = frozenset({"nonce", "at_hash", "c_hash"})

# What to change, by why a sign-in at a provider failed.
ADVICE: Final[Mapping[str, Text]] = {
    Reason.ISSUER: _("Compare the issuer of the configuration with the provider's, including a final slash."),
    Reason.AUDIENCE: _("Compare the client ID with that of the application at the provider."),
    Reason.SIGNATURE: _(
        "At the provider, let ID tokens be signed with RS256, PS256 or ES256, not with HS256."
    ),
    Reason.NONCE: _("The provider has to put the nonce of the request into the ID token."),
    Reason.EXPIRED: _("Compare the clocks of this server and of the provider."),
    Reason.MISSING_CLAIM: _("The provider's ID tokens need iss, sub, aud, exp and iat."),
    Reason.NO_SUCH_KEY: _("The provider has to publish the key of its ID tokens at its jwks_uri."),
    Reason.SEVERAL_KEYS: _("The provider has to name the key in the kid of its ID tokens."),
    Reason.CODE_REFUSED: _("Enter the client secret again, and compare the redirect URI at the provider."),
    Reason.TIMED_OUT: _("Check whether this server can reach the provider, then try again."),
    Reason.UNREACHABLE: _("Check the address, and whether a firewall lets this server connect to it."),
    Reason.ANSWER: _("Compare the configuration with the provider's documentation."),
    "not_offered": _("The provider is not built in, or ENCRYPTION_KEYS lacks the key of the configuration."),
}
# What the errors of authorization responses mean (RFC 6749 section 4.1.2.1, OpenID Connect Core 3.1.2.6).
_ERRORS: Final[Mapping[str, tuple[Text, Text]]] = {
    "access_denied": (
        _("the sign-in was stopped at the provider"),
        _("Sign in there and agree. If you did, check at the provider who may use the application."),
    ),
    "unauthorized_client": (
        _("the application may not use the authorization code flow"),
        _("Allow the flow in the application's settings at the provider."),
    ),
    "invalid_scope": (_("the provider does not accept the scopes"), _("Compare Scope in the configuration.")),
    "unsupported_response_type": (
        _("the application may not use the authorization code flow"),
        _("Allow the flow in the application's settings at the provider."),
    ),
    "invalid_request": (
        _("the provider does not accept the request"),
        _("Compare client ID, scope and redirect URI."),
    ),
    "server_error": (_("the provider reports an error of its own"), _("Try again later.")),
    "temporarily_unavailable": (_("the provider is not available at the moment"), _("Try again later.")),
}
_NO_CODE: Final = (
    _("the provider returned no code"),
    _("Start again, and finish the sign-in at the provider."),
)


@dataclass(slots=True)
class Received:
    """What a provider has said so far."""

    claims: Mapping[str, Any] = field(default_factory=dict)
    userinfo: Mapping[str, Any] = field(default_factory=dict)
    profile: Profile | None = None


def fetch_userinfo(endpoints: Endpoints, tokens: TokenResponse) -> Mapping[str, Any]:
    """Return the provider's userinfo, which is only shown; nothing if there is none."""
    if not endpoints.userinfo:
        return {}
    try:
        response = oauth.get_with_token(endpoints.userinfo, tokens.access_token)
    except ProviderError:
        return {}
    return response.json() if response.ok else {}


def build_failure(
    name: str, error: ServiceError, answer: AuthorizationResponse, received: Received
) -> dict[str, Any]:
    """Return the report of a sign-in that failed."""
    problem = translate(error.message)
    advice = str(ADVICE.get(error.audit_facts.get("reason", error.reason), ""))
    if error.reason == "declined":
        problem, advice = map(str, _ERRORS.get(answer.error, _NO_CODE))
    return {"provider": name, "problem": problem, "advice": advice} | _describe_received(received)


def build(name: str, received: Received) -> dict[str, Any]:
    """Return the report of a sign-in that succeeded: the profile, and what a user's sign-in would do."""
    profile = received.profile
    if profile is None:
        raise AssertionError("a trial that succeeded has a profile")
    outcome, user = _predict(profile)
    verified = (
        gettext("verified by the provider") if profile.email_verified else gettext("not verified: not used")
    )
    return {
        "provider": name,
        "outcome": outcome,
        "user": user.identifier if user else "",
        "user_url": routes.row_url(user) if user else "",
        "facts": [
            [gettext("ID"), profile.subject, gettext("of %(provider)s") % {"provider": profile.provider}],
            [gettext("Email"), profile.email, verified if profile.email else ""],
            [gettext("Name"), profile.name, ""],
            [gettext("Picture"), profile.avatar, ""],
        ],
    } | _describe_received(received)


def _describe_received(received: Received) -> dict[str, Any]:
    claims = {name: value for name, value in received.claims.items() if name not in _OF_PROTOCOL}
    return {"claims": _format(claims), "userinfo": _format(received.userinfo)}


def _format(document: Mapping[str, Any]) -> str:
    if not document:
        return ""
    try:
        text = orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()
    except orjson.JSONEncodeError:
        return ""
    return text if len(text) <= _LONGEST else "\n".join((text[:_LONGEST], gettext("… (cut)")))


def _predict(profile: Profile) -> tuple[str, User | None]:
    """Return what a sign-in with this profile would do, and the user that it would sign in."""
    linked = identities.find_by_profile(profile)
    if linked:
        if linked.user.is_suspended:
            outcome = gettext(
                "The account is linked already. It would sign in this user, who is suspended and could not "
                "sign in:"
            )
        else:
            outcome = gettext("The account is linked already. It would sign in this user:")
        return outcome, linked.user
    similar = matching.find_similar(profile)
    for user in similar:
        if provider_accounts.may_link(user, profile):
            return gettext(
                "The verified email belongs to a user. The account would be linked to this user:"
            ), user
    if similar:
        return (
            gettext(
                "A user has this email, and the sign-in experience does not link accounts automatically. The "
                "sign-in would be refused until this user links the account on the account page:"
            )
        ), similar[0]
    if not experiences.current().can_create_social_users:
        return (
            gettext("The sign-in would be refused: the sign-in experience creates no users this way."),
            None,
        )
    if matching.get_email_of_new_user(profile):
        return gettext("A new user would be created, with this email."), None
    return gettext("A new user would be created, without an email."), None
