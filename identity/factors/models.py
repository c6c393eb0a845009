"""What users prove besides, or instead of, a password: passkeys, authenticators and backup codes.

The database keeps ``User.factors`` up to date by triggers: see ``triggers``.
"""

from datetime import datetime

from django.db import models
from django.db.models import Q

from identity.core.models import TenantManager, TenantModel
from identity.factors import credential_columns
from identity.factors.credential_columns import Credential
from identity.users.models import User


class Passkey(Credential, TenantModel):
    """A WebAuthn credential of a user: a passkey, or a security key."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="passkeys")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "credential_hash"], name="passkey_credential_unique"),
            *credential_columns.constraints("passkey"),
        ]


class Authenticator(TenantModel):
    """An app that shows a code from a shared secret (TOTP)."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="authenticators")
    name = models.CharField(max_length=64, blank=True)
    sealed_secret = models.TextField()
    # The time step of the last code. A code counts only if its step is later.
    last_step = models.BigIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(sealed_secret=""), name="authenticator_has_a_secret"),
        ]
        indexes = [models.Index(fields=["tenant"], name="authenticator_of_tenant")]

    def __str__(self) -> str:
        return self.name or str(self.pk)

    @property
    def now(self) -> datetime:
        """The time of the database when the authenticator was read.

        Raises:
            AttributeError: it was not read with ``authenticators.get_timed``.

        """
        read_at: datetime | None = getattr(self, "read_at", None)
        if read_at is None:
            raise AttributeError("now: read the authenticator with authenticators.get_timed")
        return read_at


class BackupCode(TenantModel):
    """A single-use code for a user who cannot use the other factors. Only a keyed hash is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="backup_codes")
    digest = models.CharField(max_length=80)
    used_at = models.DateTimeField(null=True)

    objects = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="backup_code_unique")]

    def __str__(self) -> str:
        return str(self.pk)


class KnownBrowser(TenantModel):
    """A browser in which a user has signed in, and until when no second factor is asked for in it."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="known_browsers")
    token_hash = models.CharField(max_length=64)
    label = models.CharField(max_length=128, blank=True)
    ip = models.CharField(max_length=64, blank=True)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    remembered_at = models.DateTimeField(null=True)
    remembered_until = models.DateTimeField(null=True)
    # Since when the browser has been remembered without a gap: ``remembered_at``, or earlier if the user
    # chose it again while it still was. Null in rows of 0.5.0: as ``remembered_at``.
    remembered_since = models.DateTimeField(null=True)
    # ``User.epoch`` at ``remembered_at``. A new password, a suspension or a reset increments the epoch, so
    # that the browser is no longer remembered.
    remembered_epoch = models.PositiveIntegerField(null=True)
    # The level of the sign-in after which the browser was remembered: at least two factors.
    remembered_level = models.PositiveSmallIntegerField(null=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "token_hash"], name="known_browser_unique"),
            models.CheckConstraint(
                condition=Q(remembered_until=None, remembered_level=None)
                | Q(remembered_until__isnull=False, remembered_level__isnull=False),
                name="known_browser_remembered",
            ),
        ]
        indexes = [models.Index(fields=["last_seen_at"], name="known_browser_over")]

    def __str__(self) -> str:
        return self.label or str(self.pk)


class SignInCountry(TenantModel):
    """A country from which a user has signed in, and when last (ISO 3166-1)."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    country = models.CharField(max_length=2)
    last_seen_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "country"], name="sign_in_country_unique"),
        ]
        indexes = [models.Index(fields=["last_seen_at"], name="sign_in_country_over")]

    def __str__(self) -> str:
        return self.country


class RecoveryGrant(TenantModel):
    """A recovery code that an administrator made for a user who lost all factors."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="recovery_grants")
    digest = models.CharField(max_length=80)
    # The administrator or the application: an id, as in the audit log.
    made_by = models.CharField(max_length=80)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "digest"], name="recovery_grant_unique"),
            models.UniqueConstraint(
                fields=["tenant", "user"], condition=Q(used_at=None), name="recovery_grant_one_live"
            ),
        ]
        indexes = [models.Index(fields=["expires_at"], name="recovery_grant_over")]

    def __str__(self) -> str:
        return str(self.pk)
