// SPDX-License-Identifier: GPL-2.0-or-later
// The reference client of MCP, inside a session: node mcp_client.mjs SDK CODE, where CODE is the body of an async function.
//   open([COMMAND...])	a connected client of this server
//   tool(c, NAME, ARGS)	its text, or "ERROR text" of a tool error, or "CODE message" of a protocol error
import { pathToFileURL } from "node:url";

const [sdk, code] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${sdk}/node_modules/@modelcontextprotocol/sdk/dist/esm/${name}.js`));
const { Client } = await load("client/index");
const { StdioClientTransport } = await load("client/stdio");

async function open(command = "/run/custody/custody-mcp", ...args) {
	const client = new Client({ name: "test", version: "1" });
	await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
	return client;
}

async function tool(client, name, args, options) {
	try {
		const r = await client.callTool({ name, arguments: args }, undefined, options);
		const text = r.content.map((c) => c.text).join("\n");
		return r.isError ? `ERROR ${text}` : text;
	} catch (e) {
		return `${e.code} ${e.message}`;
	}
}

const run = Object.getPrototypeOf(async () => {}).constructor;
await new run("open", "tool", "say", code)(open, tool, (...words) => console.log(...words));
