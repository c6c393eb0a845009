"""Django's settings, which come from environment variables. An invalid value is an error at start.

Dotted paths connect the apps here, so that an app does not import the apps that use it.
"""

import os
from pathlib import Path

from pythonjsonlogger.core import RESERVED_ATTRS

from config import country_header, documentation, encryption_keys, env, mail, passkeys, single_sign_on

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(env.text("VAR_DIR", str(BASE_DIR / "var"))).resolve()

# ── Where and how it runs ─────────────────────────────────────────────────────────────
# DEBUG=true sets DEVELOPMENT, which gives settings for development their defaults. Django's own DEBUG,
# which shows tracebacks to visitors, is always off.
DEVELOPMENT = env.flag("DEBUG")
DEBUG = False
HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, least=1, most=65535)
DEMO_PORT = env.integer("DEMO_PORT", min(PORT + 1, 65535), least=1, most=65535)
# Without DATABASE_POOL, each thread has a connection. The defaults stay below PostgreSQL's limit of 100.
WEB_CONCURRENCY = env.integer("WEB_CONCURRENCY", min(os.cpu_count() or 1, 5), least=1, most=256)
THREADS = env.integer("THREADS", 16, least=4, most=256)
BASE_URL = env.base_url(
    "BASE_URL", f"http://localhost:{PORT}" if DEVELOPMENT else "", development=DEVELOPMENT
)
WEBAUTHN_RP_ID = passkeys.relying_party_id("WEBAUTHN_RP_ID", BASE_URL)
SECRET_KEY = env.secret("SECRET_KEY", development=DEVELOPMENT, kept_in=VAR / "secret-key", size=48)
ENCRYPTION_KEYS = encryption_keys.ring(
    "ENCRYPTION_KEYS", development=DEVELOPMENT, kept_in=VAR / "encryption-key"
)
TRUSTED_PROXIES = env.addresses("TRUSTED_PROXIES")
COUNTRY_HEADER = country_header.read("COUNTRY_HEADER")
METRICS_TOKEN = env.optional_secret("METRICS_TOKEN")
TRACING = env.tracing("OTEL_EXPORTER_OTLP_ENDPOINT")
ADMIN_USERNAME = env.text("ADMIN_USERNAME", "admin")
ADMIN_PASSWORD = env.text("ADMIN_PASSWORD")
ADMIN_TWO_STEP = env.choice("ADMIN_TWO_STEP", ("optional", "required"), "optional")
ADMIN_OIDC = single_sign_on.read("ADMIN_OIDC_", development=DEVELOPMENT)
ADMIN_OIDC_CLIENT = "interaction.connectors.administrator_provider"  # talks to the provider
ADMIN_PASSWORD_FILE = VAR / "admin-password"
OUTBOUND_PRIVATE_HOSTS = set(env.listing("OUTBOUND_PRIVATE_HOSTS"))
OUTBOX_DIR = Path(env.text("OUTBOX_DIR", str(VAR / "outbox")))
DOCUMENTATION_URL = documentation.read("DOCUMENTATION_URL")  # links of the operators' site lead there
PHONE_DEFAULT_REGION = env.region("PHONE_DEFAULT_REGION")
BREACHED_PASSWORDS = env.text("BREACHED_PASSWORDS")
SECURITY_CONTACT = env.contact("SECURITY_CONTACT")
RSA_KEY_BITS = int(env.choice("RSA_KEY_BITS", ("2048", "3072"), "2048"))  # of new signing keys

# ── Mail to administrators ────────────────────────────────────────────────────────────
# Users get mail by the connectors of their tenant.
_MAIL = mail.read("ADMIN_MAIL_URL", "ADMIN_MAIL_FROM")
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port  # without a host, no mail is sent
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _MAIL.starttls, _MAIL.tls
EMAIL_TIMEOUT = 10
PASSWORD_RESET_TIMEOUT = 1_800  # seconds that a link to an administrator works; invitations work longer
DEFAULT_FROM_EMAIL = _MAIL.sender

