"""Whether an authorization request needs the user's consent, and to what."""

from database import batching
from identity.sessions.models import Session
from identity.users.models import User
from oidc.grants import consents
from oidc.grants.consents import ConsentRequest
from oidc.grants.models import AuthorizationRequest
from oidc.provider import target
from oidc.provider.authorization.request import Authorization


def must_consent(
    session: Session, authorization: Authorization, pending: AuthorizationRequest | None
) -> bool:
    """Return whether the user still has to agree to what the application requests."""
    application = authorization.application
    has_consented_now = bool(pending and pending.consented_at)
    if "consent" in authorization.prompt and not has_consented_now:
        return True
    if not application.is_third_party:
        return False
    if (
        not has_consented_now
        and not application.must_present_secret
        and not authorization.redirect_uri.startswith("https:")
    ):
        # RFC 8252 section 8.6: another program may have taken the scheme or the port, so an earlier
        # consent does not count.
        return True
    consent = batching.run(consents.find(session.user_id, application.pk))
    if has_consented_now:
        # Scopes that the user's roles gained after the page was shown are not granted. The page is not shown
        # again for them.
        return not consents.covers(consent, ConsentRequest(_get_identity_scopes(authorization)))
    if consent is None or (
        authorization.organization_id
        and not consents.has_organization(consent, authorization.organization_id)
    ):
        # The same for members and others, so that the response does not reveal who is a member.
        return True
    return not consents.covers(consent, build_request(session.user, authorization))


def build_request(user: User, authorization: Authorization) -> ConsentRequest:
    """Return what the user is asked to agree to: identity scopes, claims, and scopes from roles."""
    return batching.run(
        target.build_consent_request(
            user,
            _get_identity_scopes(authorization),
            authorization.scope.split(),
            resource=authorization.resource,
            organization_id=authorization.organization_id,
        )
    )


def _get_identity_scopes(authorization: Authorization) -> tuple[str, ...]:
    return *authorization.scopes, *authorization.claims.get_scopes_beyond(authorization.scopes)
