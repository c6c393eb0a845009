// The script of the single-page application.

import Keycloak from "keycloak-js";

import { clientId, issuer } from "/settings.js";

// settings
const keycloak = new Keycloak({ clientId, oidcProvider: issuer });
const signedIn = await keycloak.init({
  onLoad: "check-sso", // signs in without a page if the user has a session
  checkLoginIframe: false, // frames of other sites get no cookies
  scope: "profile email", // it adds openid; with offline_access it refuses the refresh token
  redirectUri: `${location.origin}/`,
});
// end of settings

window.keycloak = keycloak;
document.querySelector("output").textContent = JSON.stringify(signedIn ? keycloak.idTokenParsed : {});
