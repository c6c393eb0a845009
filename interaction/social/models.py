"""Accounts at other providers that are linked to users, and pending sign-ins at providers."""

from django.db import models

from identity.core.models import TenantManager, TenantModel
from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors.models import Connector


class SocialIdentity(TenantModel):
    """A user's account at another provider.

    The account belongs to the provider, not to a connector: it remains when a connector is deleted, and works
    with any other connector of the same provider.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="social_identities")
    # The provider is an issuer, or a userinfo endpoint.
    provider = models.CharField(max_length=2048)
    subject = models.CharField(max_length=255)
    # A hash of provider and subject, because an index does not take long texts.
    fingerprint = models.CharField(max_length=64, editable=False)
    # A hash of the account's alias; empty without one.
    alias_fingerprint = models.CharField(max_length=64, blank=True, db_default="", editable=False)
    # As of the time when the account was linked.
    connector_id = models.CharField(max_length=256)
    provider_name = models.CharField(max_length=256)
    # As of the last sign-in that named them.
    name = models.CharField(max_length=256, blank=True)
    email = models.CharField(max_length=254, blank=True)
    last_used_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "social identities"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "fingerprint"], name="social_identity_unique"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "alias_fingerprint"],
                condition=~models.Q(alias_fingerprint=""),
                name="social_identity_by_alias",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider_name} {self.subject}"


class SocialAttempt(TenantModel):
    """A pending sign-in at a provider, single-use and bound to one browser."""

    state_hash = models.CharField(max_length=64)
    browser = models.CharField(max_length=64)
    # The secret that the browser got with the provider's answer, if the user has to do something more: see
    # ``identity.sessions.proof_secrets``.
    secret_hash = models.CharField(max_length=64, null=True)
    # Null if the connector was deleted meanwhile.
    connector = models.ForeignKey(Connector, null=True, on_delete=models.SET_NULL, related_name="+")
    # The session that links an account; null for a sign-in.
    session = models.ForeignKey(Session, null=True, on_delete=models.CASCADE, related_name="+")
    # The authorization request that waits for this sign-in.
    interaction = models.CharField(max_length=36, blank=True)
    # What the user chose on the sign-in page.
    keep_signed_in = models.BooleanField(default=False, db_default=False)
    sealed_secrets = models.TextField()
    expires_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "state_hash"], name="social_attempt_unique"),
        ]
        indexes = [
            models.Index(fields=["tenant", "browser", "-created_at"], name="social_attempt_of_browser"),
            models.Index(fields=["expires_at"], name="social_attempt_over"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
