// oidc-provider as its documentation sets it up: clients, sessions, grants and tokens in PostgreSQL, refresh tokens
// that rotate and whose reuse ends the grant, JWT access tokens for two APIs. Where a page would ask for the password
// there is JSON. Everything comes from the environment: PORT, PROCESSES, DATABASE_URL, JWKS, COOKIE_KEY, RESOURCE,
// RS256_RESOURCE.

import cluster from "node:cluster";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

import { verify } from "@node-rs/argon2";
import { Provider, errors } from "oidc-provider";

import { Adapter, pool } from "./adapter.mjs";

const { PORT, PROCESSES, JWKS, COOKIE_KEY, RESOURCE, RS256_RESOURCE } = process.env;

const apis = new Map(
  [
    [RESOURCE, "ES256"],
    [RS256_RESOURCE, "RS256"],
  ].map(([audience, alg]) => [audience, { scope: "read", audience, accessTokenFormat: "jwt", jwt: { sign: { alg } } }]),
);

const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  adapter: Adapter,
  jwks: JSON.parse(JWKS),
  cookies: { keys: [COOKIE_KEY] },
  clientDefaults: { id_token_signed_response_alg: "ES256" },
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo(_, resource) {
        if (!apis.has(resource)) throw new errors.InvalidTarget();
        return apis.get(resource);
      },
    },
  },
  rotateRefreshToken: true,
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 60,
    ClientCredentials: 3600,
    Grant: 1_209_600,
    IdToken: 3600,
    Interaction: 3600,
    RefreshToken: 1_209_600,
    Session: 1_209_600,
  },
  interactions: { url: (_, interaction) => `/sign-in?interaction=${interaction.uid}` },
  async findAccount(_, id) {
    const person = await one("person-by-id", "SELECT id, name, email FROM person WHERE id = $1", id);
    return (
      person && {
        accountId: person.id,
        claims: () => ({ sub: person.id, name: person.name, email: person.email, email_verified: true }),
      }
    );
  },
});

async function one(name, text, value) {
  const { rows } = await pool.query({ name, text, values: [value] });
  return rows[0];
}

async function signIn(request, response) {
  const { identifier, password } = await json(request);
  const { params } = await provider.interactionDetails(request, response);
  const text = "SELECT id, password_hash FROM person WHERE username = $1";
  const person = await one("person-by-username", text, identifier);
  if (!person || !(await verify(person.password_hash, password))) {
    return answer(response, 401, { error: "wrong identifier or password" });
  }
  const grant = new provider.Grant({ accountId: person.id, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  if (params.resource) grant.addResourceScope(params.resource, apis.get(params.resource).scope);
  const result = { login: { accountId: person.id }, consent: { grantId: await grant.save() } };
  const next = await provider.interactionResult(request, response, result);
  return answer(response, 200, { result: { redirect_to: new URL(next).pathname } });
}

function answer(response, status, document) {
  const body = JSON.stringify(document);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

function listen() {
  const callback = provider.callback();
  const server = createServer((request, response) => {
    if (request.method !== "POST" || request.url !== "/sign-in") return callback(request, response);
    return signIn(request, response).catch(() => answer(response, 400, { error: "not understood" }));
  });
  server.keepAliveTimeout = 15_000; // as ours
  server.listen(Number(PORT), "127.0.0.1");
}

if (cluster.isPrimary && Number(PROCESSES) > 1) {
  for (let n = 0; n < Number(PROCESSES); n += 1) cluster.fork();
} else {
  listen();
}
