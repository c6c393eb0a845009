"""What is logged, and in which format."""

from pythonjsonlogger.core import RESERVED_ATTRS

from config import env
from config.settings.installation import DEVELOPMENT

LOG_FORMAT = env.choice("LOG_FORMAT", ("json", "line"), "line" if DEVELOPMENT else "json")
LOG_LEVEL = env.choice("LOG_LEVEL", ("debug", "info", "warning", "error"), "info").upper()
LOG_REQUESTS = env.flag("LOG_REQUESTS")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"correlation": {"()": "management.observability.logs.CorrelationFilter"}},
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {
            "()": "pythonjsonlogger.orjson.OrjsonFormatter",
            "format": "%(levelname)s %(name)s %(message)s",
            "rename_fields": {"levelname": "level", "name": "logger", "exc_info": "exception"},
            "timestamp": "time",
            # Django adds the request to log records, and its query may contain a code.
            "reserved_attrs": [*RESERVED_ATTRS, "request"],
        },
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "filters": ["correlation"], "formatter": LOG_FORMAT}
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        # At DEBUG level, these libraries log codes, secrets and grants.
        "oauthlib": {"level": "INFO"},
        "oauth2_provider": {"level": "INFO"},
        "gunicorn.error": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
