"""Django's admin, with a site of ours."""

from django.contrib.admin.apps import AdminConfig


class OperatorSiteConfig(AdminConfig):
    """Finds the ``admin`` module of every app; the site takes those that know what a tenant is."""

    default_site = "management.site.site.OperatorSite"
