"""Limits, locks and lifetimes."""

from config import env

# ── Limits ────────────────────────────────────────────────────────────────────────────
# The number of requests of a client address in LIMIT_ADDRESS_SECONDS.
LIMIT_ADDRESS_SECONDS = env.integer("LIMIT_ADDRESS_SECONDS", 600, least=1)
LIMIT_ADDRESS_SIGN_INS = env.integer("LIMIT_ADDRESS_SIGN_INS", 1_200, least=1)
LIMIT_ADDRESS_REGISTRATIONS = env.integer("LIMIT_ADDRESS_REGISTRATIONS", 300, least=1)
LIMIT_ADDRESS_CODE_SENDS = env.integer("LIMIT_ADDRESS_CODE_SENDS", 300, least=1)
LIMIT_CLIENT_FAILURES = env.integer("LIMIT_CLIENT_FAILURES", 50, least=1)  # per client
# Token and revocation requests without valid client authentication, and how many of them get an audit entry.
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
# Tests of one connector, and of all connectors of a tenant.
LIMIT_CONNECTOR_TESTS = env.integer("LIMIT_CONNECTOR_TESTS", 10, least=1)
LIMIT_TENANT_CONNECTOR_TESTS = env.integer("LIMIT_TENANT_CONNECTOR_TESTS", 60, least=1)
# By tenant, per hour. Each message costs money, and lists of phone numbers are easy to get.
LIMIT_TENANT_TEXT_MESSAGES = env.integer("LIMIT_TENANT_TEXT_MESSAGES", 5_000, least=1)
# By application, per hour: responses of the members API that reveal or change data of existing users.
LIMIT_MEMBER_JOINS = env.integer("LIMIT_MEMBER_JOINS", 60, least=1)
# By user, per hour: the audit log keeps each change of a profile.
LIMIT_PROFILE_CHANGES = env.integer("LIMIT_PROFILE_CHANGES", 60, least=1)
# Failed sign-ins that lock an identifier for one address, and for all addresses.
LOCK_PAIR_FAILURES = env.integer("LOCK_PAIR_FAILURES", 10, least=2)
LOCK_PAIR_SECONDS = env.integer("LOCK_PAIR_SECONDS", 900, least=1)
LOCK_IDENTIFIER_FAILURES = env.integer("LOCK_IDENTIFIER_FAILURES", 100, least=2)
LOCK_IDENTIFIER_SECONDS = env.integer("LOCK_IDENTIFIER_SECONDS", 3_600, least=1)
# The same in a browser that the user has signed in with. The lock for all addresses does not apply there.
LOCK_KNOWN_BROWSER_FAILURES = env.integer("LOCK_KNOWN_BROWSER_FAILURES", 20, least=2)
# Wrong second factors that lock the second factors of a user, for all addresses.
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
