// acp-factory, whose session.fork sends session/fork without mcpServers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentFactory } from "acp-factory";
import { agent, bench } from "./bench.mjs";

test("acp-factory: prompt, edit and fork", { timeout: 60_000 }, async (t) => {
  const b = bench(t);
  AgentFactory.register("hermes-acp", { command: agent, args: [], env: b.env });
  const handle = await AgentFactory.spawn("hermes-acp", { permissionMode: "auto-approve", env: b.env });
  t.after(() => handle.close());
  const session = await handle.createSession(b.cwd);
  const kinds = [];
  for await (const update of session.prompt('Replace "alpha" with "omega" in note.txt')) kinds.push(update.sessionUpdate);
  assert.ok(kinds.includes("tool_call"), kinds.join());
  assert.equal(b.note(), "omega beta\n");

  const fork = await session.fork();
  assert.notEqual(fork.id, session.id);
  let text = "";
  for await (const update of fork.prompt("Read note.txt")) {
    if (update.sessionUpdate === "agent_message_chunk") text += update.content.text;
  }
  assert.match(text, /omega beta/);
});
