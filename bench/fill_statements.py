"""The SQL of ``bench fill``. Row ``n`` of a kind is always the same, except for its time.

Ids are UUIDs of version 7, spread over 400 days in the order of the rows.
"""

from typing import Final

# The time of row n of a total, and its id: the time, then bits that depend on the number alone.
FUNCTIONS: Final = """
SELECT set_config('bench.now', now()::text, false);
CREATE FUNCTION pg_temp.moment(n bigint, total bigint) RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT current_setting('bench.now')::timestamptz - interval '400 days' * (1 - n / total::float8) $$;
CREATE FUNCTION pg_temp.id(kind text, n bigint, moment timestamptz) RETURNS uuid LANGUAGE sql STABLE AS
$$ SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '7'
   || substr(md5(kind || n), 1, 3) || '8' || substr(md5(kind || n), 4, 15))::uuid $$;
CREATE FUNCTION pg_temp.one_of(choices text[], n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT choices[1 + abs(hashint8(n)::bigint) % cardinality(choices)] $$;
"""

SECONDARY_INDEXES: Final = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = ANY (%s::text[]::regclass[])
AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
"""

_GIVEN_NAMES: Final = (
    "Ada Aiko Amina Ana Ben Carlos Chen Dario Elif Emma Fatima Finn Grace Hana Ines Ivan Jamal Kai Lea Liam"
    " Mateo Mei Mila Noah Nour Olga Omar Priya Ravi Rosa Uma Vera Wei Yara Yusuf Zofia"
)
_FAMILY_NAMES: Final = (
    "Abe Almeida Bauer Brown Costa Diallo Dubois Evans Fischer Haddad Hansen Ito Jansen Kaya Kim Kowalski"
    " Martin Moreau Nakamura Nguyen Okafor Okoye Patel Petrov Rossi Sato Silva Singh Smith Tanaka Torres"
    " Walker Wang Weber Yildiz Zhang"
)
_COMMON_KEYS: Final = (
    "Token.Exchange Token.Exchange Token.Exchange Token.Refresh Token.Refresh SignIn.Password"
    " SignIn.Password SignIn.VerificationCode VerificationCode.Send User.Update"
)

_USERS: Final = f"""
INSERT INTO users_user (id, tenant_id, created_at, updated_at, version, username, username_key, email,
    email_key, email_verified, phone, phone_key, phone_verified, name, password, is_suspended, epoch,
    login_count, last_sign_in_at, custom_data, self_registered, search_text)
SELECT pg_temp.id('user' || %(tenant)s, n, at), %(tenant)s, at, at, 1, username, username, email,
    email, n %% 5 > 0, coalesce(phone, ''), phone, phone IS NOT NULL, name, %(password)s, n %% 200 = 199, 0,
    n %% 50, CASE WHEN n %% 50 > 0 THEN at + interval '1 hour' END,
    jsonb_build_object('team', n %% 1000), n %% 3 = 0,
    username || E'\\n' || email || E'\\n' || coalesce(phone, '') || E'\\n' || lower(name)
FROM (
    SELECT n, pg_temp.moment(n, %(total)s) AS at, 'user' || n AS username,
        'user' || n || '@mail' || n %% 1000 || '.example' AS email,
        CASE WHEN n %% 2 = 0 THEN '+4915' || lpad(n::text, 9, '0') END AS phone,
        pg_temp.one_of(string_to_array('{_GIVEN_NAMES}', ' '), n) || ' '
        || pg_temp.one_of(string_to_array('{_FAMILY_NAMES}', ' '), n * 7919) AS name
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
) AS made
"""  # noqa: S608 - no outside value

# Some keys are rare: one entry in 500 and one in 50,000.
_ENTRIES: Final = f"""
INSERT INTO audit_entry (id, tenant_id, key, payload, user_id, application_id, ip, user_agent, request_id,
    created_at)
