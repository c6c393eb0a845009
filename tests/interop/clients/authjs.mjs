// Auth.js (@auth/core), as its own adapters for frameworks call it.

import { createServer } from "node:http";

import { Auth, skipCSRFCheck } from "@auth/core";


import { clientId, clientSecret, issuer, origin } from "./relying_party.mjs";

// settings
const config = {
  basePath: "/auth",
  secret: "a long random text that seals the cookies of this application",
  trustHost: true,
  providers: [
    {
      id: "gatehouse",
      name: "Gatehouse",
      type: "oidc",
      issuer,
      clientId,
      clientSecret,
      authorization: { params: { scope: "openid profile email offline_access" } },
      checks: ["pkce", "state", "nonce"],
    },
  ],
  callbacks: {
    jwt: ({ token, account, profile }) => (account ? { ...token, account, profile } : token),
    session: ({ session, token }) => ({ ...session, ...token.profile, ...token.account }),
  },
};
// end of settings

config.skipCSRFCheck = skipCSRFCheck; // the browser of the test presses no button

const ask = (path, { headers }, body) =>
  Auth(
    new Request(new URL(path, origin), {
      method: body ? "POST" : "GET",
      headers: { cookie: headers.cookie ?? "", "content-type": "application/x-www-form-urlencoded" },
      body: body && new URLSearchParams(body),
    }),
    { ...config },
  );

createServer(async (request, response) => {
  const { pathname } = new URL(request.url, origin);
  const routes = {
    "/": () => ask("/auth/session", request),
    "/login": () => ask("/auth/signin/gatehouse", request, { callbackUrl: `${origin}/` }),
    "/logout": async () => {
      const { id_token } = await (await ask("/auth/session", request)).json();
      const answer = await ask("/auth/signout", request, { callbackUrl: `${origin}/` });
      const parameters = { id_token_hint: id_token, post_logout_redirect_uri: `${origin}/` };
      answer.headers.set("Location", `${issuer}/oidc/end-session?${new URLSearchParams(parameters)}`);
      return answer;
    },
  };
  const answer = await (routes[pathname] ?? (() => ask(request.url, request)))();
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    "set-cookie": answer.headers.getSetCookie(),
  });
  response.end(await answer.text());
}).listen(Number(new URL(origin).port), "127.0.0.1");
