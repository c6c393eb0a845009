"""What users let applications have."""

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants.models import Consent


def covers(user: User, application: Application, scopes: list[str], organization_id: str = "") -> bool:
    """Tell whether the user already agreed to all of these scopes, and to the organization."""
    consent = Consent.objects.filter(user=user, application=application).first()
    if consent is None or (organization_id and organization_id not in consent.organizations):
        return False
    return set(scopes) <= set(consent.scopes)


@transaction.atomic
def give(user: User, application: Application, scopes: list[str], organization_id: str = "") -> None:
    """Remember that the user agreed, on top of what was agreed before."""
    consent, _ = Consent.objects.select_for_update().get_or_create(user=user, application=application)
    consent.scopes = sorted({*consent.scopes, *scopes})
    if organization_id:
        consent.organizations = sorted({*consent.organizations, organization_id})
    consent.updated_at = timezone.now()
    consent.save(update_fields=["scopes", "organizations", "updated_at"])
    facts = {"scopes": scopes} | ({"organization_id": organization_id} if organization_id else {})
    log.record(Event.CONSENT_GRANT, user_id=user.pk, application_id=application.pk, **facts)
