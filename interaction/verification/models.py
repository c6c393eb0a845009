"""Codes that were sent, and the messages that are still to be sent."""

from typing import Self

from django.db import models

from database.clock import DatabaseNow, seconds_ahead
from identity.core.models import TenantManager, TenantModel
from identity.users.identifiers import Kind

CODE_SECONDS = 300
PROOF_SECONDS = 600
MOST_TRIES = 5


class Purpose(models.TextChoices):
    """What a code is good for, and for nothing else."""

    SIGN_IN = "sign_in"
    REGISTER = "register"
    FORGOT_PASSWORD = "forgot_password"  # noqa: S105 - a purpose
    CHANGE = "change"  # of a signed-in person's own email or phone


class CodeQuerySet(models.QuerySet["VerificationCode"]):
    """Reads of codes, by the database's clock."""

    def of(self, *, purpose: Purpose, kind: Kind, key: str, browser: str) -> Self:
        """Return the codes that a browser asked for, for this identifier and purpose."""
        return self.filter(purpose=purpose, kind=kind, identifier_key=key, browser=browser)

    def live(self) -> Self:
        """Return those that may still be entered."""
        return self.filter(used_at=None, expires_at__gt=DatabaseNow(), tries__lt=MOST_TRIES)

    def proofs(self) -> Self:
        """Return those that were entered rightly, lately, and not made use of yet."""
        return self.filter(used_at__gt=seconds_ahead(-PROOF_SECONDS), spent_at=None)


class VerificationCode(TenantModel):
    """A code, bound to identifier, purpose and browser; once entered, the proof that it was.

    A silent one was sent to nobody, since nobody is known by the identifier, and never verifies.
    """

    purpose = models.CharField(max_length=32, choices=Purpose)
    kind = models.CharField(max_length=16)
    identifier_key = models.CharField(max_length=1024)
    address = models.CharField(max_length=254)
    browser = models.CharField(max_length=64)
    code_hash = models.CharField(max_length=80)
    silent = models.BooleanField(default=False)
    tries = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    spent_at = models.DateTimeField(null=True)

    objects = TenantManager.from_queryset(CodeQuerySet)()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "browser", "purpose"], name="code_browser"),
            models.Index(fields=["expires_at"], name="code_over"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.pk}"


class OutgoingMessage(TenantModel):
    """A message on its way. It is sealed, and gone once it was sent or given up.

    A silent one goes to nobody: it is there so that an unknown identifier costs what a known one does.
    """

    sealed = models.TextField()
    silent = models.BooleanField(default=False)
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="message_due_anywhere"),
            models.Index(fields=["tenant"], name="message_of_tenant"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
