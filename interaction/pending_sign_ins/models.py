"""A sign-in whose first factor is proven, and which waits for the second."""

from django.db import models

from identity.core.models import TenantManager, TenantModel
from identity.users.models import User


class PendingSignIn(TenantModel):
    """A sign-in without a session, which can only prove a second factor or set one up, in one browser.

    A forgotten password waits for a second factor in the same way, but never becomes a session.
    """

    browser = models.CharField(max_length=64)
    # The secret that the browser got with the proof: see ``identity.sessions.proof_secrets``.
    secret_hash = models.CharField(max_length=64, null=True)
    # The authorization request that waits for the sign-in.
    request_id = models.UUIDField(null=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    epoch = models.PositiveIntegerField()
    # ``User.factors`` when the first factor was proven.
    factors_seen = models.PositiveSmallIntegerField()
    way = models.CharField(max_length=16)
    amr = models.JSONField(default=list)
    level = models.PositiveSmallIntegerField()
    auth_time = models.DateTimeField()
    # The kinds of address whose code was entered: a second factor is never on the channel of the first.
    channels = models.JSONField(default=list)
    # Why a second factor is needed: words of ``identity.factors.needed``.
    reasons = models.JSONField(default=list)
    # Whether the user had no factor to prove, so that the sign-in may set one up.
    must_enrol = models.BooleanField(default=False)
    keep_signed_in = models.BooleanField(default=False)
    # The key of the identifier that a code proved. The identifier becomes verified when the session starts.
    proven_key = models.CharField(max_length=1024, db_default="", default="")
    # The kept account at a provider, which is linked and updated when the session starts.
    social_id = models.UUIDField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(level__range=(1, 3)), name="pending_sign_in_level"),
        ]
        indexes = [
            models.Index(fields=["tenant", "browser", "-created_at"], name="pending_sign_in_of_browser"),
            models.Index(fields=["expires_at"], name="pending_sign_in_over"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
