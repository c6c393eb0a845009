// openid-client: with a secret (Traditional), without (SPA, Native), or for a machine.

import * as client from "openid-client";

import { clientId, clientSecret, issuer, origin, serve } from "./relying_party.mjs";

// settings
const config = await client.discovery(
  new URL(issuer),
  clientId,
  clientSecret, // left out by an SPA or Native application, with client.None() in the next line
  clientSecret ? client.ClientSecretBasic(clientSecret) : client.None(),
);
const parameters = { redirect_uri: `${origin}/callback`, scope: "openid profile email offline_access" };
// end of settings

let asked, tokens, claims;

serve({
  "/": () => ({ ...claims, ...tokens }),
  "/login": async (url) => {
    asked = {
      pkceCodeVerifier: client.randomPKCECodeVerifier(),
      expectedNonce: client.randomNonce(),
      expectedState: client.randomState(),
      idTokenExpected: true,
    };
    return client.buildAuthorizationUrl(config, {
      ...parameters,
      code_challenge: await client.calculatePKCECodeChallenge(asked.pkceCodeVerifier),
      code_challenge_method: "S256",
      nonce: asked.expectedNonce,
      state: asked.expectedState,
      ...Object.fromEntries(url.searchParams), // acr_values, max_age, claims
    });
  },
  "/callback": async (url) => {
    tokens = await client.authorizationCodeGrant(config, url, asked);
    claims = tokens.claims();
    return new URL("/", origin);
  },
  "/userinfo": () => client.fetchUserInfo(config, tokens.access_token, claims.sub),
  "/refresh": async () => {
    tokens = await client.refreshTokenGrant(config, tokens.refresh_token);
    claims = tokens.claims();
    return new URL("/", origin);
  },
  "/revoke": async () => (await client.tokenRevocation(config, tokens.refresh_token), {}),
  "/logout": () => {
    const address = client.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: `${origin}/`,
    });
    tokens = claims = undefined;
    return address;
  },
  "/logout-from-server": async () => {
    const answer = await fetch(config.serverMetadata().end_session_endpoint, {
      method: "POST",
      body: new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: `${origin}/` }),
      redirect: "manual",
    });
    return { status: answer.status, location: answer.headers.get("Location") };
  },
  "/machine": (url) => client.clientCredentialsGrant(config, url.searchParams),
});
