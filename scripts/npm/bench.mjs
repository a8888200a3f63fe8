// What every client test starts from: a folder of its own with a home whose
// provider is the built-in offline model, and a workspace with one file.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const agent = process.env.HERMES_ACP;
if (!agent) throw new Error("HERMES_ACP must name the binary under test; scripts/test npm does");

export function bench(t) {
  const root = mkdtempSync(join(tmpdir(), "hermes-acp-npm-"));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  const home = join(root, "home");
  const cwd = join(root, "project");
  mkdirSync(join(home, ".hermes"), { recursive: true });
  mkdirSync(cwd);
  writeFileSync(join(home, ".hermes", "config.yaml"), "model:\n  provider: offline\n");
  writeFileSync(join(cwd, "note.txt"), "alpha beta\n");
  const env = { ...process.env, HOME: home };
  delete env.HERMES_HOME;
  return {
    cwd,
    env,
    note: () => readFileSync(join(cwd, "note.txt"), "utf8"),
    spawnAgent: () => spawn(agent, [], { cwd, env, stdio: ["pipe", "pipe", "ignore"] }),
    // acpx runs the acpx client and resolves with its exit code and output;
    // onOutput sees the output so far each time more has come.
    acpx: (...args) => acpx(cwd, env, args, () => {}),
    acpxWatched: (onOutput, ...args) => acpx(cwd, env, args, onOutput),
  };
}

function acpx(cwd, env, args, onOutput) {
  const cli = fileURLToPath(new URL("node_modules/acpx/dist/cli.js", import.meta.url));
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [cli, "--agent", agent, ...args], { cwd, env, timeout: 60_000 }, (err, stdout, stderr) =>
      resolve({ code: err ? err.code : 0, stdout, stderr }));
    let seen = "";
    child.stdout.on("data", (chunk) => onOutput((seen += chunk)));
  });
}
