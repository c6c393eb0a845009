"""Administrators, which are Django's user model."""

import time
from collections.abc import Collection
from typing import ClassVar, Final

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from database import ids
from identity.core.models import Timestamped, Versioned
from identity.factors import credential_columns
from identity.factors.credential_columns import Credential
from identity.tenants.models import Tenant
from management.administrators import support_rights
from management.administrators.managers import AdministratorManager

_FOR_SUPERUSERS: Final = {"administrator", "invitation", "tenant"}


def parse_id(text: str) -> int | None:
    """Return the id of an administrator from its text, or None if it is not a whole number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None  # noqa: PLR2004


class Role(models.TextChoices):
    """What an administrator may do in the managed tenants. Every role may read."""

    ADMINISTRATOR = "administrator", _("Administrator")
    SUPPORT = "support", pgettext_lazy("role of an administrator", "Support")
    AUDITOR = "auditor", _("Auditor")


class Administrator(AbstractBaseUser, PermissionsMixin, Versioned):
    """Manages every tenant (``is_superuser``) or those in ``tenants``, within the limits of ``role``."""

    id = models.BigAutoField(primary_key=True)
    username = models.CharField(max_length=128, unique=True)
    # The username for comparison. Null if another username had the same key when keys were added: see the
    # doctor.
    username_key = models.CharField(max_length=512, null=True, editable=False)
    email = models.CharField(max_length=254, blank=True)
    # The email that this administrator has proven to read. If ``email`` differs, it is unproven.
    proven_email = models.CharField(max_length=254, null=True, editable=False)
    phone = models.CharField(max_length=32, blank=True)
    role = models.CharField(max_length=16, choices=Role, default=Role.ADMINISTRATOR)
    tenants = models.ManyToManyField(Tenant, related_name="+", blank=True)
    # The second step of signing in: since when, its encrypted secret, and the last time step used.
    second_step_since = models.DateTimeField(null=True, editable=False)
    sealed_totp_secret = models.CharField(max_length=256, blank=True, editable=False)
    totp_step = models.BigIntegerField(default=0, editable=False)
    # Incremented when the second step is set up or removed and when ``is_superuser`` or ``role`` changes. So
    # sessions, tokens and links from before a change stay ended when the change is undone.
    epoch = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    # The IANA name of the zone of the times on the operators' site; empty for UTC.
    time_zone = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    # The language of the operators' site and of mails, as in LANGUAGES; empty for that of the browser.
    language = models.CharField(max_length=16, blank=True, default="", db_default="", editable=False)

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = AdministratorManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["username_key"],
                condition=models.Q(username_key__isnull=False),
                name="administrator_username_key",
            )
        ]

    # When the token of this request was issued, in seconds since 1970; 0 without a token.
    signed_in_at: float = 0

    is_active = True
    is_staff = True

    def __str__(self) -> str:
        return self.username

    def get_session_auth_hash(self) -> str:
        """Return the hash that a browser session depends on: new credentials or rights end the session."""
        state = f"{self.proofs} {self.is_superuser} {self.role}"
        return salted_hmac("administrator sessions", state, algorithm="sha256").hexdigest()

    @property
    def proofs(self) -> str:
        """The credentials and the epoch that sessions and tokens depend on. A change ends both."""
        parts = [self.password]
        if self.second_step_since:
            parts.append(str(self.second_step_since.timestamp()))
        if self.epoch:  # 0.4.0 has no epoch, so its sessions and tokens continue until the first change
            parts.append(f"epoch {self.epoch}")
        return " ".join(parts)

    @property
    def has_proven_email(self) -> bool:
        """Whether the administrator has proven to read the mail of ``email``, as it is now."""
        return bool(self.email) and self.proven_email == self.email

    def has_perm(self, perm: str, obj: object = None) -> bool:
        """Return whether the administrator may see or change a model at /admin (``app.verb_model``).

        The verb is ``view``, ``do-`` with the name of an operation, or ``change`` for any operation.
        """
        verb, _, model = perm.partition(".")[2].rpartition("_")
        if model in _FOR_SUPERUSERS and not self.is_superuser:
            return False
        if verb == "view" or self.role == Role.ADMINISTRATOR:
            return True
        open_to = (
            support_rights.OPERATIONS.get(model, frozenset()) if self.role == Role.SUPPORT else frozenset()
        )
        return bool(open_to) if verb == "change" else verb.removeprefix("do-") in open_to

    def may_write(self, route: str, method: str, fields: Collection[str]) -> bool:
        """Return whether the role allows sending these fields to a route of the management API."""
        if self.role == Role.ADMINISTRATOR:
            return True
        return self.role == Role.SUPPORT and support_rights.may_write(route, method, fields)

    @property
    def has_signed_in_recently(self) -> bool:
        """Whether the administrator signed in within ``ADMIN_PROOF_SECONDS``."""
        return time.time() - self.signed_in_at <= settings.ADMIN_PROOF_SECONDS

    @property
    def has_recent_proof(self) -> bool:
        """Whether the administrator signed in, with any second step, within ``CONFIRM_SECONDS``."""
        return time.time() - self.signed_in_at <= settings.CONFIRM_SECONDS

    @property
    def vouches_for_addresses(self) -> bool:
        """Whether an email or phone that this administrator sets for a user counts as proven."""
        return self.role == Role.ADMINISTRATOR

    @property
    def ends_second_factor_locks(self) -> bool:
        """Whether this administrator ends the lock that bounds the guesses of a user's second factor."""
        return self.role == Role.ADMINISTRATOR

    @property
    def manages_everything(self) -> bool:
        """Whether this administrator may do everything in every tenant."""
        return self.is_superuser and self.role == Role.ADMINISTRATOR

    @property
    def manages_tenant(self) -> bool:
        """Whether this administrator may manage the tenant of ``with_tenant_access``."""
        return self.is_superuser or self.lists_tenant  # type: ignore[attr-defined]


