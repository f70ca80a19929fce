// SPDX-License-Identifier: Apache-2.0
/*
 * usage: http2_proxy.mjs CERTIFICATE KEY PORT
 *
 * A server of TLS and HTTP/2 alone, which passes requests on to a port of the loopback by HTTP/1.1. It
 * prints its port, then a line for each connection and each request.
 */
import { readFileSync } from "node:fs";
import { request as pass } from "node:http";
import { createSecureServer } from "node:http2";

const [certificate, key, port] = process.argv.slice(2);
const server = createSecureServer({ cert: readFileSync(certificate), key: readFileSync(key) });

/** The headers that both protocols have. */
function shared(headers) {
    return Object.fromEntries(Object.entries(headers)
        .filter(([name]) => !name.startsWith(":") && name !== "connection" && name !== "transfer-encoding"));
}

server.on("session", () => console.log("connection"));
server.on("request", (request, response) => {
    console.log(`request HTTP/${request.httpVersion}`);
    const { method, url: path, headers } = request;
    const passed = pass({ host: "127.0.0.1", port, method, path, headers: shared(headers) }, (reply) => {
        response.writeHead(reply.statusCode, shared(reply.headers));
        reply.pipe(response);
    });

    passed.on("error", () => response.destroy());
    request.pipe(passed);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
