"""The consent behind a third-party application's code or refresh family, read each time it is used."""

from oidc.applications.models import Application
from oidc.grants import consents
from oidc.grants.consents import Consented
from oidc.grants.models import AuthorizationCode, RefreshFamily
from oidc.provider import claims_request, scopes
from oidc.provider.errors import InvalidGrant


def of_grant(application: Application, grant: AuthorizationCode | RefreshFamily) -> Consented | None:
    """Return the consent that a grant lives by; nothing for an application that needs none.

    Raises:
        InvalidGrant: the user revoked the consent, or never agreed to all identity scopes of the grant.

    """
    if not application.is_third_party:
        return None
    consented = consents.find(grant.user_id, application.pk)
    if consented is None or not _is_behind(consented, grant) or not _covers_identity(consented, grant):
        raise InvalidGrant("The user has not agreed, or no longer agrees.")
    return consented


def _is_behind(consented: Consented, grant: AuthorizationCode | RefreshFamily) -> bool:
    """Tell whether the grant was made under this very consent, not under one that was revoked since."""
    if grant.consent_id is None:
        # Made by release 0.1.0, or while the application was first-party.
        return consented.created_at <= grant.created_at
    return consented.id == grant.consent_id


def _covers_identity(consented: Consented, grant: AuthorizationCode | RefreshFamily) -> bool:
    granted = tuple(scopes.known(grant.scope))
    claims = claims_request.restored(grant.claims).scopes_beyond(granted)
    return consented.identity.issuperset((*granted, *claims))
