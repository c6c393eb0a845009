-- Users of authentik, with the keys of their authenticator apps, as CSV.
COPY (
  SELECT
    uuid, username, email, name, password, is_active, date_joined, attributes,
    (
      SELECT json_agg(json_build_object('key', key, 'digits', digits, 'step', step) ORDER BY id DESC)
      FROM authentik_stages_authenticator_totp_totpdevice
      WHERE user_id = authentik_core_user.id AND confirmed
    ) AS apps
  FROM authentik_core_user
  WHERE type IN ('internal', 'external') AND username <> 'AnonymousUser'
  ORDER BY id
) TO STDOUT WITH (FORMAT csv, HEADER);
