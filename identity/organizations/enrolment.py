"""Adding members to an organization by phone, for third-party applications."""

from uuid import UUID

from django.db import DataError, transaction

from audit import log
from audit.events import Event
from identity.core import records
from identity.limits import rules
from identity.limits import services as limits
from identity.organizations.models import Membership, Organization
from identity.organizations.services import NoSuchOrganization
from identity.users import by_phone, identifiers
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

    An existing user keeps their name and email. Parallel calls return the same membership. A limit bounds how
    many existing accounts the calls of an application (``application_id``) reveal or change. Beyond the
    limit, the application cannot add members.

    Raises:
        NoSuchOrganization: the organization was deleted meanwhile.
        Invalid: the phone breaks a rule, or another user has the email of the new user.
        limits.TooMany: the application's calls revealed too many accounts in the last hour.

    """
    try:
        return _enroll(organization, phone, name, email, application_id)
    except (records.Taken, DataError):
        # A member or an existing user would have been returned, so the response reveals that nobody has the
        # phone. A taken email reveals its user. The hit must not be rolled back.
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
    found = by_phone.find_or_create(phone=phone, name=name, email=email)
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
            about=found.user.pk,
            by="phone",
            existing_user=not found.is_new,
        )
    return member


def _rests_on_phone(user: User, email: str) -> bool:
    """Return whether the user may lose the phone, and has an email that the call did not name."""
    return bool(user.email) and user.email.lower() != email.lower() and not user.has_own_proof(Kind.PHONE)


def _count_hit(application_id: UUID | None) -> None:
    if application_id:
        limits.hit((rules.MEMBER_JOINS, str(application_id)))