class RecoveryCode(models.Model):
    """A single-use code in place of the authenticator's, stored as a keyed hash. Deleted when used."""

    administrator = models.ForeignKey(Administrator, models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=80)

    def __str__(self) -> str:
        return f"recovery code {self.pk}"


class ProviderAccount(Timestamped):
    """An account at the OpenID provider of the installation, by which an administrator may sign in.

    The administrator has linked it while signed in. The row is deleted when the account is unlinked.
    """

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    # No database constraint: nodes of the previous release delete administrators without this row.
    administrator = models.OneToOneField(
        Administrator, models.CASCADE, related_name="provider_account", db_constraint=False
    )
    issuer = models.CharField(max_length=512)
    subject = models.CharField(max_length=255)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="provider_account")]

    def __str__(self) -> str:
        return self.subject


class AdministratorPasskey(Credential, Timestamped):
    """A passkey by which an administrator signs in to the operators' site. Users have another table."""

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    # No database constraint: nodes of the previous release delete administrators without this row.
    administrator = models.ForeignKey(
        Administrator, models.CASCADE, related_name="passkeys", db_constraint=False
    )
    # 32 random bytes in base64url. All passkeys of an administrator have the same.
    user_handle = models.CharField(max_length=43)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["credential_hash"], name="administrator_passkey_credential"),
            *credential_columns.constraints("administrator_passkey"),
        ]


class Invitation(Versioned):
    """An invitation to become an administrator. It is deleted when it is accepted or revoked.

    The invited person has a link with a random token, of which the hash is stored.
    """

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    email = models.CharField(max_length=254)
    email_key = models.CharField(max_length=512, editable=False)
    is_superuser = models.BooleanField(default=False, verbose_name="manages every tenant")
    role = models.CharField(max_length=16, choices=Role, default=Role.ADMINISTRATOR)
    # No database constraints: nodes of the previous release delete administrators and tenants but not these
    # rows.
    tenants = models.ManyToManyField(Tenant, related_name="+", blank=True, db_constraint=False)
    invited_by = models.ForeignKey(Administrator, models.CASCADE, related_name="+", db_constraint=False)
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    # Whether the link was sent to ``email`` and shown to nobody. Then the link proves that address.
    is_mailed = models.BooleanField(default=False, verbose_name="sent by mail", editable=False)
    # Whether the mail server refused the link. Then nobody was shown the link.
    is_refused = models.BooleanField(
        default=False, db_default=False, verbose_name="refused by the mail server", editable=False
    )
    expires_at = models.DateTimeField(verbose_name="expires")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["email_key"], name="invitation_email_key")]
        indexes = [models.Index(fields=["expires_at"], name="invitation_expires_at")]

    def __str__(self) -> str:
        return self.email
