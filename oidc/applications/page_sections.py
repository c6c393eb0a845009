"""The sections of an application's page on the operators' site, in their order."""

from typing import Final

from django.utils.translation import gettext_lazy as _

QUICK_START: Final = _("Quick start")
SETTINGS: Final = _("Settings")
SECRETS: Final = _("Secrets")
PERMISSIONS: Final = _("Permissions")
ORGANIZATIONS: Final = _("Organizations")
ACTIVITY: Final = _("Activity")
SECTIONS: Final = (QUICK_START, SETTINGS, SECRETS, PERMISSIONS, ORGANIZATIONS, ACTIVITY)