SELECT pg_temp.id('entry', n, at), %(tenant)s,
    CASE WHEN n %% 50000 = 7 THEN 'SigningKey.Rotate' WHEN n %% 500 = 5 THEN 'User.Create'
    ELSE pg_temp.one_of(string_to_array('{_COMMON_KEYS}', ' '), n) END,
    jsonb_build_object('result', CASE WHEN n %% 20 = 0 THEN 'Error' ELSE 'Success' END, 'number', n),
    CASE WHEN n %% 10 > 0
    THEN pg_temp.id('user' || %(tenant)s, who, pg_temp.moment(who, %(users)s))::text END,
    CASE WHEN n %% 4 > 0 THEN pg_temp.id('application', n %% 200, '2026-01-01')::text END,
    '198.51.100.' || n %% 250, 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    md5('request' || n)::uuid::text, at
FROM (
    SELECT n, abs(hashint8(n)::bigint) %% %(users)s AS who, pg_temp.moment(n, %(total)s) AS at
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
) AS made
"""  # noqa: S608 - no outside value

_ORGANIZATIONS: Final = """
INSERT INTO organizations_organization (id, tenant_id, created_at, updated_at, version, name, description,
    logo_url, metadata)
SELECT pg_temp.id('organization', n, pg_temp.moment(n, %(total)s)), %(tenant)s, pg_temp.moment(n, %(total)s),
    pg_temp.moment(n, %(total)s), 1, 'Organization ' || n, '', '', '{}'
FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
"""

_ORGANIZATIONS_OF_USER0: Final = """
INSERT INTO organizations_membership (id, tenant_id, created_at, updated_at, version, organization_id,
    user_id, is_admin)
SELECT gen_random_uuid(), %(tenant)s, o.created_at, o.created_at, 1, o.id, u.id, false
FROM organizations_organization o, users_user u
WHERE o.tenant_id = %(tenant)s AND u.tenant_id = %(tenant)s AND u.username_key = 'user0'
ON CONFLICT DO NOTHING
"""

_MEMBERS: Final = """
INSERT INTO organizations_membership (id, tenant_id, created_at, updated_at, version, organization_id,
    user_id, is_admin)
SELECT pg_temp.id('member', row_number() OVER (ORDER BY u.id), u.created_at), %(tenant)s, u.created_at,
    u.created_at, 1,
    (SELECT id FROM organizations_organization WHERE tenant_id = %(tenant)s AND name = 'Organization 0'),
    u.id, false
FROM users_user u WHERE u.tenant_id = %(tenant)s ORDER BY u.created_at LIMIT %(number)s
ON CONFLICT DO NOTHING
"""

_ROLES: Final = """
INSERT INTO roles_role (id, tenant_id, created_at, updated_at, version, name, description, type,
    is_protected)
SELECT pg_temp.id('role', n, pg_temp.moment(n, %(total)s)), %(tenant)s, pg_temp.moment(n, %(total)s),
    pg_temp.moment(n, %(total)s), 1, 'Role ' || n, '', 'User', false
FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
"""

_ROLE_USERS: Final = """
INSERT INTO roles_userrole (id, tenant_id, role_id, user_id)
SELECT gen_random_uuid(), %(tenant)s,
    (SELECT id FROM roles_role WHERE tenant_id = %(tenant)s AND type = 'User' ORDER BY created_at LIMIT 1),
    u.id
FROM users_user u WHERE u.tenant_id = %(tenant)s ORDER BY u.created_at LIMIT %(number)s
ON CONFLICT DO NOTHING
"""

# Numbered rows, by kind: the table, and the statement for rows %(first)s to %(last)s.
SERIES: Final = {
    "users": ("users_user", _USERS),
    "entries": ("audit_entry", _ENTRIES),
    "organizations": ("organizations_organization", _ORGANIZATIONS),
    "roles": ("roles_role", _ROLES),
}
# Rows that relate other rows, by kind: one statement each.
RELATIONS: Final = {
    "organizations of user0": _ORGANIZATIONS_OF_USER0,
    "members": _MEMBERS,
    "users of a role": _ROLE_USERS,
}
# Tables that are empty after the first start of Gatehouse.
EMPTY_AT_FIRST: Final = ("users_user", "organizations_organization")