# ── Apps, lowest layer first ──────────────────────────────────────────────────────────
INSTALLED_APPS = [
    "audit",
    "identity.submissions",
    "identity.tenants",
    "identity.limits",
    "identity.users",
    "identity.sessions",
    "identity.factors",
    "identity.resources",
    "identity.roles",
    "identity.organizations",
    "oidc.keys",
    "oidc.settings",
    "oidc.applications",
    "oidc.grants",
    "interaction.experience",
    "interaction.connectors",
    "interaction.verification",
    "interaction.social",
    "interaction.pending_sign_ins",
    "interaction.pages",
    "management",
    "management.administrators",
    "management.doctor",
    "management.upgrades",
    "oauth2_provider",
    "rest_framework",
    "drf_spectacular",
    "management.site.apps.OperatorSiteConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
]
NEW_EMAIL_RULE = "interaction.experience.new_emails.check"
TENANT_PROVISIONERS = [
    "identity.resources.services.provision",
    "identity.roles.services.provision",
    "oidc.keys.services.provision",
    "interaction.experience.services.provision",
]
# Tells if every serving node has a migration: see oidc.keys.services.
ALL_NODES_KNOW = "management.upgrades.serving.do_all_nodes_know"
# Creates the key of an algorithm: see identity.resources.services.
ENSURE_SIGNING_KEY = "oidc.keys.services.ensure"
HOLD_SIGNING_KEY = "oidc.keys.services.hold"
# The level of each value of acr: see identity.resources.serializers.
ACR_LEVELS = "oidc.settings.acr_levels.get_all"
SIGNING_ALGORITHM_USES = "oidc.applications.algorithm_uses.find"
# The members of a branding, and where it is stored: see identity.core.branding.
BRANDING = "interaction.experience.branding"
# Keeps expired refresh tokens expired: see oidc.applications.lifetimes.
EXPIRE_REFRESH_FAMILIES = "oidc.grants.expired_families.expire"
# Called with the changed settings of a tenant: see oidc.settings.services.
OIDC_SETTINGS_EFFECTS = [
    "oidc.settings.sessions.copy",
    "oidc.applications.lifetimes.apply_settings",
]
# Expired rows, in the order in which they are purged: see identity.core.expiry.
EXPIRING = [
    "management.administrators.expiry.EXPIRING",
    "identity.submissions.expiry.EXPIRING",
    "identity.limits.expiry.EXPIRING",
    "identity.users.expiry.EXPIRING",
    "identity.factors.expiry.EXPIRING",
    "interaction.social.expiry.EXPIRING",
    "interaction.pending_sign_ins.expiry.EXPIRING",
    "interaction.verification.expiry.EXPIRING",
    "oidc.grants.expiry.EXPIRING",
    "oidc.applications.expiry.EXPIRING",
    "oidc.keys.expiry.EXPIRING",
]
# What is lost with a row, for the pages that ask for confirmation: see identity.core.impacts.
IMPACTS = [
    "identity.sessions.impacts.LOSSES",
    "identity.factors.impacts.LOSSES",
    "oidc.grants.impacts.LOSSES",
    "identity.roles.impacts.LOSSES",
    "identity.organizations.impacts.LOSSES",
    "identity.resources.impacts.LOSSES",
    "oidc.applications.impacts.LOSSES",
    "interaction.social.impacts.LOSSES",
    "management.administrators.impacts.LOSSES",
]
# The rows that apps store about users: see identity.users.user_data.
USER_DATA = [
    "identity.users.former_emails.USER_DATA",
    "identity.sessions.user_data.USER_DATA",
    "identity.factors.user_data.USER_DATA",
    "identity.roles.user_data.USER_DATA",
    "identity.organizations.user_data.USER_DATA",
    "oidc.grants.user_data.USER_DATA",
    "interaction.social.user_data.USER_DATA",
    "interaction.pending_sign_ins.user_data.USER_DATA",
]
# The functions that may refuse to delete a row of a model: see identity.core.deletion_rules.
DELETION_RULES = {
    "roles.Role": ["oidc.applications.access.check_role_deletion"],
    "organizations.Organization": ["oidc.applications.access.check_organization_deletion"],
}
# Each creates made-up rows in the demo tenant: see management.seeding.demo_data.
DEMO_DATA = ["interaction.experience.demo_data.create", "interaction.connectors.demo_data.create"]
# Lets the user of the demo application set up a second factor: see management.seeding.demo.
DEMO_SIGN_IN = "interaction.experience.demo_data.create"
CONFORMANCE_DATA = ["interaction.experience.conformance_data.prepare"]
# Sends notices to users: see identity.users.notices.
NOTIFIER = "interaction.journeys.notices.send"
# For audit.typed.
AUDIT_IDENTIFIER_KEYS = "identity.users.typed.keys_of"
AUDIT_SUBJECT = "identity.users.typed.find_subject"
# The columns that ENCRYPTION_KEYS protects: see identity.encryption.columns.
ENCRYPTED_COLUMNS = [
    "identity.factors.encrypted_columns.ENCRYPTED_COLUMNS",
    "identity.submissions.encrypted_columns.ENCRYPTED_COLUMNS",
    "oidc.keys.encrypted_columns.ENCRYPTED_COLUMNS",
    "oidc.applications.encrypted_columns.ENCRYPTED_COLUMNS",
    "oidc.grants.encrypted_columns.ENCRYPTED_COLUMNS",
    "interaction.connectors.encrypted_columns.ENCRYPTED_COLUMNS",
    "interaction.verification.encrypted_columns.ENCRYPTED_COLUMNS",
    "interaction.social.encrypted_columns.ENCRYPTED_COLUMNS",
    "management.administrators.encrypted_columns.ENCRYPTED_COLUMNS",
]

