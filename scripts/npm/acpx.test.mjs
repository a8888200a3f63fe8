// acpx: one process a command, so every further prompt resumes after a restart.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bench } from "./bench.mjs";

test("acpx exec: an allowed edit changes the file", { timeout: 120_000 }, async (t) => {
  const b = bench(t);
  const run = await b.acpx("--approve-all", "exec", 'Replace "alpha" with "omega" in note.txt');
  assert.equal(run.code, 0, run.stderr);
  assert.match(run.stdout, /patch: note\.txt \(completed\)/);
  assert.match(run.stdout, /\[done\] end_turn/);
  assert.equal(b.note(), "omega beta\n");
});

test("acpx exec --deny-all: the file stays, the turn ends well", { timeout: 120_000 }, async (t) => {
  const b = bench(t);
  const run = await b.acpx("--deny-all", "exec", 'Replace "alpha" with "omega" in note.txt');
  assert.equal(run.code, 5, run.stderr); // acpx's own code for "permission denied"
  assert.match(run.stdout, /patch: note\.txt \(failed\)/);
  assert.equal(b.note(), "alpha beta\n");
});

test("acpx sessions: resume after a restart, mode, model, list, close", { timeout: 120_000 }, async (t) => {
  const b = bench(t);
  const created = await b.acpx("sessions", "new");
  assert.equal(created.code, 0, created.stderr);
  const id = created.stdout.trim().split("\n").pop();

  const first = await b.acpx("--ttl", "1", "--approve-all", "prompt", "Read note.txt");
  assert.match(first.stdout, /alpha beta/, first.stderr);
  await sleep(2500); // acpx ends the agent after its ttl
  const second = await b.acpx("--ttl", "1", "--approve-all", "prompt", 'Replace "alpha" with "omega" in note.txt');
  assert.match(second.stdout, /session\/resume/);
  assert.equal(b.note(), "omega beta\n");

  assert.match((await b.acpx("set-mode", "accept_edits")).stdout, /accept_edits/);
  assert.match((await b.acpx("set", "model", "offline")).stdout, /offline/);
  const list = await b.acpx("sessions", "list");
  assert.match(list.stdout, new RegExp(id));
  assert.match(list.stdout, /Read note\.txt/);
  assert.equal((await b.acpx("sessions", "close")).code, 0);
});

test("acpx cancel: the running command ends, the stop reason is cancelled", { timeout: 120_000 }, async (t) => {
  const b = bench(t);
  await b.acpx("sessions", "new");
  const started = Date.now();
  let running;
  const commandRuns = new Promise((resolve) => { running = resolve; });
  const prompt = b.acpxWatched((output) => { if (/terminal: sleep 50/.test(output)) running(); }, "--approve-all", "prompt", "Run `sleep 50`");
  await commandRuns;
  assert.match((await b.acpx("cancel")).stdout, /cancel requested/);
  const run = await prompt;
  assert.match(run.stdout, /\[done\] cancelled/, run.stderr);
  assert.ok(Date.now() - started < 40_000);
  await b.acpx("sessions", "close");
});
