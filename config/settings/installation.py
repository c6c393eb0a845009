"""The installation: its addresses, keys, proxies and administrators, and mail to administrators."""

import os
from pathlib import Path

from config import country_header, documentation, encryption_keys, env, mail, passkeys, single_sign_on

BASE_DIR = Path(__file__).resolve().parents[2]
VAR = Path(env.text("VAR_DIR", str(BASE_DIR / "var"))).resolve()

# DEBUG=true sets DEVELOPMENT, which gives settings for development their defaults. Django's own DEBUG,
# which shows tracebacks to visitors, is always off.
DEVELOPMENT = env.flag("DEBUG")
DEBUG = False
HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, least=1, most=65535)
DEMO_PORT = env.integer("DEMO_PORT", min(PORT + 1, 65535), least=1, most=65535)
# Without DATABASE_POOL, each thread has a connection, and each worker four more. The defaults stay below
# PostgreSQL's limit of 100.
WEB_CONCURRENCY = env.integer("WEB_CONCURRENCY", min(os.cpu_count() or 1, 4), least=1, most=256)
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
