// NextAuth 4, as a Next.js API route calls it: Express hands over what Next.js would.

import express from "express";
import nextAuth from "next-auth";

import { clientId, clientSecret, issuer, origin } from "./relying_party.mjs";

process.env.NEXTAUTH_URL = origin;

// settings
const options = {
  secret: "a long random text that seals the cookies of this application",
  providers: [
    {
      id: "gatehouse",
      name: "Gatehouse",
      type: "oauth",
      wellKnown: `${issuer}/.well-known/openid-configuration`,
      clientId,
      clientSecret,
      authorization: { params: { scope: "openid profile email" } },
      idToken: true,
      checks: ["pkce", "state", "nonce"],
      profile: (claims) => ({ id: claims.sub, name: claims.name, email: claims.email }),
    },
  ],
  callbacks: {
    jwt: ({ token, account, profile }) => (account ? { ...token, profile, id_token: account.id_token } : token),
    session: ({ session, token }) => ({ ...session, ...token.profile, id_token: token.id_token }),
  },
};
// end of settings

const app = express();

app.use(express.urlencoded({ extended: false }));
app.all("/api/auth/*nextauth", (request, response) => {
  const query = { ...request.query, nextauth: request.params.nextauth };
  Object.defineProperty(request, "query", { value: query });
  request.cookies = Object.fromEntries(new URLSearchParams(request.headers.cookie?.replaceAll("; ", "&")));
  return nextAuth.default(request, response, options);
});

const ask = (path, cookie, form) =>
  fetch(`${origin}/api/auth/${path}`, {
    method: form ? "POST" : "GET",
    headers: { cookie },
    body: form && new URLSearchParams(form),
    redirect: "manual",
  });

// The browser of the test presses no button: this is what the button sends.
async function press(path, request, response, target) {
  const token = await ask("csrf", request.headers.cookie ?? "");
  const cookies = token.headers.getSetCookie();
  const held = [request.headers.cookie, ...cookies.map((cookie) => cookie.split(";")[0])].filter(Boolean).join("; ");
  const { csrfToken } = await token.json();
  const answer = await ask(path, held, { csrfToken, callbackUrl: `${origin}/` });
  response.setHeader("Set-Cookie", [...cookies, ...answer.headers.getSetCookie()]);
  response.redirect(target ?? answer.headers.get("Location"));
}

app.get("/", async (request, response) => {
  response.json(await (await ask("session", request.headers.cookie ?? "")).json());
});
app.get("/login", (request, response) => press("signin/gatehouse", request, response));
app.get("/logout", async (request, response) => {
  const { id_token } = await (await ask("session", request.headers.cookie)).json();
  const parameters = { id_token_hint: id_token, post_logout_redirect_uri: `${origin}/` };
  await press("signout", request, response, `${issuer}/oidc/end-session?${new URLSearchParams(parameters)}`);
});
app.listen(Number(new URL(origin).port), "127.0.0.1");
