// passport-openidconnect: it signs people in and no more; it does not check the signature of the ID token.

import express from "express";
import session from "express-session";
import passport from "passport";
import OpenIDConnectStrategy from "passport-openidconnect";

import { clientId, clientSecret, issuer, origin } from "./relying_party.mjs";

// settings
const strategy = new OpenIDConnectStrategy(
  {
    issuer,
    authorizationURL: `${issuer}/oidc/authorize`,
    tokenURL: `${issuer}/oidc/token`,
    userInfoURL: `${issuer}/oidc/userinfo`,
    clientID: clientId,
    clientSecret,
    callbackURL: `${origin}/callback`,
    scope: ["profile", "email", "offline_access"], // it adds openid
    nonce: true, // off by default
    skipUserProfile: false,
  },
  (_issuer, userinfo, claims, _context, idToken, accessToken, refreshToken, _answer, done) =>
    done(null, { userinfo, claims, idToken, accessToken, refreshToken }),
);
// end of settings

passport.use("gatehouse", strategy);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.use(session({ secret: "signs the cookie", resave: false, saveUninitialized: false }));
app.use(passport.session());
app.get("/", ({ user }, response) =>
  response.json(user ? { sub: user.claims.id, access_token: user.accessToken, refresh_token: user.refreshToken } : {}),
);
app.get("/userinfo", ({ user }, response) => response.json(user.userinfo._json));
app.get("/login", passport.authenticate("gatehouse"));
app.get("/callback", passport.authenticate("gatehouse", { successRedirect: "/" }));
app.get("/logout", (request, response, next) => {
  const { idToken } = request.user;
  request.logout((error) => {
    const parameters = { id_token_hint: idToken, post_logout_redirect_uri: `${origin}/` };
    return error ? next(error) : response.redirect(`${issuer}/oidc/end-session?${new URLSearchParams(parameters)}`);
  });
});
app.listen(Number(new URL(origin).port), "127.0.0.1");
