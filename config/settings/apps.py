"""The apps, and the dotted paths that connect them, so that an app does not import the apps that use it."""

# Lowest layer first.
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
AUTH_USER_MODEL = "administrators.Administrator"
NEW_EMAIL_RULE = "interaction.experience.new_emails.check"
# The addresses whose codes are second factors: see identity.users.code_factors.
CODE_FACTORS = "interaction.experience.code_factors.find_kinds"
# Whether a sign-in with a social connector skips second factors: see interaction.connectors.proof.
SOCIAL_SKIPS_FACTORS = "interaction.experience.services.has_social_skip"
# The active tenant's rule by which browsers are remembered: see identity.factors.remembered_rule.
TRUSTED_DEVICES = "interaction.experience.services.get_trusted_devices"
# Ends what remembered browsers of a user were granted: see identity.factors.remembered_grants.
END_REMEMBERED_GRANTS = "oidc.grants.remembered.end"
# The ways to sign in that a user has: see identity.users.sign_in_ways.
SIGN_IN_WAYS = "interaction.journeys.sign_in_ways.get_ways"
TENANT_PROVISIONERS = [
    "identity.resources.services.provision",
    "identity.roles.services.provision",
    "oidc.keys.services.provision",
    "interaction.experience.services.provision",
]
# Returns whether every serving node knows a migration: see oidc.keys.services.
ALL_NODES_KNOW = "management.upgrades.serving.do_all_nodes_know"
# Generate and store the first key of an algorithm: see identity.resources.services.
GENERATE_SIGNING_KEY = "oidc.keys.services.generate_missing"
HOLD_SIGNING_KEY = "oidc.keys.services.hold"
# The level of each value of acr: see identity.resources.serializers.
ACR_LEVELS = "oidc.settings.acr_levels.get_all"
# Keeps a value of acr known until the transaction ends: see identity.resources.services.
HOLD_ACR_VALUE = "oidc.settings.services.hold_acr_value"
# The applications and APIs that require one of some values of acr: see oidc.settings.services.
ACR_VALUE_USES = "oidc.applications.acr_rules.find_uses"
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
    "applications.Application": ["oidc.applications.lifetimes.lock_before_deletion"],
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
# For audit.typed_identifiers.
AUDIT_IDENTIFIER_KEYS = "identity.users.typed_identifiers.find_keys"
AUDIT_SUBJECT = "identity.users.typed_identifiers.find_subject"
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
