// The TypeScript SDK's own client, which validates each message with zod, and
// every message of the agent against the newest JSON schema that the SDK ships.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { Readable, Transform, Writable } from "node:stream";
import { test } from "node:test";
import * as acp from "@agentclientprotocol/sdk/unstable";
import { bench } from "./bench.mjs";

const require = createRequire(import.meta.url);

// schemaCheck returns a stream that passes the agent's lines on and collects
// what the schema has against them.
function schemaCheck(requests) {
  const Ajv = require("ajv/dist/2020").default;
  const schema = JSON.parse(readFileSync(new URL("node_modules/@agentclientprotocol/sdk/schema/v1/schema.unstable.json", import.meta.url)));
  const ajv = new Ajv({ strict: false, allErrors: true });
  require("ajv-formats").default(ajv);
  for (const f of ["uint16", "uint32", "uint64", "int64", "int32"]) ajv.addFormat(f, true);
  ajv.addSchema(schema, "acp");
  const params = {}, results = {};
  for (const [name, def] of Object.entries(schema.$defs)) {
    if (!def["x-method"]) continue;
    const key = `${def["x-method"]} ${def["x-side"]}`;
    if (name.endsWith("Response")) results[key] = name;
    else if (/(Request|Notification)$/.test(name)) params[key] = name;
  }
  const problems = [];
  let lines = 0;
  const validate = (def, value, what) => {
    const check = ajv.compile({ $ref: `acp#/$defs/${def}` });
    if (!check(value)) problems.push(`${what}: ${ajv.errorsText(check.errors)}`);
  };
  const look = (line) => {
    lines++;
    const msg = JSON.parse(line);
    if (msg.method) {
      const def = params[`${msg.method} client`];
      if (def) validate(def, msg.params, msg.method);
      else problems.push(`unknown method ${msg.method}`);
    } else if ("result" in msg) {
      const method = requests.get(JSON.stringify(msg.id));
      const def = results[`${method} agent`];
      if (def) validate(def, msg.result, `result of ${method}`);
    } else {
      validate("Error", msg.error, "error");
    }
  };
  let rest = "";
  const stream = new Transform({
    transform(chunk, _encoding, done) {
      rest += chunk;
      let end;
      while ((end = rest.indexOf("\n")) >= 0) {
        look(rest.slice(0, end));
        rest = rest.slice(end + 1);
      }
      done(null, chunk);
    },
  });
  return { stream, problems, lines: () => lines };
}

// remember notes the method of each request that the client sends.
function remember(requests, to) {
  let rest = "";
  const stream = new Transform({
    transform(chunk, _encoding, done) {
      rest += chunk;
      let end;
      while ((end = rest.indexOf("\n")) >= 0) {
        const msg = JSON.parse(rest.slice(0, end));
        if (msg.method && msg.id !== undefined) requests.set(JSON.stringify(msg.id), msg.method);
        rest = rest.slice(end + 1);
      }
      done(null, chunk);
    },
  });
  stream.pipe(to);
  return stream;
}

test("the TypeScript SDK's client", { timeout: 60_000 }, async (t) => {
  const b = bench(t);
  const child = b.spawnAgent();
  t.after(() => child.kill());
  const requests = new Map();
  const schema = schemaCheck(requests);
  child.stdout.pipe(schema.stream);
  const stream = acp.ndJsonStream(Writable.toWeb(remember(requests, child.stdin)), Readable.toWeb(schema.stream));

  const updates = [];
  const asked = [];
  const client = acp
    .client({ name: "npm-lane" })
    .onNotification(acp.methods.client.session.update, ({ params }) => { updates.push(params.update); })
    .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === "allow_once").optionId } };
    });
  await client.connectWith(stream, async (ctx) => {
    const M = acp.methods.agent;
    const init = await ctx.request(M.initialize, { protocolVersion: 1, clientCapabilities: {} });
    assert.equal(init.protocolVersion, 1);
    const { sessionId } = await ctx.request(M.session.new, { cwd: b.cwd, mcpServers: [] });
    const text = (s) => [{ type: "text", text: s }];

    const edit = await ctx.request(M.session.prompt, { sessionId, prompt: text('Replace "alpha" with "omega" in note.txt') });
    assert.equal(edit.stopReason, "end_turn");
    assert.equal(b.note(), "omega beta\n");
    assert.equal(asked.length, 1);
    const diff = asked[0].toolCall.content[0];
    assert.deepEqual([diff.type, diff.oldText, diff.newText], ["diff", "alpha beta\n", "omega beta\n"]);
    assert.ok(updates.some((u) => u.sessionUpdate === "tool_call_update" && u.status === "completed"));

    const slow = ctx.request(M.session.prompt, { sessionId, prompt: text("Run `sleep 50`") });
    const commands = () => updates.filter((u) => u.sessionUpdate === "tool_call" && u.kind === "execute");
    while (commands().length < 1) await new Promise((r) => setTimeout(r, 20));
    await ctx.notify(M.session.cancel, { sessionId });
    assert.equal((await slow).stopReason, "cancelled");

    updates.length = 0;
    await ctx.request(M.session.load, { sessionId, cwd: b.cwd, mcpServers: [] });
    assert.ok(updates.some((u) => u.sessionUpdate === "user_message_chunk"), "load replays the prompts");

    const fork = await ctx.request(M.session.fork, { sessionId, cwd: b.cwd, mcpServers: [] });
    assert.notEqual(fork.sessionId, sessionId);
    const list = await ctx.request(M.session.list, { cwd: b.cwd });
    assert.ok(list.sessions.some((s) => s.sessionId === sessionId));
    await ctx.request(M.session.resume, { sessionId, cwd: b.cwd });
    await assert.rejects(ctx.request(M.session.prompt, { sessionId: "nope", prompt: text("x") }));
    await ctx.request(M.session.close, { sessionId });
    await ctx.request(M.session.delete, { sessionId });
    const after = await ctx.request(M.session.list, {});
    assert.ok(!after.sessions.some((s) => s.sessionId === sessionId));
  });
  assert.deepEqual(schema.problems, []);
  assert.ok(schema.lines() > 20);
});
