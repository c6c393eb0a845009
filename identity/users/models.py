"""End users."""

from typing import Self

from django.db import models

from identity.core.models import CounterShard, EditableModel, TenantManager, TenantModel
from identity.users import hash_formats, identifiers
from identity.users.identifiers import ADDRESS_KINDS, Kind


class UserQuerySet(models.QuerySet["User"]):
    """Queries for users."""

    def find_by_identifier(self, identifier: str) -> Self:
        """Return the user with this username, email or phone, if there is one."""
        return self.find_by_key(*identifiers.parse(identifier))

    def find_by_key(self, kind: Kind, key: str) -> Self:
        """Return the user whose identifier of this kind has this key, if there is one."""
        return self.filter(**{f"{kind}_key": key})


class User(EditableModel):
    """A person who signs in to applications. Administrators of Gatehouse are not users."""

    username = models.CharField(max_length=128, blank=True)
    username_key = models.CharField(max_length=512, null=True, editable=False)
    email = models.CharField(max_length=254, blank=True)
    email_key = models.CharField(max_length=1024, null=True, editable=False)
    email_verified = models.BooleanField(default=False)
    phone = models.CharField(max_length=32, blank=True)
    phone_key = models.CharField(max_length=32, null=True, editable=False)
    phone_verified = models.BooleanField(default=False)
    # See ``has_proven``. Null in rows of release 0.1.0. False beside a verified flag means that only the
    # flag proves the address.
    email_proven = models.BooleanField(null=True, editable=False)
    phone_proven = models.BooleanField(null=True, editable=False)
    name = models.CharField(max_length=256, blank=True)
    avatar = models.CharField(max_length=2048, null=True, blank=True)
    password = models.CharField(max_length=256, blank=True)
    is_suspended = models.BooleanField(default=False)
    # Sessions, codes and refresh families store the epoch in which they began. Incrementing it ends all
    # of them in one statement.
    epoch = models.PositiveIntegerField(default=0)
    last_sign_in_at = models.DateTimeField(null=True, editable=False)
    login_count = models.PositiveIntegerField(default=0, editable=False)
    custom_data = models.JSONField(default=dict, blank=True)
    # The standard claims that have no column (OpenID Connect Core 5.1), by their names.
    profile = models.JSONField(default=dict, blank=True, db_default=models.Value({}, models.JSONField()))
    # Created by a registration, or imported with an unproven address. So the email or phone may belong to
    # another person.
    self_registered = models.BooleanField(default=False, editable=False)
    # Which kinds of factors the user has: see ``factor_bits``. Triggers of ``identity.factors`` set it.
    factors = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    # Whether a sign-in asks for a second factor although no policy does.
    two_step = models.BooleanField(default=False, db_default=False)
    # When the user declined the offer to set up a second factor, which is made once.
    factor_skipped_at = models.DateTimeField(null=True, editable=False)
    # Username, email, phone and name, folded.
    search_text = models.TextField(blank=True, editable=False)

    objects = TenantManager.from_queryset(UserQuerySet)()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", f"{kind}_key"], name=f"user_{kind}_unique")
            for kind in Kind
        ]
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="user_newest_first"),
            models.Index(
                fields=["tenant", "-created_at", "-id"],
                name="user_suspended",
                condition=models.Q(is_suspended=True),
            ),
            models.Index(
                fields=["tenant", "-created_at", "-id"],
                name="user_with_factors",
                condition=models.Q(factors__gt=0),
            ),
            # The hashes of other systems, which ``dummy_hashes`` counts. Each sign-in replaces one.
            models.Index(
                fields=["tenant", "password"],
                name="user_foreign_hash",
                condition=~models.Q(password="") & ~models.Q(password__startswith=hash_formats.OURS),
            ),
        ]

    def __str__(self) -> str:
        return self.display_name

    def fold_for_search(self) -> str:
        """Return the value for ``search_text``."""
        return "\n".join(
            identifiers.fold(text) for text in (self.username, self.email, self.phone, self.name)
        )

    def has_proven(self, kind: Kind) -> bool:
        """Return whether a code, a provider or an administrator proved the email or the phone."""
        if not getattr(self, kind):
            return False
        if getattr(self, f"{kind}_verified"):
            return True
        stored: bool | None = getattr(self, f"{kind}_proven")
        # Release 0.1.0 did not store it. Of its users, only those that the members API created have no
        # username.
        return not self.self_registered and bool(self.username) if stored is None else stored

    def has_own_proof(self, kind: Kind) -> bool:
        """Return whether the email or the phone stays proven if an administrator unsets its verified flag."""
        stored: bool | None = getattr(self, f"{kind}_proven")
        # Before release 0.2.0, each verified identifier was proven by a code, a provider or an import.
        return self.has_proven(kind) if stored is None else stored

    def get_proven_addresses(self) -> dict[Kind, str]:
        """Return the email and phone if they are proven."""
        return {kind: getattr(self, kind) for kind in ADDRESS_KINDS if self.has_proven(kind)}

    def get_identifier_keys(self) -> dict[Kind, str]:
        """Return the lookup keys of the identifiers that the user has."""
        return {kind: key for kind in Kind if (key := getattr(self, f"{kind}_key"))}

    @property
    def display_name(self) -> str:
        """The name, or the identifier if there is no name."""
        return self.name or self.identifier

    @property
    def identifier(self) -> str:
        """The username, the email or the phone: the first that is set."""
        return self.username or self.email or self.phone


class FormerEmail(TenantModel):
    """A proven email that a user had until a few days ago: see ``former_emails``."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    email = models.CharField(max_length=254)
    email_key = models.CharField(max_length=1024)
    replaced_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "user"], name="former_email_of_user"),
            models.Index(fields=["replaced_at"], name="former_email_over"),
        ]

    def __str__(self) -> str:
        return self.email


class UserCount(CounterShard):
    """A shard of the number of a tenant's users: see ``database.row_counts``."""

    users = models.BigIntegerField()

    objects = TenantManager()

    class Meta:
        indexes = [models.Index(fields=["tenant"], name="user_count_of_tenant")]

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.users}"


class UserDayCount(CounterShard):
    """A shard of the number of a tenant's users who were created on a UTC day: see ``row_counts``."""

    day = models.DateField()
    users = models.BigIntegerField()

    objects = TenantManager()

    class Meta:
        indexes = [models.Index(fields=["tenant", "day"], name="user_count_of_day")]

    def __str__(self) -> str:
        return f"{self.users} on {self.day}"
