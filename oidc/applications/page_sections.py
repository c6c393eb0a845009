"""The sections of an application's page on the operators' site, in their order."""

from typing import Final

QUICK_START: Final = "Quick start"
SETTINGS: Final = "Settings"
SECRETS: Final = "Secrets"
PERMISSIONS: Final = "Permissions"
ORGANIZATIONS: Final = "Organizations"
ACTIVITY: Final = "Activity"
SECTIONS: Final = (QUICK_START, SETTINGS, SECRETS, PERMISSIONS, ORGANIZATIONS, ACTIVITY)
