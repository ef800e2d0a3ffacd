// Drives the pages of `klamm explain` in Chromium. KLAMM is the command; with KLAMM_FULL every page is
// looked at, else one of each kind.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Harness } from "./harness.js";
import { served } from "./served.js";
import { looked, worked } from "./written.js";

const klamm = process.env.KLAMM ?? "klamm";
const isFull = Boolean(process.env.KLAMM_FULL) && process.env.KLAMM_FULL !== "0";
const folder = mkdtempSync(join(tmpdir(), "klamm-site-"));
const site = join(folder, "site");

const start = process.hrtime.bigint();
execFileSync(klamm, ["explain", "--site", site]);
const took = Number((process.hrtime.bigint() - start) / 1_000_000n);
console.log(`  all pages written in ${took} ms`);

const harness = await Harness.launch();
const root = `${pathToFileURL(site)}/`;
const server = spawn(klamm, ["explain", "--serve"], { stdio: ["ignore", "pipe", "inherit"] });
const ended = once(server, "exit");
const [url] = await once(createInterface(server.stdout), "line");
// Browsers are idle half of the time: what only looks runs beside what does something.
const beside = async () => {
  await worked(harness.lane(root), site, isFull);
  await served(harness.lane(url), folder);
};
await Promise.all([looked(harness.lane(root), site, isFull), beside()]);
await harness.check("Ctrl-C ends the server", async () => {
  server.kill("SIGINT");
  assert.deepEqual(await ended, [130, null]);
});
server.kill("SIGKILL");
rmSync(folder, { recursive: true });
await harness.close();
