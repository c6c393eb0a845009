// Serves a single-page application with keycloak-js as it is published: a page, its script, and the library.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

import { clientId, issuer, origin } from "./relying_party.mjs";

const library = fileURLToPath(import.meta.resolve("keycloak-js"));
const page = `<!doctype html><title>SPA</title><link rel="icon" href="data:,"><output></output>
<script type="importmap">{"imports": {"keycloak-js": "/keycloak.js"}}</script>
<script type="module" src="/app.js"></script>`;
const files = {
  "/keycloak.js": readFileSync(library),
  "/app.js": readFileSync(new URL("keycloak_js.js", import.meta.url)),
  "/settings.js": `export const issuer = ${JSON.stringify(issuer)}, clientId = ${JSON.stringify(clientId)};`,
};

createServer((request, response) => {
  const file = files[new URL(request.url, origin).pathname];
  response.writeHead(200, { "Content-Type": file ? "text/javascript" : "text/html" }).end(file ?? page);
}).listen(Number(new URL(origin).port), "127.0.0.1");