# ── HTTP ──────────────────────────────────────────────────────────────────────────────
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
# The Host header is not used: issuer, links and tenant come from BASE_URL and the path.
ALLOWED_HOSTS = ["*"]
FORCE_SCRIPT_NAME = ""
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_HANDLERS = ["identity.http.uploads.SiteUploads"]
MIDDLEWARE = [
    "audit.middleware.OriginMiddleware",
    "management.observability.tracing.TracingMiddleware",
    "management.observability.middleware.MeasuringMiddleware",
    "config.headers.SecurityHeadersMiddleware",
    "config.load_shedding.LoadSheddingMiddleware",
    "config.static_files.StaticFilesMiddleware",
    "identity.tenants.middleware.TenantMiddleware",
    "config.wrong_method.WrongMethodMiddleware",
    "config.body_limits.BodyLimitMiddleware",
    "interaction.pages.language.LanguageMiddleware",
    "identity.http.origin_check.OriginCheckMiddleware",
    # For the operators' site, below /admin only.
    "management.site.middleware.SessionMiddleware",
    "management.site.middleware.AuthenticationMiddleware",
    "management.site.middleware.MessageMiddleware",
    "management.site.middleware.OperatorMiddleware",
    "management.api.unknown_fields.UnknownFieldsMiddleware",
    "management.observability.refusals.RefusalMiddleware",
]
_SECURE = BASE_URL.startswith("https:")
CSRF_COOKIE_NAME = "__Host-gatehouse-csrf" if _SECURE else "gatehouse-csrf"
CSRF_COOKIE_SECURE = _SECURE
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = [BASE_URL]
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
SILENCED_SYSTEM_CHECKS = [
    "security.W001",  # config.headers sets the headers of SecurityMiddleware, and others
    "security.W002",  # as W001
    "security.W003",  # identity.http.origin_check extends the CSRF middleware
    "models.W040",  # SQLite ignores the INCLUDE columns of indexes, which it does not support
    *([] if _SECURE else ["security.W016"]),  # browsers do not send a Secure cookie over http
]
HSTS_SECONDS = env.integer("HSTS_SECONDS", 63_072_000 if _SECURE else 0)

