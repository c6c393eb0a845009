"""Organizations, their members, and the tenant-wide templates of roles and permissions."""

from django.db import models
from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from database.parameters import Parameter
from identity.core.models import CounterShard, EditableModel, Link, TenantManager
from identity.resources.models import Scope
from identity.users.models import User


class Organization(EditableModel):
    """A group of users that applications treat as one customer."""

    name = models.CharField(max_length=256)
    description = models.TextField(blank=True)
    logo_url = models.CharField(max_length=2048, blank=True)
    metadata = models.JSONField(default=dict)
    # The look of the pages during a sign-in to the organization: see ``identity.core.branding``.
    branding = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    # Whether users get a token of the organization only after a sign-in with two factors.
    is_mfa_required = models.BooleanField(default=False, db_default=False)

    objects = TenantManager()

    class Meta:
        indexes = [models.Index(fields=["tenant", "-created_at", "-id"], name="organization_newest_first")]

    def __str__(self) -> str:
        return self.name


class Membership(EditableModel):
    """A member of an organization, who joined at ``created_at``."""

    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="memberships", db_index=False
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    is_admin = models.BooleanField(default=False)
    # The member was added by an unproven phone, and the account had another email. The membership ends when
    # the account loses the phone.
    rests_on_phone = models.BooleanField(default=False, db_default=False)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "organization", "user"], name="membership_unique"),
        ]
        indexes = [
            # The tenant is included and not part of the key, because deletes filter only by organization.
            models.Index(
                fields=["organization", "-created_at", "-id"], include=["tenant"], name="membership_page"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.organization_id}"


class MemberCountQuerySet(models.QuerySet["MemberCount"]):
    """Expressions for the stored number of members."""

    def count_per_organization(self) -> Coalesce:
        """Return an expression for the number of members, for a query of organizations."""
        return self.count_of(OuterRef("pk"))

    def count_of(self, organization: OuterRef | Parameter) -> Coalesce:
        """Return an expression for the number of members of an organization."""
        shards = self.filter(organization=organization).order_by().values("organization")
        return Coalesce(Subquery(shards.annotate(total=Sum("members")).values("total")), 0)


class MemberCount(CounterShard):
    """A shard of the number of an organization's members: see ``database.row_counts``."""

    organization = models.ForeignKey(
        Organization,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    members = models.BigIntegerField()

    objects = TenantManager.from_queryset(MemberCountQuerySet)()

    class Meta:
        indexes = [models.Index(fields=["tenant", "organization"], name="member_count_of_organization")]

    def __str__(self) -> str:
        return f"{self.organization_id}: {self.members}"


class OrganizationPermission(EditableModel):
    """A permission template, the same in all organizations."""

    name = models.CharField(max_length=256)
    description = models.TextField(blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="organization_permission_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class OrganizationRole(EditableModel):
    """A role template, for members or bound applications of any organization."""

    class Type(models.TextChoices):
        """The kind of holders of a role."""

        USER = "User", _("User")
        MACHINE = "MachineToMachine", _("Machine")

    name = models.CharField(max_length=256)
    description = models.TextField(blank=True)
    type = models.CharField(max_length=16, choices=Type, default=Type.USER)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="organization_role_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class OrganizationRolePermission(Link):
    """A permission of a role template."""

    role = models.ForeignKey(OrganizationRole, on_delete=models.CASCADE, related_name="+")
    permission = models.ForeignKey(OrganizationPermission, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "role", "permission"], name="organization_role_permission_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role_id} {self.permission_id}"


class OrganizationRoleScope(Link):
    """An API resource scope of a role template."""

    role = models.ForeignKey(OrganizationRole, on_delete=models.CASCADE, related_name="+")
    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "role", "scope"], name="organization_role_scope_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role_id} {self.scope_id}"


class MemberRole(Link):
    """A role of a member in the organization of the membership."""

    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="role_links")
    role = models.ForeignKey(OrganizationRole, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "membership", "role"], name="member_role_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.membership_id} {self.role_id}"
