"""The export of a user's own data, without secrets and hashes of secrets."""

from typing import Any, Final

from django.db.models import Q

from audit import log
from audit.events import Event
from identity.factors import services as factors
from identity.factors.models import KnownBrowser, SignInCountry
from identity.organizations.models import Membership
from identity.rest.fields import timestamp
from identity.roles.models import Role, UserRole
from identity.sessions.models import Session
from identity.users.models import User
from interaction.journeys.account import own_entries
from interaction.journeys.second_factor import reauthentication
from interaction.social import services as identities
from oidc.grants import connections, descriptions
from oidc.provider import scopes

Data = dict[str, Any]

_MAX_ROWS: Final = 1000  # the newest sessions and log entries


def export(session: Session, *, password: str) -> Data:
    """Return profile, sessions, applications, organizations, roles and activity of a user.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        reauthentication.SignInAgain: the user has no password, and the sign-in is too old; or the session has
            ended.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        passwords.Busy: too many passwords are being hashed.
        limits.TooMany: too many sign-ins from this network.

    """
    reauthentication.reauthenticate(session, password)
    reauthentication.check_still_signed_in(session)  # hashing takes time
    user = session.user
    log.record(Event.USER_EXPORT, user_id=user.pk, id=user.pk)
    return {
        "profile": _profile(user),
        **({"second_factors": _second_factors(user)} if user.factors else {}),
        **_browsers(user),
        "sessions": _sessions(user),
        "linked_accounts": _linked_accounts(user),
        "applications": _applications(user),
        "organizations": _organizations(user),
        "roles": list(
            Role.objects.filter(pk__in=UserRole.objects.filter(user=user).values("role_id"))
            .order_by("name")
            .values_list("name", flat=True)
        ),
        "activity": _activity(user),
    }


def _profile(user: User) -> Data:
    return {
        "id": str(user.pk),
        "username": user.username,
        "name": user.name,
        "email": user.email,
        "email_verified": user.email_verified,
        "phone": user.phone,
        "phone_verified": user.phone_verified,
        "avatar": user.avatar,
        "profile": user.profile,
        "custom_data": user.custom_data,
        "has_password": bool(user.password),
        "login_count": user.login_count,
        "last_sign_in_at": user.last_sign_in_at and timestamp(user.last_sign_in_at),
        "created_at": timestamp(user.created_at),
        "updated_at": timestamp(user.updated_at),
    }


def _sessions(user: User) -> list[Data]:
    # A node sets ``created_at``, and its clock can be behind. Live sessions are always the owner's.
    is_live = Q(ended_at=None, epoch=user.epoch)
    sessions = Session.objects.filter(Q(created_at__gte=own_entries.get_beginning(user)) | is_live, user=user)
    return [
        {
            "id": str(session.pk),
            "signed_in_at": session.known_auth_time and timestamp(session.known_auth_time),
            "last_used_at": timestamp(session.last_used_at),
            "ended_at": session.ended_at and timestamp(session.ended_at),
            "methods": session.amr,
            "ip": session.ip,
            "user_agent": session.user_agent,
        }
        for session in sessions.order_by("-created_at", "-pk")[:_MAX_ROWS]
    ]


def _second_factors(user: User) -> list[Data]:
    return [
        {
            "type": factor.type.value,
            "name": factor.name,
            "added_at": timestamp(factor.created_at),
            "last_used_at": factor.last_used_at and timestamp(factor.last_used_at),
        }
        for factor in factors.get_factors(user)
    ]


def _browsers(user: User) -> Data:
    """Return the browsers and countries that are stored for a user, if there are any."""
    known = KnownBrowser.objects.filter(user=user).order_by("-last_seen_at", "-pk")
    browsers = [
        {
            "name": browser.label,
            "ip": browser.ip,
            "first_seen_at": timestamp(browser.first_seen_at),
            "last_seen_at": timestamp(browser.last_seen_at),
            "remembered_until": browser.remembered_until and timestamp(browser.remembered_until),
        }
        for browser in known
    ]
    if not browsers:
        return {}
    seen = SignInCountry.objects.filter(user=user).order_by("country")
    countries = [{"country": row.country, "last_seen_at": timestamp(row.last_seen_at)} for row in seen]
    return {"browsers": browsers, **({"countries": countries} if countries else {})}


def _linked_accounts(user: User) -> list[Data]:
    return [
        {
            "provider": identity.provider,
            "subject": identity.subject,
            "name": identity.name,
            "email": identity.email,
            "linked_at": timestamp(identity.created_at),
            "last_used_at": timestamp(identity.last_used_at),
        }
        for identity in identities.find_by_user(user)
    ]


def _applications(user: User) -> list[Data]:
    connected = connections.get_connections(user)
    described = descriptions.describe(target for connection in connected for target in connection.targets)
    return [
        {
            "id": str(connection.application.pk),
            "name": connection.application.name,
            "scopes": scopes.get_identity_scopes(" ".join(connection.scopes)),
            "apis": [
                {
                    "id": str(target.resource_id),
                    "name": described[target.pk].name,
                    "indicator": described[target.pk].indicator,
                    "scopes": target.scopes,
                }
                for target in connection.targets
                if target.resource_id and target.pk in described
            ],
            "organizations": [
                {
                    "id": str(target.organization_id),
                    "name": described[target.pk].name,
                    "scopes": [name for name, _ in described[target.pk].scopes],
                    "apis": [
                        {"name": name, "scopes": [scope for scope, _ in scopes_there]}
                        for name, scopes_there in described[target.pk].apis
                    ],
                }
                for target in connection.targets
                if target.organization_id and target.pk in described
            ],
            "since": timestamp(connection.since),
            "last_used_at": connection.last_used_at and timestamp(connection.last_used_at),
        }
        for connection in connected
    ]


def _organizations(user: User) -> list[Data]:
    memberships = (
        Membership.objects.filter(user=user).select_related("organization").order_by("created_at", "pk")
    )
    return [
        {
            "id": str(membership.organization_id),
            "name": membership.organization.name,
            "is_admin": membership.is_admin,
            "roles": sorted(link.role.name for link in membership.role_links.all()),
            "joined_at": timestamp(membership.created_at),
        }
        for membership in memberships.prefetch_related("role_links__role")
    ]


def _activity(user: User) -> list[Data]:
    entries = own_entries.find(user)[:_MAX_ROWS]
    return [{**own_entries.describe(entry), "at": timestamp(entry.created_at)} for entry in entries]
