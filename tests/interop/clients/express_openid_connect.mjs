// express-openid-connect: /login, /callback and /logout are its own.

import express from "express";
import { auth } from "express-openid-connect";

import { clientId, clientSecret, issuer, origin } from "./relying_party.mjs";

const app = express();

// settings
app.use(
  auth({
    issuerBaseURL: issuer,
    baseURL: origin,
    clientID: clientId,
    clientSecret,
    secret: "a long random text that signs the cookies of this application",
    idTokenSigningAlg: "ES256", // the default is RS256
    authorizationParams: { response_type: "code", scope: "openid profile email offline_access" },
    authRequired: false,
    idpLogout: true,
    routes: { postLogoutRedirect: `${origin}/` },
  }),
);
// end of settings

const shown = ({ oidc }) => ({
  ...oidc.idTokenClaims,
  access_token: oidc.accessToken?.access_token,
  refresh_token: oidc.refreshToken,
});

app.get("/", (request, response) => response.json(shown(request)));
app.get("/userinfo", async (request, response) => response.json(await request.oidc.fetchUserInfo()));
app.get("/refresh", async (request, response) => {
  await request.oidc.accessToken.refresh();
  response.redirect("/");
});
app.listen(Number(new URL(origin).port), "127.0.0.1");
