"""Django's settings, which come from environment variables. An invalid value is an error at start.

Each module has the settings of a subject, and imports the settings it depends on.
"""

from config.settings.apps import *
from config.settings.database import *
from config.settings.installation import *
from config.settings.libraries import *
from config.settings.limits import *
from config.settings.logs import *
from config.settings.passwords import *
from config.settings.web import *
