"""Subqueries for the consent on which a third-party application's token depends.

They are part of the query for the token's user (see ``bearer_queries``).
"""

from django.db.models import OuterRef, Q, QuerySet

from identity.core.tenant_statements import moment, text, uuid
from oidc.grants.models import Consent, ConsentTarget


def of_token() -> QuerySet[Consent]:
    """Return the consents of a token that is not for an organization."""
    return Consent.objects.filter(
        Q(pk=uuid("consent_id")) | Q(created_at__lte=moment("agreed_before")),
        user=OuterRef("pk"),
        application__client_id=text("client_id"),
    )


def with_old_profile() -> QuerySet[Consent]:
    """Return the consents to a token's application that do not include the new members of ``profile``."""
    return Consent.objects.filter(
        user=OuterRef("pk"), application__client_id=text("client_id"), has_old_profile=True
    )


def targets_of_token() -> QuerySet[ConsentTarget]:
    """Return the consents to the organization of a token."""
    return ConsentTarget.objects.filter(
        pk=uuid("target_id"),
        organization=uuid("organization_id"),
        consent__user=OuterRef("pk"),
        consent__application__client_id=text("client_id"),
    )
