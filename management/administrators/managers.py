"""The manager of administrators."""

from typing import TYPE_CHECKING, Any

from django.contrib.auth.base_user import BaseUserManager
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from audit import log
from audit.events import Event
from database.parameters import Parameter
from identity.core import audit_facts, tenancy
from identity.core.errors import Invalid
from identity.users import identifiers
from management.administrators import password_rules

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

    def create_superuser(self, username: str, password: str | None, **fields: Any) -> "Administrator":
        """Create an administrator of every tenant, with an audit entry.

        Without a password, the administrator cannot sign in until ``manage.py changepassword`` has set one.

        Raises:
            ValidationError: the password breaks a rule. Django's command shows it.

        """
        key = identifiers.fold(username)
        administrator = self.model(username=username, username_key=key, is_superuser=True, **fields)
        administrator.set_unusable_password()
        if password is not None:
            try:
                administrator.password = password_rules.hash_new(password, username, administrator.email)
            except Invalid as error:
                raise ValidationError(error.rule) from None
        facts = audit_facts.new_row_facts(administrator)
        with tenancy.using(tenancy.DEFAULT), transaction.atomic():
            administrator.save()
            log.record(
                Event.ADMINISTRATOR_CREATE, id=administrator.pk, username=username, by="command", **facts
            )
        return administrator
