"""The manager of administrators."""

from typing import TYPE_CHECKING, Any

from django.contrib.auth.base_user import BaseUserManager
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from audit import log
from audit.events import Event
from database.parameters import Parameter
from identity.core import audit_facts, tenancy
from identity.users import identifiers

if TYPE_CHECKING:
    from management.administrators.models import Administrator


class AdministratorManager(BaseUserManager["Administrator"]):
    """Also used by Django's command ``createsuperuser``."""

    def with_tenant_access(self, tenant_id: str | Parameter) -> "QuerySet[Administrator]":
        """Return administrators with ``lists_tenant``: whether the tenant is one of theirs."""
        links = self.model.tenants.through.objects
        return self.annotate(
            lists_tenant=Exists(links.filter(administrator=OuterRef("pk"), tenant=tenant_id))
        )

    @transaction.atomic
    def create_superuser(self, username: str, password: str, **fields: Any) -> "Administrator":
        """Create an administrator of every tenant, with an audit entry."""
        key = identifiers.fold(username)
        administrator = self.model(username=username, username_key=key, is_superuser=True, **fields)
        administrator.set_password(password)
        administrator.save()
        facts = audit_facts.new_row_facts(administrator)
        with tenancy.using(tenancy.DEFAULT):
            log.record(
                Event.ADMINISTRATOR_CREATE, id=administrator.pk, username=username, by="command", **facts
            )
        return administrator
