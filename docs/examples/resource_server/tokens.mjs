// Who calls this API: read from the access token and checked here, without asking Gatehouse. Needs `npm install jose`.

import { createRemoteJWKSet, jwtVerify } from "jose";

const { ISSUER: issuer, AUDIENCE: audience } = process.env;
const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));

// Returns the claims of the token, which has to hold this scope; throws when it is not good.
export async function caller(authorization, scope) {
  const [, token] = /^bearer (\S+)$/i.exec(authorization ?? "") ?? [];
  if (!token) throw Object.assign(new Error("no token"), { status: 401 });
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience,
    algorithms: ["ES256"],
    typ: "at+jwt", // an ID token is signed by the same key
    requiredClaims: ["exp", "iat", "sub", "client_id"],
    clockTolerance: 30,
  });
  if (!payload.scope.split(" ").includes(scope)) throw Object.assign(new Error("not allowed"), { status: 403 });
  return payload;
}
