// oauth4webapi, the library of single steps: with a secret (Traditional), without (SPA), or for a machine.

import * as oauth from "oauth4webapi";

import { clientId, clientSecret, issuer, origin, serve } from "./relying_party.mjs";

// settings
const server = await oauth
  .discoveryRequest(new URL(issuer))
  .then((response) => oauth.processDiscoveryResponse(new URL(issuer), response));
const client = { client_id: clientId };
const authentication = clientSecret ? oauth.ClientSecretBasic(clientSecret) : oauth.None();
const parameters = {
  client_id: clientId,
  redirect_uri: `${origin}/callback`,
  response_type: "code",
  scope: "openid profile email offline_access",
};
// end of settings

let asked, tokens, claims;

serve({
  "/": () => ({ ...claims, ...tokens }),
  "/login": async (url) => {
    asked = {
      verifier: oauth.generateRandomCodeVerifier(),
      nonce: oauth.generateRandomNonce(),
      state: oauth.generateRandomState(),
    };
    const address = new URL(server.authorization_endpoint);
    address.search = new URLSearchParams({
      ...parameters,
      code_challenge: await oauth.calculatePKCECodeChallenge(asked.verifier),
      code_challenge_method: "S256",
      nonce: asked.nonce,
      state: asked.state,
      ...Object.fromEntries(url.searchParams), // acr_values, max_age, claims
    });
    return address;
  },
  "/callback": async (url) => {
    const answer = oauth.validateAuthResponse(server, client, url, asked.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server, client, authentication, answer, parameters.redirect_uri, asked.verifier,
    );
    tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: asked.nonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response);
    claims = oauth.getValidatedIdTokenClaims(tokens);
    return new URL("/", origin);
  },
  "/userinfo": async () => {
    const response = await oauth.userInfoRequest(server, client, tokens.access_token);
    return oauth.processUserInfoResponse(server, client, claims.sub, response);
  },
  "/refresh": async () => {
    const response = await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token);
    tokens = await oauth.processRefreshTokenResponse(server, client, response);
    claims = oauth.getValidatedIdTokenClaims(tokens);
    return new URL("/", origin);
  },
  "/revoke": async () => {
    const response = await oauth.revocationRequest(server, client, authentication, tokens.refresh_token);
    await oauth.processRevocationResponse(response);
    return {};
  },
  "/logout": () => {
    const address = new URL(server.end_session_endpoint);
    address.search = new URLSearchParams({
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: `${origin}/`,
    });
    tokens = claims = undefined;
    return address;
  },
  "/machine": async (url) => {
    const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, url.searchParams);
    return oauth.processClientCredentialsResponse(server, client, response);
  },
});
