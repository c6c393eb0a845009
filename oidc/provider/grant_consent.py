"""The consent on which a third-party application's code or refresh family depends."""

from database.batching import Work
from oidc.applications.models import Application
from oidc.grants import consents
from oidc.grants.consents import GrantedConsent
from oidc.grants.models import AuthorizationCode, RefreshFamily
from oidc.provider import claims_request, scopes
from oidc.provider.errors import InvalidGrant


def get_consent(
    application: Application, grant: AuthorizationCode | RefreshFamily
) -> Work[GrantedConsent | None]:
    """Return the consent that a grant depends on, or None for a first-party application.

    Raises:
        InvalidGrant: the user revoked the consent, or did not agree to all identity scopes of the grant.

    """
    if not application.is_third_party:
        return None
    consent = yield from consents.find(grant.user_id, application.pk)
    if consent is None or not _belongs_to(consent, grant) or not _covers_identity(consent, grant):
        raise InvalidGrant("The user has not consented to these scopes, or has revoked the consent.")
    return consent


def _belongs_to(consent: GrantedConsent, grant: AuthorizationCode | RefreshFamily) -> bool:
    """Return whether the grant was issued under this consent, not under an earlier one."""
    if grant.consent_id is None:
        # Issued by release 0.1.0, or while the application was first-party.
        return consent.created_at <= grant.created_at
    return consent.id == grant.consent_id


def get_identity_scopes(
    grant: AuthorizationCode | RefreshFamily, consent: GrantedConsent | None
) -> list[str]:
    """Return the identity scopes of a grant. ``consent`` is that of a third-party application.

    A third party gets newer scopes only with consent to them. Release 0.1.3 ignored their names, so a grant
    of that release can name them without consent.
    """
    granted = scopes.get_identity_scopes(grant.scope)
    if consent is None:
        return granted
    return [name for name in granted if name not in scopes.NEWER or name in consent.identity]


def _covers_identity(consent: GrantedConsent, grant: AuthorizationCode | RefreshFamily) -> bool:
    granted = tuple(get_identity_scopes(grant, consent))
    claims = claims_request.from_json(grant.claims).get_scopes_beyond(granted)
    return consent.identity.issuperset((*granted, *claims))
