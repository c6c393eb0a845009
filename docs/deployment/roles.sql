-- Two database roles: gatehouse_owner owns the tables, migrates and purges; gatehouse_serving serves.
-- Run it once as a superuser, in the database of Gatehouse. You may repeat it, and it also moves an installation from
-- one role to two. It reads OWNER_PASSWORD and SERVING_PASSWORD from the environment:
--
--   psql --file=docs/deployment/roles.sql gatehouse
\set ON_ERROR_STOP on
\getenv owner_password OWNER_PASSWORD
\getenv serving_password SERVING_PASSWORD
BEGIN;
SET LOCAL lock_timeout = '5s';

SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['gatehouse_owner', 'gatehouse_serving']) AS name
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE gatehouse_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'owner_password';
ALTER ROLE gatehouse_serving LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'serving_password';
-- A request that waits longer than this for a lock gets 503, so its thread is free for other requests.
ALTER ROLE gatehouse_serving SET lock_timeout = '5s';

-- Only these two roles have access. The serving role cannot create tables, not even temporary ones.
SELECT format('ALTER DATABASE %I OWNER TO gatehouse_owner', current_database()) \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO gatehouse_serving', current_database()) \gexec
ALTER SCHEMA public OWNER TO gatehouse_owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO gatehouse_serving;

-- The tables and functions of an earlier role. Indexes and sequences of columns move with their tables.
SELECT format('ALTER TABLE %s OWNER TO gatehouse_owner', oid::regclass) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' \gexec
SELECT format('ALTER FUNCTION %s OWNER TO gatehouse_owner', oid::regprocedure) FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype \gexec
COMMIT;
