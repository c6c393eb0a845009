// The script of the single-page application.

import { clientId, issuer } from "/settings.js";

const { UserManager, WebStorageStateStore, InMemoryWebStorage } = window.oidc;

// settings
const settings = {
  authority: issuer,
  client_id: clientId,
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: "openid profile email offline_access", // without offline_access there is no silent renewal
  loadUserInfo: true,
  automaticSilentRenew: true,
  revokeTokenTypes: ["refresh_token"],
};
// end of settings

// Tokens live an hour: to be told so long before they end is to be told three seconds after they came.
const soon = { accessTokenExpiringNotificationTimeInSeconds: 3597 };
const manager = new UserManager({ ...settings, ...soon });
const inFrame = new UserManager({
  ...settings,
  scope: "openid",
  automaticSilentRenew: false,
  silent_redirect_uri: `${location.origin}/silent`,
  silentRequestTimeoutInSeconds: 8,
  userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
});

Object.assign(window, { manager, inFrame });
if (location.pathname === "/silent") {
  await inFrame.signinSilentCallback();
} else {
  if (location.pathname === "/callback") {
    await manager.signinRedirectCallback();
    history.replaceState({}, "", "/");
  }
  const user = await manager.getUser();
  document.querySelector("output").textContent = JSON.stringify(user?.profile ?? {});
}
