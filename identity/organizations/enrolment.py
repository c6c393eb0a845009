"""Joining people to an organization by phone, as third-party applications do."""

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
    """Join the user of a phone number, who is created when nobody has it. Safe to repeat.

    An existing user keeps name and email as they are. Of several calls at once all return
    the same membership. ``application_id`` is the application that asks. What its calls tell or change of
    other people is limited. Beyond the limit it joins nobody, so that its answers do not say who exists.

    Raises:
        NoSuchOrganization: it was deleted at this moment.
        Invalid: the phone breaks a rule, or a new user's email is somebody else's.
        limits.TooMany: the application learned of too many users within the hour.

    """
    try:
        return _enrolled(organization, phone, name, email, application_id)
    except records.Taken:
        # The answer says that somebody has the email. What it counts outlives what was rolled back.
        _count(application_id)
        raise


@transaction.atomic
def _enrolled(
    organization: Organization, phone: str, name: str, email: str, application_id: UUID | None
) -> Membership:
    # One at a time joins an organization, here and in ``add_members``.
    held = Organization.objects.select_for_update(no_key=True).filter(pk=organization.pk)
    if held.values_list("pk").first() is None:
        raise NoSuchOrganization
    if application_id and not limits.test((rules.MEMBER_JOINS, str(application_id))):
        key = identifiers.phone_key(identifiers.clean_phone(phone))
        if known := Membership.objects.filter(organization=organization, user__phone_key=key).first():
            return known
        _count(application_id)
    found = users.find_or_create_by_phone(phone=phone, name=name, email=email)
    member, joined = Membership.objects.get_or_create(
        organization=organization,
        user=found.user,
        defaults={"rests_on_phone": not found.is_new and _means_phone_alone(found.user, email)},
    )
    if joined:
        if found.affects_existing_users:
            _count(application_id)
        records.touch(Organization, organization.pk, None)
        log.record(
            Event.ORGANIZATION_MEMBER_CREATE,
            id=organization.pk,
            user_ids=[str(found.user.pk)],
            by="phone",
            existing_user=not found.is_new,
        )
    return member


def _means_phone_alone(user: User, email: str) -> bool:
    """Tell whether who joins a user by phone does not mean the email, by which somebody else could come."""
    return bool(user.email) and user.email.lower() != email.lower() and not user.has_proven(Kind.PHONE)


def _count(application_id: UUID | None) -> None:
    if application_id:
        limits.hit((rules.MEMBER_JOINS, str(application_id)))
