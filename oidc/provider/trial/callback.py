"""The redirect URI of trials: a page of the operators' site, one for each application."""

from typing import Final

from django.conf import settings

from identity.core import tenancy
from identity.operator_kit import routes
from oidc.applications.models import Application

OPERATION: Final = "try-sign-in"


def get_uri(application: Application) -> str:
    """Return the redirect URI of an application's trials. No request can name another one."""
    path = routes.operation_url(Application, OPERATION, application)
    return settings.BASE_URL + path.removeprefix(tenancy.active().prefix)
