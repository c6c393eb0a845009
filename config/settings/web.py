"""Requests, cookies, pages, static files, and the operators' site."""

from pathlib import Path

from config import env
from config.settings.installation import BASE_DIR, BASE_URL, VAR

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
    "config.server.load_shedding.LoadSheddingMiddleware",
    "config.static_files.StaticFilesMiddleware",
    "identity.tenants.middleware.TenantMiddleware",
    "config.wrong_method.WrongMethodMiddleware",
    "config.server.body_limits.BodyLimitMiddleware",
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
                "text_lists": "identity.core.text_list_tags",
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

# ── The operators' site ──────────────────────────────────────────────────────────────
AUTHENTICATION_BACKENDS = ["management.site.sign_in.SessionBackend"]
LOGIN_URL = "admin:login"
SESSION_ENGINE = "management.site.sessions"
SESSION_COOKIE_NAME = "__Host-gatehouse-admin" if _SECURE else "gatehouse-admin"
SESSION_COOKIE_SECURE = _SECURE
SESSION_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
