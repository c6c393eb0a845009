// AppAuth, a Native application: it opens the person's browser and listens on a port that is free just now.

import "./extensions.mjs";

import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout } from "node:timers/promises";

import { clientId, issuer, origin, serve } from "./relying_party.mjs";

const appauth = await import("@openid/appauth");
const { NodeBasedHandler, NodeCrypto, NodeRequestor } = await import("@openid/appauth/built/src/node_support/index.js");

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

// settings
const requestor = new NodeRequestor();
const server = await appauth.AuthorizationServiceConfiguration.fetchFromIssuer(issuer, requestor);
const port = await freePort(); // registered is http://127.0.0.1/callback: the port may be any
const request = {
  client_id: clientId,
  redirect_uri: `http://127.0.0.1:${port}/callback`,
  scope: "openid profile email offline_access",
  response_type: appauth.AuthorizationRequest.RESPONSE_TYPE_CODE,
};
const handler = new NodeBasedHandler(port);
// end of settings

const tokenHandler = new appauth.BaseTokenRequestHandler(requestor);
const opened = process.env.OPENED;
let tokens, arrived;

const ask = (parameters) =>
  tokenHandler.performTokenRequest(server, new appauth.TokenRequest({ ...request, ...parameters }));

const notifier = new appauth.AuthorizationNotifier();
handler.setAuthorizationNotifier(notifier);
const redeem = ({ internal: { code_verifier } }, { code }) =>
  ask({ grant_type: appauth.GRANT_TYPE_AUTHORIZATION_CODE, code, extras: { code_verifier } });

serve({
  "/": async () => {
    tokens ??= await arrived;
    const claims = JSON.parse(Buffer.from(tokens.idToken.split(".")[1], "base64url")); // AppAuth reads no ID token
    return { ...claims, access_token: tokens.accessToken, refresh_token: tokens.refreshToken };
  },
  "/login": async () => {
    rmSync(opened, { force: true });
    arrived = new Promise((resolve) =>
      notifier.setAuthorizationListener((asked, answer) => resolve(redeem(asked, answer))),
    );
    handler.performAuthorizationRequest(server, new appauth.AuthorizationRequest(request, new NodeCrypto()));
    while (!existsSync(opened)) await setTimeout(20);
    return new URL(readFileSync(opened, "utf8"));
  },
  "/refresh": async () => {
    tokens = await ask({ grant_type: appauth.GRANT_TYPE_REFRESH_TOKEN, refresh_token: tokens.refreshToken });
    return new URL("/", origin);
  },
  "/revoke": async () => {
    const revoked = { token: tokens.refreshToken, client_id: clientId };
    await tokenHandler.performRevokeTokenRequest(server, new appauth.RevokeTokenRequest(revoked));
    return {};
  },
});