# ── Pages and static files ────────────────────────────────────────────────────────────
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "interaction.pages.context.page",
            ],
            "libraries": {
                "console": "identity.operator_kit.template_tags",
                "own_texts": "interaction.pages.own_texts",
            },
        },
    },
]
STATIC_URL = "/static/"
STATICFILES_FINDERS = ["config.static_files.ServedFinder"]
STATIC_ROOT = Path(env.text("STATIC_DIR", str(VAR / "static"))).resolve()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
LANGUAGE_CODE = "en"
# Each language has a catalogue in locale. docs/languages.md explains how to add one.
LANGUAGES = [
    ("en", "English"),
    ("zh-hans", "简体中文"),
    ("ja", "日本語"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("pt-br", "Português (Brasil)"),
    ("ko", "한국어"),
    ("ar", "العربية"),
]
LANGUAGE_COOKIE_NAME = "__Host-gatehouse-language" if _SECURE else "gatehouse-language"
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

# ── Database and cache ────────────────────────────────────────────────────────────────
# The maximum number of connections that the threads of a worker share. With 0, each thread has its own.
DATABASE_POOL = env.integer("DATABASE_POOL", 0, most=THREADS)
DATABASES = {
    "default": env.database(
        "DATABASE_URL",
        f"sqlite:///{VAR / 'gatehouse.sqlite3'}",
        pool=DATABASE_POOL,
        prepared=env.flag("DATABASE_PREPARED_STATEMENTS", default=True),
    )
}
# The database role with which nodes serve, if it differs from the role that migrates. ``migrate`` grants
# its rights.
DATABASE_SERVING_ROLE = env.text("DATABASE_SERVING_ROLE")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# With CACHE_URL all nodes share the cache, otherwise each worker has its own. The prefix separates
# installations that share one Redis.
CACHE_URL = env.redis_url("CACHE_URL")
CACHE_PREFIX = f"gatehouse:{BASE_URL.partition('//')[2]}"
CACHES = {
    "default": {
        "BACKEND": "database.redis.SharedCache",
        "LOCATION": CACHE_URL,
        "KEY_PREFIX": CACHE_PREFIX,
    }
    if CACHE_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# ── Passwords ─────────────────────────────────────────────────────────────────────────
AUTH_USER_MODEL = "administrators.Administrator"
PASSWORD_HASHERS = [
    "identity.users.passwords.Argon2id",
    # For imported passwords, until the user's first sign-in here.
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
    "identity.users.foreign_hashers.Bcrypt",
    "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
    "identity.users.foreign_hashers.Pbkdf2",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "identity.users.foreign_hashers.Scrypt",
    "identity.users.foreign_hashers.FirebaseScrypt",
]
# The number of hashes that a worker computes at once, and of sign-ins that wait. The sum is less than the
# number of threads, so a flood of sign-ins leaves threads for other requests.
HASHING_CONCURRENCY = env.integer(
    "HASHING_CONCURRENCY",
    min(max(1, (os.cpu_count() or 1) // WEB_CONCURRENCY), THREADS // 2),
    least=1,
    most=THREADS // 2,
)
HASHING_QUEUE = env.integer(
    "HASHING_QUEUE",
    max(0, THREADS - HASHING_CONCURRENCY - 4),
    least=0,
    most=THREADS - HASHING_CONCURRENCY - 1,
)

# ── The operators' site ──────────────────────────────────────────────────────────────
AUTHENTICATION_BACKENDS = ["management.site.sign_in.SessionBackend"]
LOGIN_URL = "admin:login"
SESSION_ENGINE = "management.site.sessions"
SESSION_COOKIE_NAME = "__Host-gatehouse-admin" if _SECURE else "gatehouse-admin"
SESSION_COOKIE_SECURE = _SECURE
SESSION_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# ── Limits ────────────────────────────────────────────────────────────────────────────
# The number of requests of a client address in LIMIT_ADDRESS_SECONDS.
LIMIT_ADDRESS_SECONDS = env.integer("LIMIT_ADDRESS_SECONDS", 600, least=1)
LIMIT_ADDRESS_SIGN_INS = env.integer("LIMIT_ADDRESS_SIGN_INS", 1_200, least=1)
LIMIT_ADDRESS_REGISTRATIONS = env.integer("LIMIT_ADDRESS_REGISTRATIONS", 300, least=1)
LIMIT_ADDRESS_CODE_SENDS = env.integer("LIMIT_ADDRESS_CODE_SENDS", 300, least=1)
LIMIT_CLIENT_FAILURES = env.integer("LIMIT_CLIENT_FAILURES", 50, least=1)  # per client
# Token and revocation requests without valid client authentication, and how many of them get an audit entry
# each.
LIMIT_ADDRESS_TOKEN_FAILURES = env.integer("LIMIT_ADDRESS_TOKEN_FAILURES", 100, least=1)
LIMIT_ADDRESS_TOKEN_FAILURES_RECORDED = env.integer("LIMIT_ADDRESS_TOKEN_FAILURES_RECORDED", 20, least=0)
# Pending authorization requests of browsers without a cookie, and with one.
LIMIT_ADDRESS_NEW_PARKED_REQUESTS = env.integer("LIMIT_ADDRESS_NEW_PARKED_REQUESTS", 300, least=1)
LIMIT_ADDRESS_PARKED_REQUESTS = env.integer("LIMIT_ADDRESS_PARKED_REQUESTS", 1_200, least=1)
# Codes sent to an identifier: the seconds between two codes, and the number per hour, by network and in
# total.
LIMIT_CODE_PAUSE_SECONDS = env.integer("LIMIT_CODE_PAUSE_SECONDS", 60, least=1)
LIMIT_NETWORK_CODES = env.integer("LIMIT_NETWORK_CODES", 10, least=1)
LIMIT_IDENTIFIER_CODES = env.integer("LIMIT_IDENTIFIER_CODES", 30, least=1)
# Wrong codes: from an address per hour, for an identifier per day, in a tenant per hour.
LIMIT_ADDRESS_WRONG_CODES = env.integer("LIMIT_ADDRESS_WRONG_CODES", 50, least=1)
LIMIT_IDENTIFIER_WRONG_CODES = env.integer("LIMIT_IDENTIFIER_WRONG_CODES", 20, least=1)
LIMIT_TENANT_WRONG_CODES = env.integer("LIMIT_TENANT_WRONG_CODES", 1_000, least=1)
LIMIT_CONNECTOR_TESTS = env.integer("LIMIT_CONNECTOR_TESTS", 10, least=1)  # per connector
# By tenant, per hour. Each message costs money, and lists of phone numbers are easy to get.
LIMIT_TENANT_TEXT_MESSAGES = env.integer("LIMIT_TENANT_TEXT_MESSAGES", 5_000, least=1)
# By application, per hour: responses of the members API that reveal or change data of existing users.
LIMIT_MEMBER_JOINS = env.integer("LIMIT_MEMBER_JOINS", 60, least=1)
# Failed sign-ins that lock an identifier for one address, and for all addresses.
LOCK_PAIR_FAILURES = env.integer("LOCK_PAIR_FAILURES", 10, least=2)
LOCK_PAIR_SECONDS = env.integer("LOCK_PAIR_SECONDS", 900, least=1)
LOCK_IDENTIFIER_FAILURES = env.integer("LOCK_IDENTIFIER_FAILURES", 100, least=2)
LOCK_IDENTIFIER_SECONDS = env.integer("LOCK_IDENTIFIER_SECONDS", 3_600, least=1)
# The same in a browser that the user has signed in with. The lock for all addresses does not apply there.
LOCK_KNOWN_BROWSER_FAILURES = env.integer("LOCK_KNOWN_BROWSER_FAILURES", 20, least=2)
# Wrong second factors of a user that lock them, for all addresses.
LOCK_SECOND_FACTOR_FAILURES = env.integer("LOCK_SECOND_FACTOR_FAILURES", 10, least=2)
LOCK_SECOND_FACTOR_SECONDS = env.integer("LOCK_SECOND_FACTOR_SECONDS", 900, least=1)
# How long an address from which an administrator signed in is exempt from the lock for all addresses.
ADMIN_KNOWN_ADDRESS_SECONDS = env.integer("ADMIN_KNOWN_ADDRESS_SECONDS", 30 * 24 * 3600, least=60)

# ── Lifetimes, in seconds ─────────────────────────────────────────────────────────────
ACCESS_TOKEN_SECONDS = 3600
ID_TOKEN_SECONDS = 3600
AUTHORIZATION_CODE_SECONDS = 60
ADMINISTRATOR_TOKEN_SECONDS = env.integer("ADMINISTRATOR_TOKEN_SECONDS", 86_400, least=60)
ADMIN_IDLE_SECONDS = env.integer("ADMIN_IDLE_SECONDS", 1_800, least=60)  # sessions of the operators' site
# How long after a sign-in an administrator need not enter the password again.
ADMIN_PROOF_SECONDS = env.integer("ADMIN_PROOF_SECONDS", 3_600, least=60)
SESSION_COOKIE_AGE = ADMINISTRATOR_TOKEN_SECONDS  # as long as tokens
# Between the first factor and the session, and how long a proof allows to change factors.
PENDING_SIGN_IN_SECONDS = env.integer("PENDING_SIGN_IN_SECONDS", 600, least=60)
CONFIRM_SECONDS = env.integer("CONFIRM_SECONDS", 300, least=60)
SESSION_IDLE_SECONDS = env.integer("SESSION_IDLE_SECONDS", 24 * 3600, least=60)
SESSION_ABSOLUTE_SECONDS = env.integer("SESSION_ABSOLUTE_SECONDS", 14 * 24 * 3600, least=60)
REFRESH_TOKEN_IDLE_SECONDS = env.integer("REFRESH_TOKEN_IDLE_SECONDS", 14 * 24 * 3600, least=60)
REFRESH_TOKEN_ABSOLUTE_SECONDS = env.integer("REFRESH_TOKEN_ABSOLUTE_SECONDS", 180 * 24 * 3600, least=60)
REFRESH_TOKEN_GRACE_SECONDS = 10

# ── django-oauth-toolkit ──────────────────────────────────────────────────────────────
# Gatehouse's models replace all of its models, from the first migration on.
OAUTH2_PROVIDER_APPLICATION_MODEL = "applications.Application"
OAUTH2_PROVIDER_GRANT_MODEL = "grants.AuthorizationCode"
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "grants.RefreshFamily"  # noqa: S105 - a model
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "grants.RevokedToken"  # noqa: S105 - a model
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "grants.Unstored"  # noqa: S105 - a model
OAUTH2_PROVIDER_DEVICE_GRANT_MODEL = "grants.Unstored"
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "oidc.provider.validator.Validator",
    "OIDC_ENABLED": True,
    "PKCE_REQUIRED": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
    "DEFAULT_SCOPES": [],
    **{
        f"COMPLIANT_BCP_RFC9700_{gate}": True
        for gate in (
            "IMPLICIT_GRANT",
            "PASSWORD_GRANT",
            "PKCE_METHOD",
            "ACCESS_TOKEN_TRANSPORT",
            "AUTHZ_RESPONSE_ISS",
            "TOKEN_STORAGE",
            "REFRESH_TOKEN",
            "REDIRECT_URI_SCHEME",
            "REDIRECT_URI_MATCHING",
            "PKCE_REQUIRED",
        )
    },
}

# ── The API ───────────────────────────────────────────────────────────────────────────
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["management.api.envelope.EnvelopeRenderer"],
    "DEFAULT_PARSER_CLASSES": ["management.api.parsers.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "management.api.negotiation.StrictNegotiation",
    "EXCEPTION_HANDLER": "management.api.errors.handle",
    "DEFAULT_AUTHENTICATION_CLASSES": ["management.api.authentication.ManagementAuthentication"],
    # Access is denied by default: a view without permission classes is not public.
    "DEFAULT_PERMISSION_CLASSES": ["management.api.permissions.ManagesTenant"],
    "DEFAULT_PAGINATION_CLASS": "identity.rest.pagination.EnvelopePagination",
    "DEFAULT_METADATA_CLASS": "management.api.metadata.NoMetadata",
    "DEFAULT_SCHEMA_CLASS": "management.openapi.operations.OperationSchema",
    "UNAUTHENTICATED_USER": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Gatehouse",
    "VERSION": "1",
    "LICENSE": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "SORT_OPERATION_PARAMETERS": False,
    "SORT_OPERATIONS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "PREPROCESSING_HOOKS": ["management.openapi.routes.with_ids"],
    "POSTPROCESSING_HOOKS": ["management.openapi.document.complete"],
}

# ── Logs ──────────────────────────────────────────────────────────────────────────────
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
