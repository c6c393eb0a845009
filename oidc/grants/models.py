"""Models of grants, which replace the toolkit's token models.

A refresh family has one row, however often it is used. Access and ID tokens are not stored.
"""

from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F
from django.db.models.functions import Now

from identity.core.models import TenantManager, TenantModel
from identity.organizations.models import Organization
from identity.resources.models import Resource
from identity.sessions.models import Session
from identity.users.models import User
from oidc.applications import lifetimes

_APPLICATION = settings.OAUTH2_PROVIDER_APPLICATION_MODEL


class AuthorizationRequest(TenantModel):
    """A pending authorization request, bound to the browser that sent it."""

    # Empty until a browser claims the request, which then came without cookies.
    browser = models.CharField(max_length=64)
    # The newest secret of a browser in which something was proven: see ``identity.sessions.proof_secrets``.
    secret_hash = models.CharField(max_length=64, null=True)
    application = models.ForeignKey(_APPLICATION, on_delete=models.CASCADE, related_name="+")
    # The query as it was sent, percent-encoded: it is validated again when the request continues.
    query = models.TextField()
    expires_at = models.DateTimeField()
    # The language that the user chose on a page; it has precedence over the client's ``ui_locales``.
    language = models.CharField(max_length=16, blank=True)
    # The steps that the user completed for this request, and in which session.
    session = models.ForeignKey(Session, null=True, on_delete=models.CASCADE, related_name="+")
    signed_in_at = models.DateTimeField(null=True)
    account_chosen_at = models.DateTimeField(null=True)
    consented_at = models.DateTimeField(null=True)
    # The user declined a stronger sign-in that the request wishes for, or cancelled one that it demands.
    wish_declined_at = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)
    # What the consent page last showed: the user cannot agree to more. See ``ConsentRequest.to_json``.
    shown = models.JSONField(null=True)
    # An administrator's trial: the response goes to the operators' site, not to the application. Elsewhere
    # in the code it is ``is_trial``; this column and the audit log say test.
    is_test = models.BooleanField(default=False, db_default=False, editable=False)

    objects = TenantManager()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "browser", "-created_at"], name="request_of_browser"),
            models.Index(fields=["expires_at"], name="request_over"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class AuthorizationCode(TenantModel):
    """An authorization code, stored as a hash. A consumed code is kept until its tokens have ended."""

    code_hash = models.CharField(max_length=64)
    application = models.ForeignKey(_APPLICATION, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    redirect_uri = models.TextField()
    scope = models.TextField()
    resource = models.TextField(blank=True)
    organization_id = models.CharField(max_length=36, blank=True)
    # The individually requested claims, by destination: userinfo, id_token.
    claims = models.JSONField(default=dict)
    nonce = models.TextField(blank=True)
    code_challenge = models.CharField(max_length=43, blank=True)
    # The authentication context (acr) that the ID token names. Empty: none.
    acr = models.TextField(blank=True, default="", db_default="")
    # The sign-in when the code was issued: see ``code_sign_ins``. Null in rows of release 0.5.0.
    epoch = models.PositiveIntegerField(null=True)
    auth_time = models.DateTimeField(null=True)
    amr = models.JSONField(null=True)
    level = models.PositiveSmallIntegerField(null=True)
    remembered = models.BooleanField(null=True)
    # The consent that a third-party application's code was issued under. Unset on rows of release 0.1.0.
    consent_id = models.UUIDField(null=True)
    expires_at = models.DateTimeField()
    consumed_at = models.DateTimeField(null=True)
    # The tokens that the exchange issued, so that a second use can revoke them.
    family_id = models.UUIDField(null=True)
    access_token_id = models.CharField(max_length=36, null=True)
    access_token_expires_at = models.DateTimeField(null=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "code_hash"], name="authorization_code_unique")
        ]

    def __str__(self) -> str:
        return str(self.pk)


