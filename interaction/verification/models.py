"""Verification codes, and messages that are waiting to be sent."""

from typing import Self

from django.db import models

from database.clock import DatabaseNow, seconds_ahead
from identity.core.models import TenantManager, TenantModel
from identity.users.identifiers import Kind
from identity.users.models import User

CODE_SECONDS = 300
PROOF_SECONDS = 600
MOST_TRIES = 5
# After a code has set a password, codes to the same address are no second factor for this long.
RESET_SECONDS = 24 * 3600


class Purpose(models.TextChoices):
    """The only thing that a code can be used for."""

    SIGN_IN = "sign_in"
    REGISTER = "register"
    FORGOT_PASSWORD = "forgot_password"  # noqa: S105 - a purpose
    SECOND_FACTOR = "second_factor"
    CHANGE = "change"  # of a signed-in user's own email or phone


class CodeQuerySet(models.QuerySet["VerificationCode"]):
    """Queries for codes, by the database's clock."""

    def matching(self, *, purpose: Purpose, kind: Kind, key: str, browser: str) -> Self:
        """Return the codes that a browser requested for an identifier and a purpose."""
        return self.filter(purpose=purpose, kind=kind, identifier_key=key, browser=browser)

    def live(self) -> Self:
        """Return the codes that can still be entered."""
        return self.filter(used_at=None, expires_at__gt=DatabaseNow(), tries__lt=MOST_TRIES)

    def proofs(self) -> Self:
        """Return the codes that were entered correctly within the last 10 minutes and are not spent."""
        return self.filter(used_at__gt=seconds_ahead(-PROOF_SECONDS), spent_at=None)


class VerificationCode(TenantModel):
    """A code, bound to identifier, purpose and browser. Once entered, it is a proof of ownership.

    A silent code was not sent, because no user has the identifier, and is never accepted.
    """

    purpose = models.CharField(max_length=32, choices=Purpose)
    kind = models.CharField(max_length=16)
    identifier_key = models.CharField(max_length=1024)
    address = models.CharField(max_length=254)
    browser = models.CharField(max_length=64)
    # The secret that the browser got when the code was entered: see ``identity.sessions.proof_secrets``.
    secret_hash = models.CharField(max_length=64, null=True)
    code_hash = models.CharField(max_length=80)
    silent = models.BooleanField(default=False)
    # The user's epoch when the code was sent. A new password increments the epoch, which invalidates
    # earlier codes and proofs in all browsers. Null in rows of earlier releases and without a user.
    epoch = models.PositiveIntegerField(null=True)
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

    def is_outdated(self, user: User) -> bool:
        """Return whether a new password, for example, ended the user's sessions since the code was sent."""
        return self.epoch is not None and self.epoch != user.epoch


class OutgoingMessage(TenantModel):
    """A message that is waiting to be sent, encrypted. Once sent or failed, a message is deleted.

    A silent message is not sent, but makes a request for an unknown identifier as expensive as for a known
    one.
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
