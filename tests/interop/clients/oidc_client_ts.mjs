// Serves the single-page application: a page, its script, and oidc-client-ts as it is published.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";

import { clientId, issuer, origin } from "./relying_party.mjs";

const library = createRequire(import.meta.url).resolve("oidc-client-ts/package.json");
const page = `<!doctype html><title>SPA</title><link rel="icon" href="data:,"><output></output>
<script src="/oidc-client-ts.js"></script><script type="module" src="/app.js"></script>`;
const files = {
  "/oidc-client-ts.js": readFileSync(library.replace("package.json", "dist/browser/oidc-client-ts.min.js")),
  "/app.js": readFileSync(new URL("oidc_client_ts.js", import.meta.url)),
  "/settings.js": `export const issuer = ${JSON.stringify(issuer)}, clientId = ${JSON.stringify(clientId)};`,
};

createServer((request, response) => {
  const file = files[new URL(request.url, origin).pathname];
  response.writeHead(200, { "Content-Type": file ? "text/javascript" : "text/html" }).end(file ?? page);
}).listen(Number(new URL(origin).port), "127.0.0.1");
