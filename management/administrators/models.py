"""The administrator: Django's user model here."""

from typing import Any, ClassVar, Final

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.crypto import salted_hmac

from audit.compiled import Given
from identity.core.models import Versioned
from identity.tenants.models import Tenant

_FOR_SUPERUSERS: Final = {"administrator", "tenant"}
_FOR_SUPPORT: Final = {"user", "session"}


class AdministratorManager(BaseUserManager["Administrator"]):
    """Administrators, for us and for Django's own commands (``createsuperuser``, ``changepassword``)."""

    def seen_from(self, tenant_id: str | Given) -> "QuerySet[Administrator]":
        """Return administrators, each of whom knows whether the tenant is on the own list."""
        listed = Administrator.tenants.through.objects.filter(administrator=OuterRef("pk"), tenant=tenant_id)
        return self.annotate(lists_tenant=Exists(listed))

    def create_superuser(self, username: str, password: str, **fields: Any) -> "Administrator":
        """Create an administrator of every tenant."""
        administrator = self.model(username=username, is_superuser=True, **fields)
        administrator.set_password(password)
        administrator.save()
        return administrator


class Role(models.TextChoices):
    """What an administrator may do in the tenants that are managed. All of them may read."""

    ADMINISTRATOR = "administrator"
    SUPPORT = "support"
    AUDITOR = "auditor"


class Administrator(AbstractBaseUser, PermissionsMixin, Versioned):
    """Manages every tenant (``is_superuser``) or those in ``tenants``, as far as ``role`` goes."""

    id = models.BigAutoField(primary_key=True)
    username = models.CharField(max_length=128, unique=True)
    email = models.CharField(max_length=254, blank=True)
    phone = models.CharField(max_length=32, blank=True)
    role = models.CharField(max_length=16, choices=Role, default=Role.ADMINISTRATOR)
    tenants = models.ManyToManyField(Tenant, related_name="+", blank=True)
    # The second step of signing in: since when, its secret, and the last time step that counted.
    second_step_since = models.DateTimeField(null=True, editable=False)
    sealed_totp_secret = models.CharField(max_length=256, blank=True, editable=False)
    totp_step = models.BigIntegerField(default=0, editable=False)

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = AdministratorManager()

    is_active = True
    is_staff = True

    def __str__(self) -> str:
        return self.username

    def get_session_auth_hash(self) -> str:
        """Return what a browser session is tied to: other proofs end it, and so does another standing."""
        standing = f"{self.proofs} {self.is_superuser} {self.role}"
        return salted_hmac("administrator sessions", standing, algorithm="sha256").hexdigest()

    @property
    def proofs(self) -> str:
        """What sessions and tokens were given for: they end when it changes."""
        since = self.second_step_since
        return f"{self.password} {since.timestamp()}" if since else self.password

    def has_perm(self, perm: str, obj: object = None) -> bool:
        """Tell whether the operators' site may show or change a kind of row (``app.verb_model``)."""
        verb, _, model = perm.partition(".")[2].partition("_")
        if model in _FOR_SUPERUSERS and not self.is_superuser:
            return False
        return verb == "view" or self.may_change(model)

    def may_change(self, model: str) -> bool:
        """Tell whether the role goes as far as changing this kind of row."""
        return self.role == Role.ADMINISTRATOR or (self.role == Role.SUPPORT and model in _FOR_SUPPORT)

    @property
    def manages_everything(self) -> bool:
        """Whether nothing is kept from this administrator."""
        return self.is_superuser and self.role == Role.ADMINISTRATOR

    @property
    def manages_tenant(self) -> bool:
        """Whether this administrator may manage the tenant that ``seen_from`` was asked about."""
        return self.is_superuser or self.lists_tenant  # type: ignore[attr-defined]


class RecoveryCode(models.Model):
    """A code that counts once in place of the authenticator's, as a keyed hash. Used, it is gone."""

    administrator = models.ForeignKey(Administrator, models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=80)

    def __str__(self) -> str:
        return f"recovery code {self.pk}"
