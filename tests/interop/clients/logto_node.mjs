// @logto/node: it looks for the provider below /oidc, and wants the ID token's audience as one text.

import LogtoClient from "@logto/node";

import { clientId, clientSecret, issuer, origin, serve } from "./relying_party.mjs";

const kept = new Map();
const storage = {
  getItem: async (key) => kept.get(key) ?? null,
  setItem: async (key, value) => void kept.set(key, value),
  removeItem: async (key) => void kept.delete(key),
};
let next;

// settings
const client = new LogtoClient(
  { endpoint: issuer, appId: clientId, appSecret: clientSecret, scopes: ["email"] }, // it adds the others
  { storage, navigate: (address) => (next = new URL(address)) },
);
// end of settings

const tokens = async () =>
  (await client.isAuthenticated())
    ? {
        ...(await client.getIdTokenClaims()),
        access_token: await client.getAccessToken(),
        refresh_token: await client.getRefreshToken(),
      }
    : {};

serve({
  "/": tokens,
  "/login": async () => (await client.signIn(`${origin}/callback`), next),
  "/callback": async (url) => (await client.handleSignInCallback(url.href), new URL("/", origin)),
  "/userinfo": () => client.fetchUserInfo(),
  "/refresh": async () => (await client.clearAccessToken(), new URL("/", origin)),
  "/logout": async () => (await client.signOut(`${origin}/`), next),
});
