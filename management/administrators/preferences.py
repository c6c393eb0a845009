"""How the operators' site looks to an administrator: its language, and the time zone of its times."""

from django.conf import settings
from django.utils.translation import gettext_noop

from audit.events import Event
from identity.core import records
from identity.core.errors import Invalid
from management.administrators import time_zones
from management.administrators.models import Administrator


def change(administrator: Administrator, *, language: str, time_zone: str) -> None:
    """Change the preferences of an administrator. Empty values mean the language of the browser, and UTC.

    Raises:
        Invalid: there is no such language or time zone.
        records.Gone: the administrator was deleted.

    """
    if language and language not in dict(settings.LANGUAGES):
        raise Invalid("language", gettext_noop("must be one of the languages of the site"))
    if time_zone and time_zone not in time_zones.get_names():
        raise Invalid("time_zone", gettext_noop("must be the name of a time zone, such as Europe/Berlin"))
    wanted = {"language": language, "time_zone": time_zone}
    changed = {name: value for name, value in wanted.items() if getattr(administrator, name) != value}
    if changed:
        records.change(
            administrator, changed, event=Event.ADMINISTRATOR_UPDATE, username=administrator.username
        )
