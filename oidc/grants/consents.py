"""Consents of users to applications: identity scopes, and scopes of API resources and organizations."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from database import ids
from database.batching import Work
from identity.core.tenant_statements import SelectValues, uuid
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import scopes_at_apis
from oidc.grants.models import AuthorizationCode, Consent, ConsentTarget, RefreshFamily

PROFILE: Final = "profile"
_CONSENT: Final = SelectValues(
    lambda: Consent.objects.filter(user=uuid("user_id"), application=uuid("application_id")).values_list(
        "pk",
        "created_at",
        "scopes",
        "has_old_profile",
        "targets__pk",
        "targets__resource_id",
        "targets__organization_id",
        "targets__scopes",
    )
)


@dataclass(frozen=True, slots=True)
class GrantedTarget:
    """The scopes that a user granted for one target; ``id`` is that of its row."""

    id: UUID
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class GrantedConsent:
    """A user's consent to an application: names of identity scopes, and targets by the target's id.

    ``has_old_profile`` says that the user saw only what release 0.1.3 released for the scope ``profile``.
    """

    id: UUID
    created_at: datetime
    identity: frozenset[str]
    has_old_profile: bool = False
    resources: dict[UUID, GrantedTarget] = field(default_factory=dict)
    organizations: dict[UUID, GrantedTarget] = field(default_factory=dict)

    def find_scopes(self, resource_id: UUID, organization_id: UUID) -> frozenset[str] | None:
        """Return the scopes at an API in an organization; None if no page that was accepted showed both."""
        at_api = self.resources.get(resource_id)
        in_organization = self.organizations.get(organization_id)
        if at_api is None or in_organization is None:
            return None
        return scopes_at_apis.find_names(in_organization.scopes, at_api.id)


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """What an application asks a user to agree to, target by target."""

    identity: tuple[str, ...]
    resource_id: UUID | None = None
    resource_scopes: tuple[str, ...] = ()
    organization_id: UUID | None = None
    organization_scopes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON that is stored with a pending request."""
        return {
            "identity": list(self.identity),
            "resource_id": self.resource_id and str(self.resource_id),
            "resource_scopes": list(self.resource_scopes),
            "organization_id": self.organization_id and str(self.organization_id),
            "organization_scopes": list(self.organization_scopes),
        }

    def targets(self) -> list[ConsentTarget]:
        """Return the targets as unsaved rows of a consent."""
        rows: list[ConsentTarget] = []
        if self.resource_id is not None:
            rows.append(ConsentTarget(resource_id=self.resource_id, scopes=list(self.resource_scopes)))
        if self.organization_id is not None:
            words = self.get_organization_words(rows[0].pk if rows else None)
            rows.append(ConsentTarget(organization_id=self.organization_id, scopes=list(words)))
        return rows

    def get_organization_words(self, api_target_id: UUID | None) -> tuple[str, ...]:
        """Return the scopes of the organization's target. ``api_target_id`` is the id of the API's target."""
        if api_target_id is None:
            return self.organization_scopes
        return *self.organization_scopes, *scopes_at_apis.to_words(api_target_id, self.resource_scopes)

    def limited_to(self, shown: dict[str, Any]) -> Self:
        """Return the part of the request that the consent page showed: ``shown`` is its ``to_json``."""
        has_resource = str(self.resource_id) == shown["resource_id"]
        has_organization = str(self.organization_id) == shown["organization_id"]
        return type(self)(
            identity=_common(self.identity, shown["identity"]),
            resource_id=self.resource_id if has_resource else None,
            resource_scopes=_common(self.resource_scopes, shown["resource_scopes"]) if has_resource else (),
            organization_id=self.organization_id if has_organization else None,
            organization_scopes=(
                _common(self.organization_scopes, shown["organization_scopes"]) if has_organization else ()
            ),
        )


