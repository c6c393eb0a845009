"""System roles, their scopes and their users."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from identity.core.models import EditableModel, Link, TenantManager
from identity.resources.models import Scope
from identity.users.models import User


class Role(EditableModel):
    """A named bundle of scopes, for end users or for machine applications."""

    class Type(models.TextChoices):
        """The kind of holders of a role."""

        USER = "User", _("User")
        MACHINE = "MachineToMachine", _("Machine")

    name = models.CharField(max_length=256)
    description = models.TextField(blank=True)
    type = models.CharField(max_length=16, choices=Type)
    is_protected = models.BooleanField(default=False, editable=False)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="role_name_unique"),
        ]
        indexes = [models.Index(fields=["tenant", "-created_at", "-id"], name="role_newest_first")]

    def __str__(self) -> str:
        return f"{self.name} ({self.get_type_display()})"


class RoleScope(Link):
    """A scope of a role."""

    role = models.ForeignKey(Role, on_delete=models.CASCADE, related_name="+")
    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "role", "scope"], name="role_scope_unique")]

    def __str__(self) -> str:
        return f"{self.role_id} {self.scope_id}"


class UserRole(Link):
    """A role of a user."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.ForeignKey(Role, on_delete=models.CASCADE, related_name="+")

    objects = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "user", "role"], name="user_role_unique")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role_id}"
