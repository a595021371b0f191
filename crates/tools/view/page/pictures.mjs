// Makes the pictures of README and book: a robot runs that consists of programs of examples/ and a
// recorder that asks for more than the camera offers, and the real server shows it. `./pictures`
// calls this script.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openPage, Programs } from "./tests/programs.mjs";

const FOLDERS = ["figures/", "book/pages/"].map((folder) =>
  fileURLToPath(new URL(`../../../../docs/${folder}`, import.meta.url)),
);
const SIZES = {
  "view-graph.png": { width: 1200, height: 720 },
  "view-messages.png": { width: 1200, height: 910 },
};
const MOST_BYTES = 300_000;
/** The whole room in 3D: the position of the eye, and the point that it looks at. */
const ROOM = [5, -5, 9, 5, 4, 0];
/** Rates and latencies need some seconds. */
const SETTLING_MS = 6000;
/** The QoS overrides of a user who wants to lose no image. */
const OVERRIDES = "/image:\n  reliability: reliable\n  history: keep_last\n  depth: 10\n";

const [bin] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "feros-pictures-"));
const programs = new Programs(join(bin, "feros"));
const ends = [];

function robot(example, words, environment = {}) {
  const traced = { FEROS_TRACE: join(folder, "traces"), FEROS_TRACE_PERIOD: "1s", ...environment };
  programs.run(join(bin, example), words, traced).stdout.resume();
}

async function shoot(name, address, layout, isReady) {
  const t = { after: (end) => ends.push(end) };
  const session = await openPage(t, address, layout, { size: SIZES[name] });
  await isReady(session);
  await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
  assert.deepEqual(session.errors, []);
  const bytes = Buffer.from(await session.page.screenshot());
  assert.ok(bytes.length < MOST_BYTES, `${name} has ${bytes.length} bytes`);
  for (const each of FOLDERS) await writeFile(each + name, bytes);
  console.log(`${name}: ${bytes.length} bytes`);
  await ends.pop()();
}

async function graph(address) {
  const layout = { graph: { c: "topic /image" } };
  await shoot("view-graph.png", address, layout, async (session) => {
    for (const words of ["intra-process", "shared memory", "network", "✕ mismatch", " lost"]) {
      await session.untilText(".edge text", words);
    }
    await session.untilText(".details .mismatch", "Cure:");
  });
}

async function messages(address) {
  const panels = [
    { k: "plot", s: ["/target.pose.pose.position.x", "/target.pose.pose.position.y"], w: 10 },
    { k: "image", t: "/image" },
    { k: "scene", t: ["/map", "/scan"], v: ROOM },
  ];
  const layout = { tab: "messages", messages: { p: panels } };
  await shoot("view-messages.png", address, layout, async (session) => {
    await session.untilText(".image p", "mono8");
    await session.untilText(".scene li", "cells of");
  });
}

try {
  const overrides = join(folder, "overrides.yaml");
  await writeFile(overrides, OVERRIDES);
  robot("pipeline", ["camera", "detector"]);
  robot("pipeline", ["tracker"]);
  robot("pipeline", ["planner"]);
  robot("pipeline", ["controller"], { FEROS_TRANSPORTS: "network" });
  const recording = ["bag", "record", "--qos-profile-overrides-path", overrides];
  programs.start(...recording, "-o", join(folder, "bag"), "/image").stdout.resume();
  const address = await programs.view("--traces", join(folder, "traces"));
  await graph(address);
  robot("navigation_graph", []);
  await messages(address);
} finally {
  for (const end of ends.splice(0)) await end();
  await programs.end();
  await rm(folder, { recursive: true });
}
