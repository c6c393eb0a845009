// An OpenID provider of another make (certified oidc-provider), in which everybody may sign in.
// node provider.mjs PORT REDIRECT_URI CLIENT_ID CLIENT_SECRET

import { Provider } from "oidc-provider";

const [port, redirectUri, clientId, clientSecret] = process.argv.slice(2);

const claims = (sub) => ({ sub, email: `${sub}@example.com`, email_verified: true, name: `Person ${sub}` });

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: { email: ["email", "email_verified"], profile: ["name"] },
  pkce: { required: () => true },
  findAccount: (_, sub) => ({ accountId: sub, claims: async () => claims(sub) }),
  features: { devInteractions: { enabled: true } },
});

provider.listen(Number(port), "127.0.0.1");
