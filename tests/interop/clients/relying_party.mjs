// What the relying parties of this folder have in common: one person, and six addresses that a browser opens.

import { createServer } from "node:http";

export const { ISSUER: issuer, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, ORIGIN: origin } = process.env;

// Each route takes the URL that was asked for; it returns the address to go to next, or what to show.
export function serve(routes) {
  createServer(async (request, response) => {
    const url = new URL(request.url, origin);
    try {
      const answer = await routes[url.pathname](url);
      if (answer instanceof URL) {
        response.writeHead(302, { Location: answer.href }).end();
      } else {
        response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
      }
    } catch (error) {
      response.writeHead(500, { "Content-Type": "text/plain" }).end(`${error.stack}\n${error.cause ?? ""}`);
    }
  }).listen(Number(new URL(origin).port), "127.0.0.1");
}
