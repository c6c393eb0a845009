"""Organizations, their members, and the roles and permissions they share."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    """Groups of users inside a tenant: a customer, a team, a branch."""

    name = "identity.organizations"
