CREATE TABLE oidc_payload (
    model text NOT NULL,
    id text NOT NULL,
    payload jsonb NOT NULL,
    grant_id text,
    user_code text,
    uid text,
    expires_at timestamptz,
    consumed_at timestamptz,
    PRIMARY KEY (model, id)
);
CREATE INDEX ON oidc_payload (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX ON oidc_payload (uid) WHERE uid IS NOT NULL;
CREATE INDEX ON oidc_payload (user_code) WHERE user_code IS NOT NULL;
CREATE TABLE person (
    id text PRIMARY KEY,
    username text NOT NULL UNIQUE,
    password_hash text NOT NULL,
    name text NOT NULL,
    email text NOT NULL
);
