// Everything that the provider keeps, in one table of PostgreSQL: schema.sql.

import pg from "pg";

const { DATABASE_URL } = process.env;

export const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });

// A statement with a name is prepared once on each connection.
const STATEMENTS = {
  upsert: `
    INSERT INTO oidc_payload (model, id, payload, grant_id, user_code, uid, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second')
    ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id,
      user_code = excluded.user_code, uid = excluded.uid, expires_at = excluded.expires_at`,
  find: "SELECT payload, consumed_at FROM oidc_payload WHERE model = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > now())",
  findByUid: "SELECT payload, consumed_at FROM oidc_payload WHERE model = $1 AND uid = $2 AND (expires_at IS NULL OR expires_at > now())",
  findByUserCode:
    "SELECT payload, consumed_at FROM oidc_payload WHERE model = $1 AND user_code = $2 AND (expires_at IS NULL OR expires_at > now())",
  consume: "UPDATE oidc_payload SET consumed_at = now() WHERE model = $1 AND id = $2",
  destroy: "DELETE FROM oidc_payload WHERE model = $1 AND id = $2",
  revokeByGrantId: "DELETE FROM oidc_payload WHERE model = $1 AND grant_id = $2",
};

export class Adapter {
  constructor(model) {
    this.model = model;
  }

  #run(name, ...values) {
    return pool.query({ name, text: STATEMENTS[name], values: [this.model, ...values] });
  }

  async #one(name, value) {
    const {
      rows: [row],
    } = await this.#run(name, value);
    if (!row) return undefined;
    return row.consumed_at ? { ...row.payload, consumed: Math.floor(row.consumed_at / 1000) } : row.payload;
  }

  async upsert(id, payload, expiresIn) {
    const { grantId, userCode, uid } = payload;
    await this.#run("upsert", id, payload, grantId, userCode, uid, expiresIn);
  }

  find(id) {
    return this.#one("find", id);
  }

  findByUid(uid) {
    return this.#one("findByUid", uid);
  }

  findByUserCode(userCode) {
    return this.#one("findByUserCode", userCode);
  }

  async consume(id) {
    await this.#run("consume", id);
  }

  async destroy(id) {
    await this.#run("destroy", id);
  }

  async revokeByGrantId(grantId) {
    await this.#run("revokeByGrantId", grantId);
  }
}