class RefreshFamilyQuerySet(models.QuerySet["RefreshFamily"]):
    """Queries for refresh families."""

    def live(self) -> Self:
        """Return families that have not ended or expired, by database time, and whose user may sign in."""
        return self.filter(
            ended_at=None,
            idle_expires_at__gt=Now(),
            expires_at__gt=Now(),
            user__is_suspended=False,
            user__epoch=F("epoch"),
        )

    def refreshable(self) -> Self:
        """Return live families within the current lifetimes. Access tokens depend on any live family."""
        return self.live().filter(lifetimes.are_kept())


class RefreshFamily(TenantModel):
    """All refresh tokens that come from one code, stored as one row with a generation counter."""

    application = models.ForeignKey(_APPLICATION, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    epoch = models.PositiveIntegerField()
    scope = models.TextField()
    claims = models.JSONField(default=dict)
    generation = models.PositiveIntegerField(default=0)
    key_id = models.CharField(max_length=8)
    rotated_at = models.DateTimeField(db_default=Now())
    idle_expires_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    end_reason = models.CharField(max_length=32, blank=True)
    # The sign-in of the code. The ID tokens of a refresh repeat these values.
    session_id = models.UUIDField()
    auth_time = models.DateTimeField()
    amr = models.JSONField(default=list)
    level = models.PositiveSmallIntegerField(default=1, db_default=1)
    remembered = models.BooleanField(default=False, db_default=False)
    acr = models.TextField(blank=True, default="", db_default="")
    # The consent to a third-party application. Null in rows of release 0.1.0, or if it was first-party then.
    consent_id = models.UUIDField(null=True)

    # The lifetimes of a family that is not stored yet.
    idle_lifetime: timedelta
    absolute_lifetime: timedelta

    objects = TenantManager.from_queryset(RefreshFamilyQuerySet)()

    class Meta:
        verbose_name_plural = "refresh families"
        # No index has a column that a refresh changes, so PostgreSQL can update the row in place (HOT).
        indexes = [models.Index(fields=["tenant"], name="refresh_family_of_tenant")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(remembered=False) | models.Q(level__lt=2),
                name="refresh_family_remembered_has_no_level",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class RevokedToken(TenantModel):
    """The id of an access token that was revoked before it expired."""

    token_id = models.CharField(max_length=36)
    expires_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "token_id"], name="revoked_token_unique")]
        indexes = [models.Index(fields=["expires_at"], name="revoked_token_over")]

    def __str__(self) -> str:
        return self.token_id


class Consent(TenantModel):
    """A user's consent to an application: the identity scopes here, the rest in ``targets``."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="consents")
    application = models.ForeignKey(_APPLICATION, on_delete=models.CASCADE, related_name="+")
    scopes = models.JSONField(default=list)
    # Whether the user saw the consent page of 0.1.3, which named fewer members of the ``profile``.
    has_old_profile = models.BooleanField(db_default=False, default=False, editable=False)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "application"], name="consent_unique")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.application_id}"


class ConsentTarget(TenantModel):
    """The scopes that a consent includes for one API resource or one organization.

    The database deletes the row with its consent, resource or organization (see the migration), for nodes of
    0.1.0. Django deletes it too, with one more statement for each of these, because a later migration that
    rebuilds the table on SQLite may lose the database's ON DELETE clauses.
    """

    consent = models.ForeignKey(Consent, on_delete=models.CASCADE, related_name="targets")
    resource = models.ForeignKey(Resource, null=True, on_delete=models.CASCADE, related_name="+")
    organization = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    scopes = models.JSONField(default=list)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "consent", "resource"], name="consent_target_resource_unique"
            ),
            models.UniqueConstraint(
                fields=["tenant", "consent", "organization"], name="consent_target_organization_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(resource=None, organization__isnull=False)
                | models.Q(resource__isnull=False, organization=None),
                name="consent_target_is_one_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.consent_id} {self.resource_id or self.organization_id}"


class Unstored(models.Model):
    """A placeholder for the toolkit's models of ID tokens and device grants, which are not stored.

    It has no table. The toolkit requires a model by name; no code reads or writes it.
    """

    class Meta:
        managed = False

    def __str__(self) -> str:
        return ""
