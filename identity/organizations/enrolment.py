"""Adding members to an organization by phone, for third-party applications."""

from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Event
from identity.core import records
from identity.limits import rules
from identity.limits import services as limits
from identity.organizations.models import Membership, Organization
from identity.organizations.services import NoSuchOrganization
from identity.users import identifiers
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User


def enroll(
    organization: Organization,
    *,
    phone: str,
    name: str = "",
    email: str = "",
    application_id: UUID | None = None,
) -> Membership:
    """Add the user of a phone number to an organization, and create the user if necessary. Idempotent.

    An existing user keeps their name and email. Parallel calls return the same membership.
    ``application_id`` is the calling application: a limit bounds how many existing accounts its calls
    reveal or change. Beyond the limit it can add no member, so that no answer reveals an account.

    Raises:
        NoSuchOrganization: it was deleted meanwhile.
        Invalid: the phone breaks a rule, or another user has the email of the new user.
        limits.TooMany: the calls of the application revealed too many accounts within the hour.

    """
    try:
        return _enroll(organization, phone, name, email, application_id)
    except records.Taken:
        # The answer reveals that the email has a user. The hit must not be rolled back with the rest.
        _count_hit(application_id)
        raise


@transaction.atomic
def _enroll(
    organization: Organization, phone: str, name: str, email: str, application_id: UUID | None
) -> Membership:
    # The lock on the organization serializes new members, here and in ``add_members``.
    locked = Organization.objects.select_for_update(no_key=True).filter(pk=organization.pk)
    if locked.values_list("pk").first() is None:
        raise NoSuchOrganization
    if application_id and not limits.test((rules.MEMBER_JOINS, str(application_id))):
        key = identifiers.phone_key(identifiers.clean_phone(phone))
        if known := Membership.objects.filter(organization=organization, user__phone_key=key).first():
            return known
        _count_hit(application_id)
    found = users.find_or_create_by_phone(phone=phone, name=name, email=email)
    member, is_new = Membership.objects.get_or_create(
        organization=organization,
        user=found.user,
        defaults={"rests_on_phone": not found.is_new and _rests_on_phone(found.user, email)},
    )
    if is_new:
        if found.affects_existing_users:
            _count_hit(application_id)
        records.increment_version(Organization, organization.pk, None)
        log.record(
            Event.ORGANIZATION_MEMBER_CREATE,
            id=organization.pk,
            user_ids=[str(found.user.pk)],
            by="phone",
            existing_user=not found.is_new,
        )
    return member


def _rests_on_phone(user: User, email: str) -> bool:
    """Return whether the phone is unproven and the account has an email that the call did not name."""
    return bool(user.email) and user.email.lower() != email.lower() and not user.has_proven(Kind.PHONE)


def _count_hit(application_id: UUID | None) -> None:
    if application_id:
        limits.hit((rules.MEMBER_JOINS, str(application_id)))
