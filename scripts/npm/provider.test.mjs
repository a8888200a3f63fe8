// acp-ai-provider: the agent as a language model of the AI SDK.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createACPProvider } from "@mcpc-tech/acp-ai-provider";
import { streamText } from "ai";
import { agent, bench } from "./bench.mjs";

test("acp-ai-provider streams an answer and an edit", { timeout: 60_000 }, async (t) => {
  const b = bench(t);
  const provider = createACPProvider({ command: agent, args: [], env: b.env, session: { cwd: b.cwd, mcpServers: [] } });
  t.after(() => provider.cleanup?.());
  const { textStream } = streamText({ model: provider.languageModel(), prompt: 'Replace "alpha" with "omega" in note.txt', tools: provider.tools });
  let text = "";
  for await (const piece of textStream) text += piece;
  assert.match(text, /note\.txt/);
  assert.equal(b.note(), "omega beta\n");
});