def _common(names: tuple[str, ...], shown: list[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in shown)


def find(user_id: UUID, application_id: UUID) -> Work[GrantedConsent | None]:
    """Return a user's consent to an application, in one query."""
    consent: GrantedConsent | None = None
    for row in (yield from _CONSENT.find_all(user_id=user_id, application_id=application_id)):
        pk, created_at, identity, old_profile, target_id, resource_id, organization_id, scopes = row
        if consent is None:
            consent = GrantedConsent(pk, created_at, frozenset(identity), has_old_profile=old_profile)
        if resource_id is not None:
            consent.resources[resource_id] = GrantedTarget(target_id, frozenset(scopes))
        elif organization_id is not None:
            consent.organizations[organization_id] = GrantedTarget(target_id, frozenset(scopes))
    return consent


def find_id(user_id: UUID, application_id: UUID) -> UUID | None:
    """Return the id of a user's consent to an application."""
    return (
        Consent.objects.filter(user=user_id, application=application_id).values_list("pk", flat=True).first()
    )


def covers(consent: GrantedConsent | None, request: ConsentRequest) -> bool:
    """Return whether a consent includes all scopes of a request, each for its target.

    Scopes of an API in an organization must have been on one page with both.
    """
    if consent is None or not consent.identity.issuperset(request.identity):
        return False
    if consent.has_old_profile and PROFILE in request.identity:
        return False
    if request.resource_id is not None and request.organization_id is not None:
        names = consent.find_scopes(request.resource_id, request.organization_id)
        if names is None or not names.issuperset(request.resource_scopes):
            return False
    return _includes(consent.resources, request.resource_id, request.resource_scopes) and _includes(
        consent.organizations, request.organization_id, request.organization_scopes
    )


def has_organization(consent: GrantedConsent | None, organization_id: str) -> bool:
    """Return whether a consent includes an organization. The id is unparsed input."""
    return consent is not None and ids.parse(organization_id) in consent.organizations


def _includes(targets: dict[UUID, GrantedTarget], target_id: UUID | None, scopes: tuple[str, ...]) -> bool:
    if target_id is None:
        return True
    return target_id in targets and targets[target_id].scopes.issuperset(scopes)


@transaction.atomic
def grant(user: User, application: Application, granted: ConsentRequest) -> None:
    """Extend the user's consent by the granted scopes and targets. If it has all, nothing is recorded."""
    consent, is_new = Consent.objects.select_for_update().get_or_create(user=user, application=application)
    names = {*consent.scopes, *granted.identity}
    renews_profile = consent.has_old_profile and PROFILE in granted.identity
    has_grown = is_new or renews_profile or len(names) > len(consent.scopes)
    facts: dict[str, Any] = {"scopes": list(granted.identity)}
    api_target_id = None
    if granted.resource_id is not None:
        api_target_id, is_more = _add(consent, granted.resource_scopes, resource_id=granted.resource_id)
        has_grown |= is_more
        facts |= {"resource_id": granted.resource_id, "resource_scopes": list(granted.resource_scopes)}
    if granted.organization_id is not None:
        words = granted.get_organization_words(api_target_id)
        has_grown |= _add(consent, words, organization_id=granted.organization_id)[1]
        facts |= {
            "organization_id": granted.organization_id,
            "organization_scopes": list(granted.organization_scopes),
        }
    if not has_grown:
        return
    consent.scopes = sorted(names)
    consent.has_old_profile = consent.has_old_profile and not renews_profile
    consent.updated_at = timezone.now()
    consent.save(update_fields=["scopes", "has_old_profile", "updated_at"])
    log.record(Event.CONSENT_GRANT, user_id=user.pk, application_id=application.pk, **facts)


@transaction.atomic
def revoke_for_trial(code: AuthorizationCode, *, given_since: datetime) -> bool:
    """Revoke the consent of a trial's code if it was given in the trial, and return whether it was revoked.

    A consent was given in the trial if it is not older, and if no other code or refresh token depends on it.
    """
    if code.consent_id is None:
        return False
    consents = Consent.objects.filter(pk=code.consent_id, created_at__gte=given_since)
    consent = consents.select_for_update(of=("self",)).first()
    if consent is None:
        return False
    others = AuthorizationCode.objects.filter(consent_id=consent.pk).exclude(pk=code.pk)
    if others.exists() or RefreshFamily.objects.live().filter(consent_id=consent.pk).exists():
        return False
    consent.delete()
    log.record(
        Event.CONSENT_REVOKE, user_id=code.user_id, application_id=code.application_id, reason="test_ended"
    )
    return True


def _add(consent: Consent, scopes: tuple[str, ...], **target: UUID) -> tuple[UUID, bool]:
    """Extend a target of a consent. Return its id, and whether it is new or has got further scopes."""
    # The row of the consent is locked, so no other transaction writes its targets.
    row, is_new = ConsentTarget.objects.get_or_create(
        consent=consent, **target, defaults={"scopes": sorted(scopes)}
    )
    names = {*row.scopes, *scopes}
    if is_new or len(names) == len(row.scopes):
        return row.pk, is_new
    row.scopes = sorted(names)
    row.updated_at = timezone.now()
    row.save(update_fields=["scopes", "updated_at"])
    return row.pk, True
