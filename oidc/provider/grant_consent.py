"""The consent behind a third-party application's code or refresh family, read each time it is used."""

from oidc.applications.models import Application
from oidc.grants import consents
from oidc.grants.consents import GrantedConsent
from oidc.grants.models import AuthorizationCode, RefreshFamily
from oidc.provider import claims_request, scopes
from oidc.provider.errors import InvalidGrant


def get_consent(application: Application, grant: AuthorizationCode | RefreshFamily) -> GrantedConsent | None:
    """Return the consent that a grant depends on, or None for a first-party application.

    Raises:
        InvalidGrant: the user revoked the consent, or never agreed to all identity scopes of the grant.

    """
    if not application.is_third_party:
        return None
    consent = consents.find(grant.user_id, application.pk)
    if consent is None or not _is_of_grant(consent, grant) or not _covers_identity(consent, grant):
        raise InvalidGrant("The user has not agreed, or no longer agrees.")
    return consent


def _is_of_grant(consent: GrantedConsent, grant: AuthorizationCode | RefreshFamily) -> bool:
    """Tell whether the grant was issued under this consent, and not under one that was revoked since."""
    if grant.consent_id is None:
        # Issued by release 0.1.0, or while the application was first-party.
        return consent.created_at <= grant.created_at
    return consent.id == grant.consent_id


def _covers_identity(consent: GrantedConsent, grant: AuthorizationCode | RefreshFamily) -> bool:
    granted = tuple(scopes.known(grant.scope))
    claims = claims_request.from_json(grant.claims).scopes_beyond(granted)
    return consent.identity.issuperset((*granted, *claims))
